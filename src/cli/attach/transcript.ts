import type { Approval } from '../../core/approval.ts'
import { textOf, type Content } from '../../core/content.ts'
import type { Call, CallState, Change, Message } from '../../core/conversation/item.ts'
import type { Event, PlanEntry } from '../../core/event.ts'
import type { FileChange } from '../../core/file-change.ts'
import { historyItem } from '../../dialects/native/history.ts'
import type { HistoryItem } from '../../dialects/native/wire.ts'
import type { Cli } from '../cli.ts'
import { decisionText, renderItem, renderRemark, renderWait } from '../render.ts'

/** Something that stands in the transcript. It is never changed: what becomes of it takes its place. */
export type Item = { readonly id: string } & (
  | { kind: 'user'; text: string; attached: readonly string[] }
  | { kind: 'said'; text: string; thinking: boolean; open: boolean; aborted: boolean; nested: boolean }
  | CallItem
  | AskedItem
  | { kind: 'plan'; entries: readonly PlanEntry[] }
  | { kind: 'files'; title: string; files: readonly FileChange[]; truncated: boolean }
  | { kind: 'note'; text: string; tone: Tone }
)

/** A question to a human, and what was decided; null: it is open. */
export interface AskedItem {
  kind: 'asked'
  approval: Approval
  verdict: string | null
}

export interface CallItem {
  kind: 'call'
  tool: string
  input: unknown
  state: CallState
  output: string | null
  cut: number
  nested: boolean
}

export type Tone = 'dim' | 'plain' | 'warning' | 'bad'

/** What was said and done, as far as it is kept for the screen. */
export interface Transcript {
  readonly items: readonly Item[]
  /** Gives notes their names. */
  readonly count: number
}

export const NO_TRANSCRIPT: Transcript = { items: [], count: 0 }

/** What is older has left the screen long ago; it stays in the terminal, as it was. */
const MAX_ITEMS = 400

function put(transcript: Transcript, item: Item): Transcript {
  const items =
    transcript.items.length >= MAX_ITEMS ? transcript.items.slice(-MAX_ITEMS / 2) : transcript.items
  const at = items.findLastIndex(({ id }) => id === item.id)
  const next = at < 0 ? [...items, item] : items.with(at, item)
  return { items: next, count: transcript.count + 1 }
}

export function noted(transcript: Transcript, text: string, tone: Tone = 'dim'): Transcript {
  return put(transcript, { kind: 'note', id: `note:${transcript.count}`, text: text.trimEnd(), tone })
}

export function withFiles(
  transcript: Transcript,
  title: string,
  files: readonly FileChange[],
  truncated: boolean,
): Transcript {
  return put(transcript, { kind: 'files', id: `files:${transcript.count}`, title, files, truncated })
}

const plain: Cli['paint'] = (_, text) => text

/** A conversation as it was read from the log. */
export function withPast(transcript: Transcript, items: readonly HistoryItem[]): Transcript {
  return items.reduce((before, item) => withItem(before, item), transcript)
}

function withItem(transcript: Transcript, item: HistoryItem): Transcript {
  switch (item.kind) {
    case 'user':
      return put(transcript, userItem(`user:${item.seq}`, item.content))
    case 'assistant':
    case 'thinking': {
      const { messageId, text, aborted, parent, kind } = item
      const thinking = kind === 'thinking'
      return put(transcript, {
        kind: 'said',
        id: `said:${messageId}`,
        text,
        thinking,
        open: false,
        aborted,
        nested: parent !== null,
      })
    }
    case 'tool': {
      const { callId, tool, input, parent } = item
      const known = callOf(transcript, callId)
      const nested = parent !== null
      const state = known?.state ?? 'running'
      return put(transcript, {
        kind: 'call',
        id: `call:${callId}`,
        tool,
        input,
        state,
        output: null,
        cut: 0,
        nested,
      })
    }
    case 'result': {
      const { callId, output, isError, cut, parent } = item
      const known = callOf(transcript, callId) ?? {
        kind: 'call' as const,
        tool: '',
        input: null,
        nested: parent !== null,
        state: 'running' as const,
      }
      const state = known.state === 'refused' ? 'refused' : isError ? 'failed' : 'done'
      return put(transcript, { ...known, id: `call:${callId}`, state, output, cut })
    }
    case 'plan':
      return put(transcript, { kind: 'plan', id: `plan:${transcript.count}`, entries: item.entries })
    case 'approval':
      return transcript
    case 'decision':
      return item.asked ? decided(transcript, item) : transcript
    case 'notice':
      return noted(transcript, `-- ${item.message}`, item.level === 'warning' ? 'warning' : 'dim')
    case 'compacted':
      return noted(transcript, renderItem(item, plain))
    case 'end':
      return noted(ended(transcript), renderItem(item, plain), item.outcome === 'failed' ? 'bad' : 'dim')
  }
}

