import { textOf } from '../../core/content.ts'
import { clean, oneLine } from '../format.ts'
import { answerKeys, currentQuestion } from './answer.ts'
import { callTitle } from './calls.ts'
import { fittedLine, lineWidth, span, wrapped, type Line, type Look, type Span } from './spans.ts'
import type { State } from './state.ts'

const SPINNER = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧']
const FRAME_MS = 250
const MAX_WAITING = 3

/** `1:05`, `12 s`. */
export function elapsed(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  if (seconds < 60) return `${seconds} s`
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3600)]
  const two = (value: number): string => String(value % 60).padStart(2, '0')
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds)}` : `${minutes}:${two(seconds)}`
}

/** `950`, `12.3k`, `1.2M`. */
export function short(count: number): string {
  if (count < 1000) return String(count)
  return count < 1_000_000 ? `${(count / 1000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}M`
}

/** What it is doing, in one line; none: it waits for a message. */
export function statusLines(state: State, width: number): Line[] {
  const { awaySince, now, turn, facts } = state
  if (awaySince !== null) {
    const text = `! the daemon is not reachable; trying again (${elapsed(now - awaySince)})`
    return [fittedLine([span(text, 'red')], width)]
  }
  if (turn === null) return facts.paused ? [[span('paused: messages wait', 'yellow')]] : []
  const time = elapsed(now - turn.startedAt)
  if (state.questions.length > 0) {
    const more = state.questions.length > 1 ? ` (${state.questions.length} questions)` : ''
    return [fittedLine([span('? ', 'magenta'), span(`waits for you${more} · ${time}`, 'dim')], width)]
  }
  const sign = SPINNER[Math.floor(now / FRAME_MS) % SPINNER.length]!
  const words = turn.interrupting ? ['stopping'] : [doing(state), 'Esc stops it']
  return [fittedLine([span(`${sign} `, 'yellow'), span([time, ...words].join(' · '), 'dim')], width)]
}

function doing({ transcript, facts }: State): string {
  const last = transcript.items.findLast(
    (item) => (item.kind === 'call' && item.state === 'running') || (item.kind === 'said' && item.open),
  )
  if (last?.kind === 'call') return callTitle(last.tool, last.input, facts.cwd)
  if (last?.kind === 'said') return last.thinking ? 'thinking' : 'writing'
  return 'working'
}

/** Messages that have not begun: those that wait in the queue, and those on their way. */
export function waitingLines({ waiting, outgoing }: State, width: number): Line[] {
  const texts = [
    ...waiting.map(({ content, steer }) => [steer ? 'to the turn' : 'waits', textOf(content)] as const),
    ...outgoing.map(({ text }) => ['sending', text] as const),
  ]
  const lines = texts
    .slice(0, MAX_WAITING)
    .map(([what, text]) => fittedLine([span(`${what}: `, 'dim'), span(oneLine(text, 300), 'dim')], width))
  const more = texts.length - MAX_WAITING
  return more > 0 ? [...lines, [span(`… ${more} more`, 'dim')]] : lines
}

/** Which keys answer the question, and what a lasting answer means. */
export function answerLines(state: State, width: number): Line[] {
  const [question] = state.questions
  const { answer } = state
  if (!question || !answer) return []
  if (!answer.focus)
    return [fittedLine([span('Tab', 'bold'), span(' goes to the question above', 'dim')], width)]
  switch (answer.way) {
    case 'keys':
      return keyLines(state, width)
    case 'words':
      return [fittedLine([span('why not? Enter refuses it, Esc goes back', 'dim')], width)]
    case 'edit':
      return [fittedLine([span('Enter allows it as it stands here, Esc goes back', 'dim')], width)]
    case 'text': {
      const { question: text, at, of, options } = currentQuestion(question, answer)
      const which = of > 1 ? `${at + 1} of ${of}: ${clean(text)}` : ''
      const how = options.length > 0 ? 'a number, or your own words' : 'your answer'
      return [...(which === '' ? [] : wrapped([span(which, 'bold')], { width })), [span(how, 'dim')]]
    }
  }
}

function keyLines({ questions: [question], abilities }: State, width: number): Line[] {
  const keys = answerKeys(question!, abilities.editInput).flatMap(({ key, what }): Span[] => [
    span(key, 'bold', 'magenta'),
    span(` ${what}`.replaceAll(' ', '\u00a0'), 'dim'),
    span('   '),
  ])
  const rules =
    question!.rules.length > 0
      ? [span(`a and p allow from now on: ${clean(question!.rules.join(', '))}`, 'dim')]
      : []
  const lines = wrapped(keys.slice(0, -1), { width }).map((line) =>
    line.map(({ text, looks }) => ({ text: text.replaceAll('\u00a0', ' '), looks })),
  )
  return [...lines, ...(rules.length > 0 ? wrapped(rules, { width }) : [])]
}

/** The line below the input: a hint, or what the session is. What matters least is left out first. */
export function footLine(state: State, width: number): Line {
  const { hint, facts, usage, context, waiting } = state
  if (hint !== null) return fittedLine([span(clean(hint), 'yellow')], width)
  const tokens = usage.inputTokens + usage.outputTokens
  const full = context?.window ? `${Math.round((100 * context.used) / context.window)} % full` : ''
  const parts: [string, Look][] = [
    [clean(facts.agent), 'dim'],
    [facts.mode, facts.mode === 'auto' ? 'yellow' : 'dim'],
    [waiting.length > 0 ? `${waiting.length} queued` : '', 'dim'],
    [clean(facts.model ?? ''), 'dim'],
    [facts.effort === null ? '' : `effort ${facts.effort}`, 'dim'],
    [tokens > 0 ? `${short(tokens)} tokens` : '', 'dim'],
    [full, 'dim'],
    [oneLine(facts.title ?? '', 60), 'dim'],
  ]
  const line: Span[] = []
  for (const [text, look] of parts) {
    if (text === '') continue
    const added = [...(line.length > 0 ? [span(' · ', 'dim')] : []), span(text, look)]
    const room = width - lineWidth(line)
    if (lineWidth(added) <= room) line.push(...added)
    else if (room > 12) return fittedLine([...line, ...added], width)
    else break
  }
  return line
}
