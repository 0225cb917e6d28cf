import { addUsage, NO_USAGE, type Usage } from '../../core/usage.ts'
import { asCount, asObject, asString, isObject, type JsonObject } from '../json.ts'
import { remember } from '../step.ts'

/*
 * What sub-agents use. Claude tells it with each message in which one calls tools (of the output only its beginning, then), and of its
 * last message with the result of the call that ran it.
 */

export interface SubUsage {
  callId: string
  /** All messages but the newest. */
  before: Usage
  message: string
  now: Usage
}

const MAX_SUB_AGENTS = 64

/** `line`: a message of a sub-agent's. */
export function withSubUsage(known: readonly SubUsage[], line: JsonObject): SubUsage[] {
  const { parent_tool_use_id: callId, message } = line
  const { id, usage } = asObject(message)
  if (typeof callId !== 'string' || !isObject(usage)) return [...known]
  const one = known.find((it) => it.callId === callId)
  const others = known.filter((it) => it !== one)
  const name = asString(id) ?? asString(line.uuid) ?? ''
  const now = usageIn(usage)
  const next =
    one === undefined
      ? { callId, before: NO_USAGE, message: name, now }
      : one.message === name
        ? { ...one, now: most(one.now, now) }
        : { ...one, before: addUsage(one.before, one.now), message: name, now }
  return remember(others, next, MAX_SUB_AGENTS)
}

/** All that the sub-agent of a call has used, once it is done; undefined: Claude has not told. */
export function usedBy(known: readonly SubUsage[], callId: string, result: JsonObject): Usage | undefined {
  const one = known.find((it) => it.callId === callId)
  const last = isObject(result.usage) && typeof result.agentId === 'string' ? usageIn(result.usage) : null
  if (!one) return last ? timed(last, result) : undefined
  const { before, now } = one
  if (!last) return timed(addUsage(before, now), result)
  // An older version tells the last message, too.
  const isSame = now.inputTokens === last.inputTokens && now.cacheReadTokens === last.cacheReadTokens
  return timed(addUsage(before, isSame ? most(now, last) : addUsage(now, last)), result)
}

function timed(usage: Usage, { totalDurationMs }: JsonObject): Usage {
  return { ...usage, durationMs: asCount(totalDurationMs) }
}

function usageIn(usage: JsonObject): Usage {
  return {
    ...NO_USAGE,
    inputTokens: asCount(usage.input_tokens),
    outputTokens: asCount(usage.output_tokens),
    cacheReadTokens: asCount(usage.cache_read_input_tokens),
    cacheWriteTokens: asCount(usage.cache_creation_input_tokens),
    modelCalls: 1,
  }
}

/** The first line of a message may not know yet how long it gets. */
function most(a: Usage, b: Usage): Usage {
  return {
    ...b,
    inputTokens: Math.max(a.inputTokens, b.inputTokens),
    outputTokens: Math.max(a.outputTokens, b.outputTokens),
    cacheReadTokens: Math.max(a.cacheReadTokens, b.cacheReadTokens),
    cacheWriteTokens: Math.max(a.cacheWriteTokens, b.cacheWriteTokens),
  }
}
