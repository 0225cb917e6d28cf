import { asArray, asObject, asString, capped, cutText, type JsonObject } from '../json.ts'
import { imagesIn } from '../images.ts'
import type { DriverOutput } from '../output.ts'
import { compactionCompleted, compactionStarted } from './compaction.ts'
import { unwrapped } from './shell.ts'
import { nothing, other, remember, says, type Step } from '../step.ts'
import { type CodexState, MAX_REMEMBERED, type OpenItem } from './state.ts'

const MAX_OUTPUT = 256 * 1024
const MAX_DIFF = 128 * 1024
const MAX_INPUT = 256 * 1024

/** How Codex's tools are called here, where its own name is not the clearest. */
const TOOLS: ReadonlyMap<string, (item: JsonObject) => string> = new Map<
  string,
  (item: JsonObject) => string
>([
  ['commandExecution', () => 'command'],
  ['fileChange', () => 'fileChange'],
  ['mcpToolCall', ({ server, tool }) => `mcp__${String(server)}__${String(tool)}`],
  ['dynamicToolCall', ({ tool }) => asString(tool) ?? 'dynamicToolCall'],
  ['collabAgentToolCall', ({ tool }) => asString(tool) ?? 'collabAgentToolCall'],
  ['webSearch', () => 'webSearch'],
  ['imageView', () => 'imageView'],
  ['imageGeneration', () => 'imageGeneration'],
  ['sleep', () => 'sleep'],
])

const COMPACTION = 'contextCompaction'

/** Told by what is streamed, or said by ourselves. */
const SILENT: ReadonlySet<string> = new Set(['hookPrompt', 'functionCallOutput'])

export function itemStarted(state: CodexState, item: JsonObject, parent: string | null): Step<CodexState> {
  const [id, type] = [asString(item.id), asString(item.type) ?? 'unknown']
  if (type === COMPACTION) return parent === null ? compactionStarted(state) : nothing(state)
  const tool = TOOLS.get(type)?.(item)
  if (id === null || tool === undefined || state.open.some((one) => one.id === id)) return nothing(state)
  const input = inputOf(type, item)
  const open = remember(state.open, { id, type, tool, input, parent }, MAX_REMEMBERED)
  return says({ ...state, open }, { type: 'tool.started', callId: id, tool, input, parent })
}

export function itemCompleted(state: CodexState, item: JsonObject, parent: string | null): Step<CodexState> {
  const [id, type] = [asString(item.id) ?? '', asString(item.type) ?? 'unknown']
  switch (type) {
    case 'userMessage':
      return userMessage(state, item, parent)
    case 'agentMessage':
    case 'plan': {
      const text = asString(item.text) ?? ''
      return says(parent === null ? { ...state, text } : state, message(id, 'text', text, parent))
    }
    case 'reasoning':
      return says(state, ...thoughts(id, item, parent))
    case COMPACTION:
      return parent === null ? compactionCompleted(state) : nothing(state)
    default:
      if (TOOLS.has(type)) return toolCompleted(state, type, item)
      return SILENT.has(type) ? nothing(state) : other(state, `item/${type}`, item)
  }
}

/** What we said comes back when it is the model's turn to hear it. */
function userMessage(state: CodexState, { clientId }: JsonObject, parent: string | null): Step<CodexState> {
  const own = parent === null && typeof clientId === 'string' && state.turn !== null
  if (!own || clientId === state.turn!.ours) return nothing(state)
  return says(state, { type: 'steer.taken', steerId: clientId })
}

function message(id: string, kind: 'text' | 'thinking', text: string, parent: string | null): DriverOutput {
  return { type: 'message.completed', messageId: id, kind, text, parent, aborted: false }
}

/** A summary for people, and with some models the thoughts themselves. */
function thoughts(id: string, item: JsonObject, parent: string | null): DriverOutput[] {
  const summary = texts(item.summary)
  const raw = texts(item.content)
  return [
    ...(summary === '' ? [] : [message(id, 'thinking', summary, parent)]),
    ...(raw === '' ? [] : [message(rawThoughts(id), 'thinking', raw, parent)]),
  ]
}

