import { type Content, textOf } from '../core/content.ts'
import type { Change } from '../core/conversation/item.ts'
import type { Event } from '../core/event.ts'
import type { Usage } from '../core/usage.ts'
import type { HistoryItem } from '../dialects/native/wire.ts'
import type { Cli } from './cli.ts'
import { clean, describeInput, duration, oneLine, prefixed, shortId } from './format.ts'

const RESULT_LINES = 6

type Paint = Cli['paint']

/** A conversation as text. */
export function renderItems(items: readonly HistoryItem[], paint: Paint): string {
  let last: HistoryItem | null = null
  return items
    .map((item) => {
      const before = last
      if (item.kind === 'user' && item.mode !== undefined) last = item
      return `${changeText(before, item, paint)}${renderItem(item, paint)}`
    })
    .join('')
}

/** What a turn ran with, if the one before ran with something else. */
function changeText(before: HistoryItem | null, item: HistoryItem, paint: Paint): string {
  if (before?.kind !== 'user' || item.kind !== 'user') return ''
  const now = (['mode', 'model'] as const).flatMap((what) =>
    item[what] && before[what] && item[what] !== before[what] ? [item[what]] : [],
  )
  return nowText(paint, now)
}

function counted(content: readonly Content[], type: 'image' | 'document'): string {
  const count = content.filter((part) => part.type === type).length
  return count > 0 ? `(${count} ${type}${count > 1 ? 's' : ''})` : ''
}

/** One item of a conversation as text, with its line ends. What a mode or a rule has decided is left out. */
export function renderItem(item: HistoryItem, paint: Paint): string {
  switch (item.kind) {
    case 'user': {
      const said = [
        clean(textOf(item.content)),
        counted(item.content, 'image'),
        counted(item.content, 'document'),
      ]
      return `\n${paint(['bold', 'cyan'], prefixed(said.filter(Boolean).join('\n'), '> '))}\n`
    }
    case 'assistant':
      return `${indented(clean(item.text), item.parent)}${item.aborted ? paint('dim', ' (cut off)') : ''}\n`
    case 'thinking':
      return `${paint('dim', indented(clean(item.text), item.parent))}\n`
    case 'tool':
      if (asksQuestions(item.input)) return '' // its approval shows them
      return `${paint('yellow', indented(`* ${oneLine(item.tool, 80)}`, item.parent))} ${oneLine(summary(item.input), 160)}\n`
    case 'result':
      return `${paint(item.isError ? 'red' : 'dim', indented(resultText(item.output), item.parent))}\n`
    case 'approval':
      if (!item.asked) return ''
      return approvalText({ ...item, id: item.approvalId, kind: item.ask }, paint)
    case 'decision':
      if (!item.asked) return ''
      return `${paint('dim', decisionText(item.decision, item.by))}\n`
    case 'plan':
      return planText(item.entries, paint)
    case 'notice':
      return `${paint(item.level === 'warning' ? 'yellow' : 'dim', `-- ${clean(item.message)}`)}\n`
    case 'compacted':
      return `${paint('dim', `-- ${compactedText(item)}`)}\n`
    case 'end':
      return `${endText(item, paint)}\n`
  }
}

function indented(text: string, parent: string | null): string {
  return parent === null ? text : prefixed(text, '    ')
}

function summary(input: unknown): string {
  return describeInput(input, 200).replaceAll('\n', ' ')
}

function resultText(output: string): string {
  const lines = clean(output).trimEnd().split('\n')
  const shown = lines.slice(0, RESULT_LINES).map((line) => `  ${line.slice(0, 200)}`)
  if (lines.length > RESULT_LINES) shown.push(`  … ${lines.length - RESULT_LINES} more lines`)
  return shown.join('\n')
}

export interface Asked {
  id: string
  kind: 'tool' | 'question' | 'plan'
  tool: string
  input: unknown
  summary: string | null
}

export function approvalText(asked: Asked, paint: Paint): string {
  const what = {
    tool: `may the agent use ${oneLine(asked.tool, 80)}?`,
    question: 'the agent asks:',
    plan: 'do you agree to this plan?',
  }[asked.kind]
  const head = paint(['bold', 'magenta'], `? ${what}`)
  return `${head} ${paint('dim', `(approval ${shortId(asked.id)})`)}\n${prefixed(approvalBody(asked), '  ')}\n`
}

/** What there is to decide about, with nothing hidden. */
export function approvalBody({ kind, input }: Pick<Asked, 'kind' | 'input'>): string {
  if (kind === 'question') return questionsOf(input).map(questionText).join('\n')
  const plan =
    kind === 'plan' && typeof input === 'object' && input !== null && 'plan' in input ? input.plan : null
  return typeof plan === 'string' ? clean(plan) : describeInput(input)
}

export interface Question {
  question: string
  options: { label: string; description?: string }[]
  /** More than one may be chosen. */
  many?: boolean
}

