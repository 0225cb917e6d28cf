import { asArray, asObject, asString, type JsonObject } from '../json.ts'
import type { Reply } from './rpc.ts'
import { remember } from '../step.ts'
import { type Child, type CodexState, MAX_REMEMBERED } from './state.ts'

/*
 * Sub-agents. They go on when the turn that started them is over, ask for themselves, and run commands of their own.
 */

export const threadsOf = (children: readonly Child[]): string[] => children.map(({ thread }) => thread)

export function childOf(state: CodexState, thread: string | null): Child | undefined {
  return state.children.find((one) => one.thread === thread)
}

/** `parent`: the call that it belongs to; without one, the call to a sub-agent that is under way. */
export function withChild(state: CodexState, thread: string | null, parent?: string | null): CodexState {
  if (thread === null || thread === state.thread || childOf(state, thread)) return state
  const call = parent ?? state.open.findLast(({ type }) => type === 'collabAgentToolCall')?.id
  return { ...state, children: remember(state.children, { thread, parent: call ?? thread }, MAX_REMEMBERED) }
}

/** Calls to sub-agents name them: the one that starts a sub-agent when it is done, others from the beginning. */
export function withNamed(state: CodexState, item: JsonObject): CodexState {
  if (item.type === 'subAgentActivity') return withChild(state, asString(item.agentThreadId))
  if (item.type !== 'collabAgentToolCall') return state
  return asArray(item.receiverThreadIds).reduce<CodexState>(
    (known, thread) => withChild(known, asString(thread), asString(item.id)),
    state,
  )
}

/** Sub-agents of earlier turns, asked for by whoever did not hear of them. */
export function withListed(state: CodexState, { result }: Reply): CodexState {
  const known = asArray(result?.data).reduce<CodexState>((so, thread) => {
    const id = asString(asObject(thread).id)
    return withChild(so, id, id)
  }, state)
  return { ...known, complete: true, unclaimed: [] }
}

const MAX_UNCLAIMED = 64

/** A line of a conversation that is not known. While sub-agents may be missing, what they ask and begin is kept. */
export function unclaimed(state: CodexState, line: JsonObject): CodexState {
  if (state.complete) return state
  const matters = line.id !== undefined || line.method === 'item/started'
  if (matters) return { ...state, unclaimed: [...state.unclaimed, line].slice(-MAX_UNCLAIMED) }
  const left = state.unclaimed.filter((one) => !isSettledBy(one, line))
  return left.length === state.unclaimed.length ? state : { ...state, unclaimed: left }
}

function isSettledBy(one: JsonObject, { method, params }: JsonObject): boolean {
  const { requestId, item } = asObject(params)
  if (method === 'serverRequest/resolved') return one.id === requestId
  return method === 'item/completed' && asObject(item).id === asObject(asObject(one.params).item).id
}