/** Between two sections of a summary. */
export const SECTION = '\n\n'

export const rawThoughts = (itemId: string): string => `${itemId}:raw`

function texts(parts: unknown): string {
  return asArray(parts)
    .map((part) => asString(part) ?? '')
    .join(SECTION)
}

/** A command that went on after its turn may end at any time: it was closed with the turn. */
function toolCompleted(state: CodexState, type: string, item: JsonObject): Step<CodexState> {
  const known = state.open.find((one) => one.id === item.id)
  if (!known) return nothing(state)
  const { text, cut } = cutText(outputOf(type, item), MAX_OUTPUT)
  const open = state.open.filter((one) => one !== known)
  const { id: callId, parent } = known
  return says(
    { ...state, open },
    {
      type: 'tool.completed',
      callId,
      output: text,
      isError: hasFailed(item),
      parent,
      cut,
      ...imagesIn(asArray(asObject(item.result).content)),
    },
  )
}

/** What a turn leaves open when it ends; only a command may go on. */
export function closed({ id: callId, type, parent }: OpenItem, outcome: string): DriverOutput {
  const goesOn = outcome === 'completed' && type === 'commandExecution'
  const output = goesOn ? 'It goes on in the background.' : 'It was cut off.'
  return { type: 'tool.completed', callId, output, isError: !goesOn, parent, cut: 0 }
}

function inputOf(type: string, item: JsonObject): unknown {
  switch (type) {
    case 'commandExecution':
      return { command: unwrapped(asString(item.command) ?? ''), cwd: item.cwd ?? null }
    case 'fileChange':
      return changesOf(item)
    case 'mcpToolCall':
    case 'dynamicToolCall':
      return capped(item.arguments ?? {}, MAX_INPUT)
    default: {
      const { id: _, type: __, startedAtMs: ___, completedAtMs: ____, status: _____, ...rest } = item
      return capped(rest, MAX_INPUT)
    }
  }
}

/** With `path` when it is about one file only, which is what rules look at. `to`: where a file is moved. */
function changesOf(item: JsonObject): JsonObject {
  const changes = asArray(item.changes).map((change) => {
    const { path, kind, diff } = asObject(change)
    const { type = null, move_path: to } = asObject(kind)
    const { text, cut } = cutText(asString(diff) ?? '', MAX_DIFF)
    return { path, ...((to ?? null) !== null && { to }), kind: type, diff: text, ...(cut > 0 && { cut }) }
  })
  const [only] = changes
  return { ...(only && changes.length === 1 && only.to === undefined && { path: only.path }), changes }
}

const SIGNS: Partial<Record<string, string>> = { add: 'A', delete: 'D', update: 'M' }

function outputOf(type: string, item: JsonObject): string {
  if (item.status === 'declined') return 'It was declined.'
  switch (type) {
    case 'commandExecution': {
      const failed = typeof item.exitCode === 'number' && item.exitCode !== 0
      return (failed ? `Exit code ${String(item.exitCode)}\n` : '') + (asString(item.aggregatedOutput) ?? '')
    }
    case 'fileChange':
      return asArray(item.changes)
        .map((change) => {
          const { path, kind } = asObject(change)
          return `${SIGNS[String(asObject(kind).type)] ?? '?'} ${String(path)}`
        })
        .join('\n')
    case 'mcpToolCall':
      return asString(asObject(item.error).message) ?? contentOf(asObject(item.result).content)
    case 'dynamicToolCall':
      return contentOf(item.contentItems)
    case 'collabAgentToolCall':
      return JSON.stringify(item.agentsStates ?? {})
    default:
      return JSON.stringify(item.results ?? item.result ?? item.action ?? null) ?? ''
  }
}

function contentOf(content: unknown): string {
  return asArray(content)
    .map((part) => asString(asObject(part).text) ?? `[${asString(asObject(part).type) ?? 'unknown'}]`)
    .join('\n')
}

function hasFailed({ status, exitCode, success, error }: JsonObject): boolean {
  if (status === 'failed' || status === 'declined' || success === false) return true
  return (typeof exitCode === 'number' && exitCode !== 0) || (error ?? null) !== null
}
