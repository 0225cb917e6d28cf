import { placeOf, rowsOf, type Draft } from './editor.ts'
import { createItemPainter, isApart, type ItemView } from './items.ts'
import { shownChoices } from './menu.ts'
import type { Row } from './paint.ts'
import { inputWidth } from './press.ts'
import { fittedLine, span, wrapped, type Line, type Look } from './spans.ts'
import type { State } from './state.ts'
import { answerLines, footLine, statusLines, waitingLines } from './status.ts'
import type { Item } from './transcript.ts'

/** What is on the screen: rows from the top, and where the cursor is. */
export interface Frame {
  readonly rows: readonly Row[]
  readonly cursor: { readonly row: number; readonly column: number }
}

export interface Viewer {
  /** `isLast`: without the input, for those who leave. */
  frame(state: State, isLast?: boolean): Frame
}

export type Paint = (looks: readonly Look[], text: string) => string

/** A state as rows. What was made for a line once is kept with it. */
export function createViewer(paint: Paint, hasColour: boolean): Viewer {
  const painter = createItemPainter()
  const made = new WeakMap<readonly Line[], Row[]>()
  const texts = new WeakMap<Line, string>()

  function painted(line: Line): string {
    const known = texts.get(line)
    if (known !== undefined) return known
    const pieces = line.map(({ text, looks }) =>
      looks.length > 0 && text !== '' ? paint(looks, seen(text)) : seen(text),
    )
    const text = pieces.join('')
    texts.set(line, text)
    return text
  }

  function itemRows(item: Item, view: ItemView): Row[] {
    const lines = painter.linesOf(item, view)
    const known = made.get(lines)
    if (known) return known
    const rows = lines.map((line, at) => ({ key: `${item.id}:${at}`, text: painted(line) }))
    made.set(lines, rows)
    return rows
  }

  function transcriptRows({ transcript, columns, opened, facts }: State): Row[] {
    const view = { width: columns - 1, marks: !hasColour, opened, cwd: facts.cwd }
    const rows: Row[] = []
    let last: Item | null = null
    for (const item of transcript.items) {
      const own = itemRows(item, view)
      if (own.length === 0) continue
      if (last && isApart(last, item)) rows.push({ key: `${item.id}:above`, text: '' })
      rows.push(...own)
      last = item
    }
    return rows
  }

  return {
    frame(state, isLast = false) {
      const above = transcriptRows(state)
      if (isLast) return { rows: above, cursor: { row: above.length, column: 0 } }
      const { lines, cursor } = bottom(state)
      const rows = [...above, ...lines.map((line) => ({ key: '', text: painted(line) }))]
      return { rows, cursor: { row: above.length + cursor.row, column: cursor.column } }
    },
  }
}

// oxlint-disable-next-line no-control-regex -- that is what they are
const CONTROLS = /[\u0000-\u001f\u007f-\u009f]/g
/** They take no room. */
const DIRECTIONS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufff9-\ufffb]/g

/** Wherever a text came from, a terminal obeys nothing in it. */
function seen(text: string): string {
  return text.replace(CONTROLS, pictureOf).replace(DIRECTIONS, '')
}

/** `␛`: Unicode has a sign for each of them. */
function pictureOf(character: string): string {
  const code = character.charCodeAt(0)
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? '\u2421' : '\ufffd'
}

interface Bottom {
  lines: Line[]
  cursor: { row: number; column: number }
}

/** Below the conversation: what waits, what it is doing, the input, and what the session is. */
export function bottom(state: State): Bottom {
  const width = state.columns - 1
  const before = [
    ...(state.transcript.items.length > 0 ? [[]] : []),
    ...waitingLines(state, width),
    ...statusLines(state, width),
    ...answerLines(state, width),
    ...confirmLines(state, width),
  ]
  const { lines, cursor } = inputLines(state)
  const after = [...menuLines(state, width), footLine(state, width)]
  return { lines: [...before, ...lines, ...after], cursor: { ...cursor, row: before.length + cursor.row } }
}

function confirmLines({ confirm }: State, width: number): Line[] {
  return confirm === null
    ? []
    : wrapped([span(confirm.question, 'yellow'), span(' [y/n]', 'bold')], { width })
}

/** The text that is being written, as much of it as there is room for, around the cursor. */
function inputLines(state: State): Bottom {
  const { draft, sign } = written(state)
  const all = rowsOf(draft.text, inputWidth(state))
  const place = placeOf(draft.text, draft.cursor, all)
  const most = Math.max(1, Math.min(12, Math.floor(state.rows / 3)))
  const from = Math.max(0, Math.min(place.row - Math.floor(most / 2), all.length - most))
  const shown = all.slice(from, from + most)
  const lines = shown.map((row, at): Line => {
    const text = draft.text.slice(row.from, row.to).replaceAll('\t', '    ')
    const head =
      from + at === 0 ? sign : at === 0 ? '↑ ' : at === most - 1 && from + most < all.length ? '↓ ' : '  '
    return [span(head, 'cyan', 'bold'), span(text)]
  })
  return { lines, cursor: { row: place.row - from, column: 2 + place.column } }
}

function written({ answer, draft, confirm }: State): { draft: Draft; sign: string } {
  if (confirm || !answer?.focus || answer.way === 'keys') return { draft, sign: '> ' }
  return { draft: answer.draft, sign: answer.way === 'edit' ? '! ' : '? ' }
}

function menuLines({ menu }: State, width: number): Line[] {
  if (menu === null) return []
  const { choices, chosen } = shownChoices(menu)
  return choices.map(({ text, hint }, at) => {
    const isChosen = at === chosen
    const told = hint === '' ? [] : [span(`  ${hint}`, 'dim')]
    return fittedLine(
      [
        span(isChosen ? '› ' : '  ', 'cyan'),
        isChosen ? span(text.trim(), 'cyan') : span(text.trim()),
        ...told,
      ],
      width,
    )
  })
}
