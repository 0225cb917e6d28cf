import { createAlarms } from './alarm.ts'
import type { Engine } from './api.ts'
import type { Approval } from './approval.ts'
import * as approving from './approving.ts'
import type { Surroundings } from './approving.ts'
import { cannot, unsupported } from './capability.ts'
import type { AskHuman, DecideApproval } from './command.ts'
import type { Directories } from './directories.ts'
import type { Drafts } from './draft.ts'
import { CorralError } from './error.ts'
import type { EventBody, LoggedEvent } from './event.ts'
import type { AgentCatalog, ApprovalRow, Capabilities, Clock, Directory, Log } from './ports.ts'
import { existing } from './queries.ts'
import type { Rules } from './rule.ts'
import { dueAt, openApprovals, type Session } from './session.ts'

/** What something outside may put before a human. */
const MAX_INPUT = 1024 * 1024

/** When the log could not be written. */
const RETRY_MS = 1000

interface ApprovalsDeps {
  log: Log
  catalog: AgentCatalog
  drafts: Drafts
  clock: Clock
  newId: () => string
  directories: Directories
  /** How long approvals wait where nobody says; null: for ever. */
  approvalTimeoutMs: number | null
  /** Decides on the newest state and commits what comes of it. */
  change: (sessionId: string, rule: (state: Session) => EventBody[]) => Promise<LoggedEvent[]>
  warn: (message: string, error: unknown) => void
}

/** The part of the engine that asks people and minds their answers. */
export interface Approvals extends Pick<
  Engine,
  'ask' | 'decide' | 'withdraw' | 'directories' | 'configureDirectory'
> {
  /** What a session's rules are looked at together with. */
  around(session: Pick<Session, 'cwd'>): Surroundings
  /** Sees what has been committed: something may fall due because of it. */
  mind(events: LoggedEvent[]): void
  start(): Promise<void>
  stop(): void
}

