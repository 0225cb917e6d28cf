import { asArray, asObject, asString, capped, cutText, isObject, type JsonObject } from '../json.ts'
import { imagesIn } from '../images.ts'
import type { DriverOutput } from '../output.ts'
import { ownName } from './client-tools.ts'
import { contextOf, withCall } from './context.ts'
import { planAfter, withPlanCall } from './plan.ts'
import { MAX_RAW, nothing, other, remember, type Step } from '../step.ts'
import { usedBy, withSubUsage } from './sub-usage.ts'
import { type ClaudeState, MAX_REMEMBERED, parentOf, withSubAgent } from './state.ts'

const MAX_OUTPUT = 256 * 1024

/** A finished block of the model's answer; in practice one block a line. */
export function assistant(before: ClaudeState, line: JsonObject): Step<ClaudeState> {
  const { message } = line
  if (!isObject(message)) return other(before, 'assistant', line)
  if (message.model === '<synthetic>' && typeof line.error === 'string') {
    return nothing({ ...before, failure: { kind: line.error, text: textOfBlocks(message.content) } })
  }
  const known = withCall(withSubAgent(before, line.agent_id, line.parent_tool_use_id), line)
  let state = {
    ...known,
    subUsage: withSubUsage(known.subUsage, line),
    ...(parentOf(line) === null && { answer: asString(line.uuid) }),
  }
  const id = asString(message.id) ?? asString(line.uuid) ?? ''
  const outputs: DriverOutput[] = []
  for (const block of blocksOf(message.content)) {
    const index = nextIndex(state, id)
    state = withBlock(state, id, index + 1)
    const output = blockOutput(block, `${id}:${index}`, line)
    if (output) outputs.push(output)
    if (output?.type === 'tool.started' && output.parent === null) {
      const { callId, tool, input } = output
      state = { ...state, planning: withPlanCall(state.planning, callId, tool, input) }
    }
  }
  return { state, outputs: [...outputs, ...(parentOf(line) === null ? contextOf(state) : [])] }
}

/**
 * Streamed blocks carry an index, finished ones do not: a block is finished before the next one starts, so it is the
 * newest of its message. Without a stream (sub-agents have none) blocks are counted.
 */
function nextIndex(state: ClaudeState, message: string): number {
  const counted = state.blocks.find((known) => known.message === message)?.next ?? 0
  return state.message === message ? Math.max(counted, state.block) : counted
}

function withBlock(state: ClaudeState, message: string, next: number): ClaudeState {
  const others = state.blocks.filter((known) => known.message !== message)
  return { ...state, blocks: remember(others, { message, next }, MAX_REMEMBERED) }
}

function blockOutput(block: unknown, messageId: string, line: JsonObject): DriverOutput | null {
  if (!isObject(block)) return null
  const parent = parentOf(line)
  const aborted = line.aborted === true
  switch (block.type) {
    case 'text': {
      const text = asString(block.text) ?? ''
      return { type: 'message.completed', messageId, kind: 'text', text, parent, aborted }
    }
    case 'thinking': {
      const text = asString(block.thinking) ?? ''
      // Claude may keep its thinking to itself and send the signature only.
      if (text === '') return null
      return { type: 'message.completed', messageId, kind: 'thinking', text, parent, aborted }
    }
    case 'redacted_thinking':
      return null
    case 'tool_use': {
      const callId = asString(block.id) ?? messageId
      const tool = ownName(asString(block.name) ?? 'unknown')
      return { type: 'tool.started', callId, tool, input: block.input ?? {}, parent }
    }
    default:
      return {
        type: 'agent.other',
        kind: `assistant/${asString(block.type) ?? 'unknown'}`,
        raw: capped(block, MAX_RAW),
      }
  }
}

/** Tool results come as the user's; what else does (replays, "interrupted by user") says nothing new. */
export function user(before: ClaudeState, line: JsonObject): Step<ClaudeState> {
  let state = withSubAgent(before, line.agent_id, line.parent_tool_use_id)
  const outputs: DriverOutput[] = []
  for (const block of asArray(asObject(line.message).content)) {
    if (!isObject(block) || block.type !== 'tool_result' || typeof block.tool_use_id !== 'string') continue
    const { text, cut } = cutText(textOfBlocks(block.content), MAX_OUTPUT)
    const callId = block.tool_use_id
    const isError = block.is_error === true
    const result = asObject(line.tool_use_result)
    const usage = usedBy(state.subUsage, callId, result)
    const used = usage === undefined ? {} : { usage }
    outputs.push({
      type: 'tool.completed',
      callId,
      output: text,
      isError,
      parent: parentOf(line),
      cut,
      ...imagesIn(blocksOf(block.content)),
      ...used,
    })
    const plan = planAfter(state.planning, callId, { isError, result })
    const subUsage = state.subUsage.filter((one) => one.callId !== callId)
    state = { ...state, planning: plan.planning, subUsage }
    outputs.push(...plan.outputs)
  }
  return { state, outputs }
}

function blocksOf(content: unknown): unknown[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : asArray(content)
}

function textOfBlocks(content: unknown): string {
  return blocksOf(content)
    .map((block) => {
      if (!isObject(block)) return typeof block === 'string' ? block : ''
      return asString(block.text) ?? `[${asString(block.type) ?? 'unknown'}]`
    })
    .join('\n')
}