function decided(transcript: Transcript, item: Extract<HistoryItem, { kind: 'decision' }>): Transcript {
  const verdict = verdictText(item)
  const asked = transcript.items.findLast(({ id }) => id === `asked:${item.approvalId}`)
  return asked?.kind === 'asked' ? put(transcript, { ...asked, verdict }) : noted(transcript, verdict)
}

function verdictText({ decision, by }: Extract<HistoryItem, { kind: 'decision' }>): string {
  const answers = decision.behavior === 'allow' && decision.answers ? Object.values(decision.answers) : []
  return answers.length > 0 ? `  answered (${by}): ${answers.join('; ')}` : decisionText(decision, by)
}

/** What still ran is over with its turn. */
function ended(transcript: Transcript): Transcript {
  const isOver = (item: Item): boolean => item.kind !== 'call' || !['asked', 'running'].includes(item.state)
  if (transcript.items.every(isOver)) return transcript
  const items = transcript.items.map((item) => (isOver(item) ? item : ({ ...item, state: 'done' } as Item)))
  return { ...transcript, items }
}

function callOf({ items }: Transcript, callId: string): CallItem | null {
  const found = items.findLast(({ id }) => id === `call:${callId}`)
  return found?.kind === 'call' ? found : null
}

function userItem(id: string, content: readonly Content[]): Item {
  const attached = content.flatMap((part) =>
    part.type === 'text' ? [] : [part.type === 'image' ? 'image' : 'document'],
  )
  return { kind: 'user', id, text: textOf(content), attached }
}

/** What an event and what it changes in the conversation add. `isPaused`: the session holds its messages. */
export function told(
  transcript: Transcript,
  event: Event,
  changes: readonly Change[],
  isPaused: boolean,
): Transcript {
  const next = changes.reduce((before, change) => withChange(before, change, event, isPaused), transcript)
  const remark = renderRemark(event, plain)
  return remark === '' ? next : noted(next, remark)
}

function withChange(transcript: Transcript, change: Change, event: Event, isPaused: boolean): Transcript {
  switch (change.type) {
    case 'said':
      return put(transcript, userItem(`user:${event.seq}`, change.message.content))
    case 'opened':
    case 'grew':
    case 'closed':
      return put(transcript, saidItem(change.message))
    case 'call':
      return put(transcript, callItem(change.call, transcript))
    case 'asked': {
      const { approval, asked } = change.question
      return asked
        ? put(transcript, { kind: 'asked', id: `asked:${approval.id}`, approval, verdict: null })
        : transcript
    }
    case 'withdrawn':
    case 'interrupting': {
      const text = renderWait(change, plain, isPaused)
      return text === '' ? transcript : noted(transcript, text)
    }
    default: {
      const item = historyItem(change, event)
      return item ? withItem(transcript, item) : transcript
    }
  }
}

function saidItem({ id, text, kind, open, aborted, parent }: Message): Item {
  const thinking = kind === 'thinking'
  return { kind: 'said', id: `said:${id}`, text, thinking, open, aborted, nested: parent !== null }
}

/** The output is told once; a later change of its state does not have it. */
function callItem({ id, tool, input, state, output, cut, parent }: Call, transcript: Transcript): Item {
  const known = output === null ? callOf(transcript, id) : null
  return {
    kind: 'call',
    id: `call:${id}`,
    tool,
    input,
    state,
    output: known?.output ?? output,
    cut: known?.cut ?? cut,
    nested: parent !== null,
  }
}