export function createApprovals(deps: ApprovalsDeps): Approvals {
  const { log, catalog, drafts, clock, directories, change, warn } = deps
  const asking = new Map<string, Promise<ApprovalRow>>()
  /** Until the newest rules of directories have answered what they can. */
  let settling = Promise.resolve()
  const alarms = createAlarms(clock.now, (sessionId) => {
    expire(sessionId).catch((error) => warn(`what falls due in session ${sessionId}`, error))
  })

  function around({ cwd }: Pick<Session, 'cwd'>): Surroundings {
    return {
      now: clock.now(),
      approvalTimeoutMs: deps.approvalTimeoutMs,
      // Looked for when somebody wants to know: most of what an agent says asks for nothing.
      get directoryRules() {
        return directories.rulesIn(cwd)
      },
      get directory() {
        return directories.at(cwd)
      },
    }
  }

  function watch(sessionId: string): void {
    const session = drafts.peek(sessionId)
    const due = session && dueAt(session)
    if (due !== null) alarms.set(sessionId, due)
  }

  async function expire(sessionId: string): Promise<void> {
    const session = drafts.peek(sessionId)
    if (!session || session.destroyed) return
    try {
      await change(sessionId, (state) => approving.expire(state, clock.now()))
      watch(sessionId)
    } catch (error) {
      alarms.set(sessionId, clock.now() + RETRY_MS)
      throw error
    }
  }

  /** Rules of directories have changed, maybe just before the daemon went down: what they answer of what is open. */
  async function settleAll(): Promise<void> {
    const open = new Set(log.approvals({ open: true, limit: 10_000 }).map(({ sessionId }) => sessionId))
    for (const sessionId of open) {
      const session = drafts.peek(sessionId)
      if (!session || session.destroyed) continue
      if (openApprovals(session).length === 0) continue
      await change(sessionId, (state) => approving.settle(state, around(state))).catch((error) =>
        warn(`what the rules answer in session ${sessionId}`, error),
      )
    }
  }

  async function configureDirectory(path: string, rules: Partial<Rules>): Promise<Directory> {
    const now = directories.at(path)
    const directory = { path: now.path, rules: { ...now.rules, ...rules } }
    await drafts.apart({ type: 'directory.changed', ...directory })
    await settling
    return directory
  }

  async function ask(id: string, { sessionId, timeoutMs, ...question }: AskHuman): Promise<ApprovalRow> {
    const known = log.approval(id)
    if (known?.sessionId === sessionId) return known
    const owner = approving.ownerOf(id)
    if (known || (owner !== null && drafts.peek(owner))) {
      throw new CorralError('invalid', `There is an approval ${id} already, or will be`, { field: 'id' })
    }
    if (JSON.stringify(question.input ?? null).length > MAX_INPUT) {
      throw new CorralError('invalid', `input: more than ${MAX_INPUT} characters`, { field: 'input' })
    }
    const how = { external: true, ...(timeoutMs !== undefined && { timeoutMs }) }
    await change(sessionId, (state) => approving.ask(state, approvalOf(id, question), around(state), how))
    return found(id)
  }

  /** Somebody was first, and what they said may still be on its way to the log. */
  async function tooLate(approvalId: string, error: unknown): Promise<never> {
    await log.append({ events: [], writes: [] })
    const { decision } = found(approvalId)
    throw decision ? approving.alreadyResolved(approvalId, decision) : error
  }

  /** Of an agent that has gone from the configuration nothing is known; what it asked can still be answered. */
  function isAble(agent: string, capability: keyof Capabilities): boolean {
    return !catalog.names().includes(agent) || catalog.capabilities(agent)[capability]
  }

  /** What comes from outside is answered to whoever asked, not to the agent. */
  function mustBeAble({ external, sessionId }: ApprovalRow, decision: DecideApproval['decision']): void {
    if (external || decision.behavior !== 'allow' || decision.input === undefined) return
    const { agent } = existing(drafts, sessionId)
    if (!isAble(agent, 'editInput')) throw unsupported(catalog, agent, 'editInput')
  }

  /** A no must never fail for the words that go with it; but whoever said them is told that nobody heard them. */
  function unheard({ agent }: Session, row: ApprovalRow, decision: DecideApproval['decision']): EventBody[] {
    if (row.external || !approving.hasReason(row, decision)) return []
    if (isAble(agent, 'denyComment')) return []
    const message = `${cannot(catalog, agent, 'denyComment')}: it is told no, and the words stay in the log`
    const data = { approvalId: row.id, capability: 'denyComment' }
    return [{ type: 'agent.notice', level: 'info', code: 'comment_unheard', message, data }]
  }

  function found(approvalId: string): ApprovalRow {
    const row = log.approval(approvalId)
    if (!row) throw new CorralError('approval_not_found', `No approval ${approvalId}`, { approvalId })
    return row
  }

  return {
    around,
    ask({ id = deps.newId(), ...command }) {
      const asked = asking.get(id) ?? ask(id, command).finally(() => asking.delete(id))
      asking.set(id, asked)
      return asked
    },
    async decide({ approvalId, decision, by }) {
      const row = found(approvalId)
      if (row.decision) throw approving.alreadyResolved(approvalId, row.decision)
      mustBeAble(row, decision)
      await change(row.sessionId, (state) => [
        ...approving.decideApproval(state, approvalId, decision, by, around(state)),
        ...unheard(state, row, decision),
      ]).catch((error: unknown) => tooLate(approvalId, error))
      await settling
      return found(approvalId)
    },
    async withdraw(approvalId, by) {
      const row = found(approvalId)
      if (!row.external) {
        throw new CorralError('unsupported', 'The agent waits for this answer itself: allow it or deny it')
      }
      if (!row.decision) {
        const reason = 'whoever asked has given up'
        await change(row.sessionId, (state) => approving.withdraw(state, approvalId, reason, by))
        // Somebody else's answer may still be on its way to the log.
        await log.append({ events: [], writes: [] })
      }
      return found(approvalId)
    },
    directories: directories.list,
    configureDirectory,
    mind(events) {
      for (const { type, sessionId } of events) {
        if (type === 'approval.requested' || type === 'session.changed' || type === 'session.created') {
          watch(sessionId)
        }
        if (type === 'directory.changed') settling = settleAll()
      }
    },
    async start() {
      for (const { sessionId, at } of log.due()) alarms.set(sessionId, at)
      await settleAll()
    },
    stop: alarms.stop,
  }
}

function approvalOf(id: string, command: Omit<AskHuman, 'sessionId'>): Approval {
  const { kind, tool, input, edits = false, fixed = false, callId = null, summary = null } = command
  const about = { kind, tool, input, edits, fixed, callId, summary }
  return { id, requestId: id, ...about, suggestions: null, parent: null }
}
