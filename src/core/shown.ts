import type { EventType } from './event.ts'
import { began, finished, spoke, type Glance } from './glance.ts'
import { NO_MARKS } from './marks.ts'
import type { Session, StateChange } from './session.ts'

/** Events that change only what people are shown of a session: no rule looks at any of it. */
export const SHOWN = {
  'session.marked': (state, event) => {
    const { type: _, seq: __, at: ___, sessionId: ____, turnId: _____, ...patch } = event
    return { ...state, marks: { ...(state.marks ?? NO_MARKS), ...patch } }
  },
  'session.drafted': (state, { seq, revision, at: updatedAt }) => ({
    ...state,
    unsent: { seq, revision, updatedAt },
  }),
  'agent.context': (state, { used, window }) => ({ ...state, context: { used, window } }),
  'agent.compacted': (state, { tokensAfter: used, window }) =>
    used === null ? state : { ...state, context: { used, window: window ?? state.context?.window ?? null } },
  'message.completed': (state, event) => glanced(state, spoke(state.glance, event)),
  'tool.started': (state, event) => glanced(state, began(state.glance, event, state.cwd)),
  'tool.completed': (state, { callId }) => glanced(state, finished(state.glance, callId)),
} satisfies { [T in EventType]?: StateChange<T> }

/** Most of what an agent says changes nothing that a list shows. */
function glanced(state: Session, glance: Glance): Session {
  return glance === state.glance ? state : { ...state, glance }
}
