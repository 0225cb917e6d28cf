import { isDeepStrictEqual } from 'node:util'
import { cancelApprovals, refused, type Surroundings } from './approving.ts'
import * as decide from './decide.ts'
import type { Draft, Drafts } from './draft.ts'
import type { AgentModel, AgentOutput, EventBody } from './event.ts'
import type { AgentCatalog, AgentSink, Log } from './ports.ts'
import type { Session } from './session.ts'
import { NO_USAGE } from './usage.ts'

interface SinkDeps {
  log: Log
  drafts: Drafts
  catalog: AgentCatalog
  around: (session: Session) => Surroundings
}

/** Where agents' words become events: committed together with how far their journal has been read. */
export function createSink({ log, drafts, catalog, around }: SinkDeps): AgentSink {
  /** The same again is not worth a write: it is told with every process. */
  function keepModels(draft: Draft, models: AgentModel[]): void {
    const { agent } = draft.state
    if (isDeepStrictEqual(models, log.models(agent))) return
    draft.write({ op: 'models', agent, models })
  }

  async function closeTurn(sessionId: string, turnId: string, end: EventBody): Promise<void> {
    const draft = drafts.of(sessionId)
    if (draft.state.turn?.id === turnId) {
      close(draft, () => [...cancelApprovals(draft.state, 'the turn is over', turnId), end])
    }
    await draft.commit()
  }

  return {
    async started(sessionId, run, resumed) {
      const draft = drafts.of(sessionId)
      const { id, pid, startTime, bootId } = run
      draft.add({ type: 'agent.started', run: { id, pid, startTime, bootId }, resumed })
      draft.write({ op: 'run', run })
      await draft.commit()
    },
    async output(sessionId, position, outputs) {
      const draft = drafts.of(sessionId)
      // The same for all of them: nothing that an agent says changes what is around its session.
      const here = around(draft.state)
      for (const output of draft.state.destroyed ? [] : outputs) {
        const absorbed = (): EventBody[] => decide.absorb(draft.state, output, here)
        if (output.type === 'turn.ended') {
          if (!decide.isLate(draft.state, output)) close(draft, absorbed)
        } else if (output.type === 'steer.taken') take(draft, absorbed())
        else if (output.type === 'models.told') keepModels(draft, output.models)
        else if (!draft.tryAdd(...absorbed())) draft.add(...unspeakable(draft.state, output))
      }
      draft.write({ op: 'run.position', position })
      await draft.commit()
    },
    async exited(sessionId, runId, exit) {
      const draft = drafts.of(sessionId)
      close(draft, () => decide.exited(draft.state, runId, exit, catalog.title(draft.state.agent)))
      await draft.commit()
    },
    failedToStart: (sessionId, turnId, error) =>
      closeTurn(sessionId, turnId, { type: 'turn.failed', turnId, usage: NO_USAGE, error }),
    abandoned: (sessionId, turnId) =>
      closeTurn(sessionId, turnId, { type: 'turn.interrupted', turnId, usage: NO_USAGE }),
  }
}

/** The end of a turn, whatever it was; then the next one starts. */
function close(draft: Draft, end: () => EventBody[]): void {
  if (draft.state.turn) draft.abortOpenMessages()
  draft.add(...end())
  draft.add(...decide.promote(draft.state))
  draft.add(...decide.advance(draft.state))
}

/** What the agent was saying it does not finish: it goes on with the steer in mind. */
function take(draft: Draft, bodies: EventBody[]): void {
  if (bodies.length > 0) draft.abortOpenMessages(true)
  draft.add(...bodies)
}

/** In place of something that cannot be written down; a question like that is refused, so that the agent does not wait for ever. */
function unspeakable(state: Session, output: AgentOutput): EventBody[] {
  const message = 'The agent said something that is nested too deeply to be written down'
  const notice: EventBody = {
    type: 'agent.notice',
    level: 'warning',
    code: 'agent_output',
    message,
    data: { type: output.type },
  }
  if (output.type !== 'approval.asked') return [notice]
  return [notice, ...refused(state, { ...output.approval, input: null, suggestions: null }, message)]
}