function asksQuestions(
  input: unknown,
): input is { questions: { question: string; options?: unknown; multiSelect?: unknown }[] } {
  const list = typeof input === 'object' && input !== null && 'questions' in input ? input.questions : null
  if (!Array.isArray(list) || list.length === 0) return false
  return list.every((entry: { question?: unknown } | null) => typeof entry?.question === 'string')
}

/** The questions in an agent's request; one without a known shape is shown whole. */
export function questionsOf(input: unknown): Question[] {
  if (!asksQuestions(input)) return [{ question: describeInput(input), options: [] }]
  return input.questions.map(({ question, options, multiSelect }) => ({
    question,
    options: Array.isArray(options) ? options.filter(isOption) : [],
    many: multiSelect === true,
  }))
}

function isOption(option: unknown): option is Question['options'][number] {
  const { label, description = '' } = (option ?? {}) as { label?: unknown; description?: unknown }
  return typeof label === 'string' && typeof description === 'string'
}

function questionText({ question, options }: Question): string {
  const choices = options.map(({ label, description }, index) => {
    return `  ${index + 1}) ${clean(label)}${description ? `: ${clean(description)}` : ''}`
  })
  return [clean(question), ...choices].join('\n')
}

export function decisionText(
  decision: Extract<HistoryItem, { kind: 'decision' }>['decision'],
  by: string,
): string {
  if (decision.behavior === 'cancelled') return `  withdrawn: ${clean(decision.reason)}`
  if (decision.behavior === 'respond') return `  answered (${clean(by)}): ${clean(decision.text)}`
  const comment = decision.behavior === 'deny' && decision.comment ? `: ${clean(decision.comment)}` : ''
  return `  ${decision.behavior === 'allow' ? 'allowed' : 'denied'} (${clean(by)})${comment}`
}

function planText(entries: Extract<HistoryItem, { kind: 'plan' }>['entries'], paint: Paint): string {
  const sign = { done: 'x', active: '>', pending: ' ' }
  const lines = entries.map(({ text, state }) => `  [${sign[state]}] ${clean(text)}`)
  return `${paint('dim', ['-- plan', ...lines].join('\n'))}\n`
}

function compactedText(item: Extract<HistoryItem, { kind: 'compacted' }>): string {
  const { tokensBefore, tokensAfter, error } = item
  if (error !== null) return `could not summarize the conversation: ${clean(error)}`
  const tokens = tokensBefore !== null && tokensAfter !== null
  return `summarized${tokens ? `: ${tokensBefore} tokens before, ${tokensAfter} now` : ''}`
}

function endText(item: Extract<HistoryItem, { kind: 'end' }>, paint: Paint): string {
  if (item.outcome === 'failed') {
    return paint(
      'red',
      `failed: ${clean(item.error?.message ?? 'for an unknown reason')} (${clean(item.error?.code ?? '?')})`,
    )
  }
  return paint('dim', `-- ${item.outcome === 'completed' ? 'done' : 'interrupted'}, ${usageText(item.usage)}`)
}

export function usageText(usage: Usage): string {
  const parts = [duration(usage.durationMs), `${usage.inputTokens} in, ${usage.outputTokens} out`]
  if (usage.costUsd) parts.push(`$${usage.costUsd.toFixed(4)}`)
  return parts.join(', ')
}

export function queuedText(position: number, paused: boolean): string {
  return paused ? 'queued; the session is paused' : `queued, ${position} before it`
}

/** A message that waits or was removed from the queue, and a turn that is stopping. */
export function renderWait(change: Change, paint: Paint, paused: boolean): string {
  switch (change.type) {
    case 'waits':
      return change.position > 0 ? `${paint('dim', `-- ${queuedText(change.position, paused)}`)}\n` : ''
    case 'edited':
      return `${paint('dim', `-- now waits: ${oneLine(textOf(change.message.content), 80)}`)}\n`
    case 'withdrawn':
      if (change.steered !== null) return ''
      return `${paint('dim', `-- removed from the queue: ${clean(change.reason)}`)}\n`
    case 'interrupting':
      return `${paint('dim', '-- stopping')}\n`
    default:
      return ''
  }
}

/** The line that an event adds beside the conversation, if any. */
export function renderRemark(event: Event, paint: Paint): string {
  switch (event.type) {
    case 'turn.steered':
      return `${paint('dim', `-- sent into the running turn: ${oneLine(textOf(event.input), 80)}`)}\n`
    case 'turn.retried':
      return `${paint('dim', `-- trying again: ${clean(event.reason)}`)}\n`
    case 'session.changed':
      return changed(paint, event)
    case 'session.status':
      return event.status === 'paused' ? `${paint('dim', '-- paused')}\n` : ''
    case 'session.destroyed':
      return `${paint('dim', '-- the session was removed')}\n`
    default:
      return ''
  }
}

function changed(paint: Paint, { mode, model, effort }: Extract<Event, { type: 'session.changed' }>): string {
  return nowText(
    paint,
    [mode, model, effort && `effort ${effort}`].filter((it) => typeof it === 'string'),
  )
}

function nowText(paint: Paint, now: string[]): string {
  return now.length === 0 ? '' : `${paint('dim', `-- now ${clean(now.join(', '))}`)}\n`
}
