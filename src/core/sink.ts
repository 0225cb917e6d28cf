import * as decide from './decide.ts'
import type { Draft, Drafts } from './draft.ts'
import type { AgentOutput, LoggedEvent } from './event.ts'
import type { AgentCatalog, AgentSink } from './ports.ts'
import { NO_USAGE } from './usage.ts'

interface SinkDeps {
  drafts: Drafts
  catalog: AgentCatalog
  commit: (draft: Draft) => Promise<LoggedEvent[]>
}

/** Where agents' words become events: committed together with how far their journal has been read. */
export function createSink({ drafts, commit, catalog }: SinkDeps): AgentSink {
  function take(draft: Draft, output: AgentOutput): void {
    if (output.type === 'turn.ended' && draft.state.turn) draft.abortOpenMessages()
    draft.add(...decide.absorb(draft.state, output))
    if (output.type === 'turn.ended') draft.add(...decide.advance(draft.state))
  }

  return {
    async started(sessionId, run, resumed) {
      const draft = drafts.of(sessionId)
      const { id, pid, startTime, bootId } = run
      draft.add({ type: 'agent.started', run: { id, pid, startTime, bootId }, resumed })
      draft.write({ op: 'run', run })
      await commit(draft)
    },
    async output(sessionId, position, outputs) {
      const draft = drafts.of(sessionId)
      if (!draft.state.destroyed) for (const output of outputs) take(draft, output)
      draft.write({ op: 'run.position', position })
      await commit(draft)
    },
    async exited(sessionId, runId, exit) {
      const draft = drafts.of(sessionId)
      if (draft.state.turn) draft.abortOpenMessages()
      draft.add(...decide.exited(draft.state, runId, exit, catalog.title(draft.state.agent)))
      draft.add(...decide.advance(draft.state))
      await commit(draft)
    },
    async failedToStart(sessionId, turnId, error) {
      const draft = drafts.of(sessionId)
      if (draft.state.turn?.id !== turnId) return
      const message = error instanceof Error ? error.message : String(error)
      draft.add({ type: 'turn.failed', turnId, usage: NO_USAGE, error: { code: 'agent_start', message } })
      draft.add(...decide.advance(draft.state))
      await commit(draft)
    },
    async abandoned(sessionId, turnId) {
      const draft = drafts.of(sessionId)
      if (draft.state.turn?.id !== turnId) return
      draft.add({ type: 'turn.interrupted', turnId, usage: NO_USAGE })
      draft.add(...decide.advance(draft.state))
      await commit(draft)
    },
  }
}
