import { wasAsked, type Decision } from '../approval.ts'
import type { Event, EventOf } from '../event.ts'
import type { Call, CallState, Change, ApprovalItem } from './item.ts'
import type { Conversation } from './conversation.ts'

type Under = Pick<Conversation, 'calls' | 'questions' | 'denied'>

/** The agent begins a call. It may have been asked about, or refused by a rule, before. */
export function begins({ calls, denied }: Under, event: Event & EventOf<'tool.started'>): Change[] {
  const { callId: id, tool, input, parent } = event
  const known = calls.get(id)
  const asked = known && !known.begun ? known : null
  const before = asked ?? newCall(id, tool, input, event)
  const state = !asked && denied.delete(id) ? 'refused' : before.state
  const call: Call = { ...before, tool, input, state, parent, begun: true }
  calls.set(id, call)
  return [{ type: 'call', call, was: asked?.state ?? null }]
}

/** The result of a call; one that was refused stays refused, whatever the agent says about it. */
export function finishes({ calls }: Under, event: Event & EventOf<'tool.completed'>): Change[] {
  const { callId, output, isError, cut, parent, usage } = event
  const known = calls.get(callId)
  const before = known ?? { ...newCall(callId, '', null, event), parent, begun: true }
  const state = before.state === 'refused' ? 'refused' : isError ? 'failed' : 'done'
  const call = { ...before, output, cut, state, ...(usage && { usage }) } as const
  // The output is told once: kept until the end of its turn, it would only take room.
  calls.set(callId, { ...before, state })
  return [{ type: 'call', call, was: known?.state ?? null }]
}

/** A question is shown at the call that it is about; where the agent names none, it is a call of its own. */
export function asks({ calls, questions }: Under, event: Event & EventOf<'approval.requested'>): Change[] {
  const { approval, turnId, external, timeoutAt, open } = event
  const callId = approval.callId ?? approval.id
  const question: ApprovalItem = { approval, turnId, external, timeoutAt, asked: open, callId }
  questions.set(approval.id, question)
  const known = calls.get(callId) ?? null
  // Nobody hears of a question that a mode or a rule answers.
  if (!open) return [{ type: 'asked', question, call: known }]
  const before = known ?? {
    ...newCall(callId, approval.tool, approval.input, event),
    parent: approval.parent,
    external: external && approval.callId === null,
  }
  const call: Call = { ...before, state: 'asked' }
  calls.set(callId, call)
  return [
    { type: 'call', call, was: known?.state ?? null },
    { type: 'asked', question, call },
  ]
}

/** An answer, by whomever. */
export function decides(under: Under, event: Event & EventOf<'approval.resolved'>): Change[] {
  const { calls, questions, denied } = under
  const { approvalId, decision, by } = event
  const question = questions.get(approvalId) ?? null
  questions.delete(approvalId)
  const verdict = { approvalId, decision, by, asked: question?.asked ?? wasAsked(event) }
  const known = question ? (calls.get(question.callId) ?? null) : null
  if (!known) {
    if (question && decision.behavior === 'deny') denied.add(question.callId)
    return [{ type: 'decided', verdict, question, call: null }]
  }
  const isAlone = question!.approval.callId === null
  const state = stateAfter(known.state, decision.behavior, isAlone)
  const call: Call = state === known.state ? known : { ...known, state }
  if (isAlone) calls.delete(call.id)
  else calls.set(call.id, call)
  const moved: Change[] = call === known ? [] : [{ type: 'call', call, was: known.state }]
  return [...moved, { type: 'decided', verdict, question, call }]
}

/** What was denied or taken back is refused; a question that stands for itself is over with its answer; all else runs. */
function stateAfter(state: CallState, behavior: Decision['behavior'], isAlone: boolean): CallState {
  if (state !== 'asked' && state !== 'running') return state
  if (behavior === 'deny' || behavior === 'cancelled') return 'refused'
  return isAlone ? 'done' : 'running'
}

/** The turn is over, and with it all that it left open; questions from outside still wait. */
export function leaves({ calls, questions, denied }: Under, state: 'done' | 'failed'): Change[] {
  const changes: Change[] = []
  for (const [id, call] of calls) {
    if (call.external && call.state === 'asked') continue
    calls.delete(id)
    if (call.state === 'running' || call.state === 'asked') {
      changes.push({ type: 'call', call: { ...call, state }, was: call.state })
    }
  }
  denied.clear()
  for (const [id, { callId }] of questions) if (!calls.has(callId)) questions.delete(id)
  return changes
}

function newCall(id: string, tool: string, input: unknown, { at: startedAt, seq }: Event): Call {
  return {
    id,
    tool,
    input,
    state: 'running',
    output: null,
    cut: 0,
    parent: null,
    startedAt,
    seq,
    begun: false,
    external: false,
  }
}
