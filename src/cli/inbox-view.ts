import type { Cli } from './cli.ts'
import { ageOf, bodyOf, briefOf, headOf, placeOf, titleOf, type InboxItem } from './inbox-items.ts'
import { questionsOf } from './render.ts'
import { fit, wrap } from './width.ts'

/** What the screen shows. */
export interface InboxState {
  items: readonly InboxItem[]
  /** The id of the item that the keys are about. */
  current: string | null
  /** Its edit as a diff, once that is known. */
  files: Parameters<typeof bodyOf>[1]
  /** How many lines of it are above the screen. */
  scrolled: number
  /** Keys that answer are taken: a person has had time to see what they are about. */
  armed: boolean
  /** What was done last, or went wrong. */
  said: string
}

interface Frame {
  columns: number
  rows: number
  now: number
  home: string
}

type Paint = Cli['paint']

/** The whole screen: no more lines than it has rows, none wider than it is. */
export function drawInbox(state: InboxState, { columns, rows, now, home }: Frame, paint: Paint): string[] {
  const { items, said } = state
  const item = items.find(({ id }) => id === state.current)
  const count = items.length === 1 ? '1 needs you' : `${items.length} need you`
  const head = [fit(items.length === 0 ? 'Nothing needs you.' : count, columns)]
  const foot = [paint('dim', fit(said, columns)), keysFor(item, state, columns, paint)]
  if (!item)
    return [
      paint('bold', head[0]!),
      '',
      fit('This page changes by itself when an agent asks.', columns),
      ...foot,
    ].slice(0, rows)
  const others = items.filter((one) => one !== item)
  const listed = others.slice(0, Math.max(0, Math.min(others.length, Math.floor(rows / 4))))
  const about = [
    paint('bold', fit(titleOf(item), columns)),
    paint('dim', fit(`${placeOf(item, home)}  ${item.session.agent}  ${ageOf(item, now)}`, columns)),
    paint('magenta', fit(headOf(item), columns)),
  ]
  const list = listed.length === 0 ? [] : ['', ...listed.map((one) => row(one, columns, now, paint))]
  const room = Math.max(1, rows - head.length - 1 - about.length - list.length - 1 - foot.length)
  const body = bodyLines(item, state, columns - 2)
  const at = Math.min(state.scrolled, Math.max(0, body.length - room))
  const shown = body.slice(at, at + room).map((line) => `  ${coloured(line, state.files !== null, paint)}`)
  const left = body.length - at - room
  if (left > 0) shown[shown.length - 1] = paint('yellow', fit(`  … ${left + 1} more lines: space`, columns))
  return [paint('bold', head[0]!), '', ...about, ...shown, ...list, '', ...foot].slice(0, rows)
}

function bodyLines(item: InboxItem, { files }: InboxState, columns: number): string[] {
  return wrap(bodyOf(item, files), Math.max(10, columns))
}

function coloured(line: string, isDiff: boolean, paint: Paint): string {
  if (isDiff && line.startsWith('+')) return paint('green', line)
  if (isDiff && line.startsWith('-')) return paint('red', line)
  return line
}

function row(item: InboxItem, columns: number, now: number, paint: Paint): string {
  return paint('dim', fit(`  ${ageOf(item, now).padStart(6)}  ${titleOf(item)}  ${briefOf(item)}`, columns))
}

/** Which keys do something now. */
function keysFor(
  item: InboxItem | undefined,
  { armed, items }: InboxState,
  columns: number,
  paint: Paint,
): string {
  if (!item) return paint('dim', 'q quit')
  const keys = !armed ? ['…'] : item.kind === 'failed' ? ['d done'] : answers(item)
  const move = items.length > 1 ? ['j/k move'] : []
  return fit([...keys, 's not now', 'o open', ...move, 'q quit'].join('  '), columns)
}

function answers({ approval: { kind, input } }: InboxItem & { kind: 'approval' }): string[] {
  if (kind !== 'question') return ['y allow', 'n refuse', 'a allow in this session']
  const count = choicesOf(input)
  return count > 0 ? [`1-${count} answer`, 'n refuse'] : ['n refuse']
}

/** How many answers can be chosen by a digit: of one question only. */
export function choicesOf(input: unknown): number {
  const [question, ...more] = questionsOf(input)
  return question && more.length === 0 ? Math.min(9, question.options.length) : 0
}
