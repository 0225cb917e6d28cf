import type { RunRow } from '../../core/ports.ts'
import type { Session } from '../../core/session.ts'
import type { HostDeps } from './deps.ts'
import type { Adoption } from './adoption.ts'
import type { Conversations } from './conversations.ts'
import { untilCommitted } from './patience.ts'
import type { Roster } from './roster.ts'
import type { Run } from './run.ts'
import type { Sharing } from './sharing.ts'

interface InheritanceDeps extends Pick<HostDeps, 'catalog' | 'sink' | 'newId' | 'warn'> {
  roster: Roster
  adoption: Adoption
  conversations: Conversations
  sharing: Sharing
}

/** Takes up one process of an earlier daemon; true when it lives. */
export async function takeUp(deps: InheritanceDeps, row: RunRow, session: Session): Promise<boolean> {
  const { roster, sink, warn } = deps
  try {
    const run = deps.adoption.adopt(row, deps.catalog.driver(session.agent))
    if (session.nativeId) deps.conversations.learn(session.agent, session.nativeId, session.id)
    if (run.driver.shared) deps.sharing.know(row)
    await run.follow()
    if (run.driver.handshake) await arrive(run, session, deps.newId)
    if (run.alive()) return true
    await run.gone
  } catch (error) {
    warn(`taking up agent ${row.pid}`, error)
    roster.runs.delete(row.sessionId)
    const exit = { code: null, signal: null, stderr: String(error), expected: false }
    await untilCommitted(() => sink.exited(session.id, row.id, exit), {
      stopped: () => roster.released,
      failed: (problem) => warn(`noting the exit of agent ${row.pid}`, problem),
    })
  }
  return false
}

/** What told that it is ready may be gone from its journal, or may never have been asked for; its answer tells it again. */
async function arrive(run: Run, session: Session, newId: () => string): Promise<void> {
  const { shared } = run.driver
  if (shared && session.turn && !session.turn.accepted) await run.write(shared.join(session))
  else void run.barrier(newId(), session)
}
