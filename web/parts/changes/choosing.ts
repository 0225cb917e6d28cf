import { useRef, useState } from 'preact/hooks'
import { placeBetween, type Place, type Side } from '../../state/changes/place.ts'
import { placeOfRow, type Anchored, type LineRow, type PairRow, type Row } from '../../state/changes/rows.ts'

type Lines = LineRow | PairRow

export interface Choosing {
  chosen: Place | null
  /** The row that has the focus, or had it last; -1: none. */
  cursor: number
  /** Goes up with each wish to have the focus moved there. */
  wish: number
  /** Nothing is chosen any more, and the focus goes back to the row. */
  leave(): void
  handlers: {
    onPointerDown(event: PointerEvent): void
    onPointerOver(event: PointerEvent): void
    onPointerUp(event: PointerEvent): void
    onClick(event: MouseEvent): void
    onKeyDown(event: KeyboardEvent): void
    onFocusIn(event: FocusEvent): void
  }
}

interface ChoosingOptions {
  rows: readonly Row<Anchored>[]
  canComment: boolean
  /** Somebody wants to say something about these lines. */
  onComment(place: Place): void
}

/** Which lines are chosen: with the pointer in the gutter, or with the keys. */
export function useChoosing({ rows, canComment, onComment }: ChoosingOptions): Choosing {
  const [chosen, setChosen] = useState<Place | null>(null)
  const [cursor, setCursor] = useState(-1)
  const [wish, setWish] = useState(0)
  /** Where a selection began. */
  const anchor = useRef<{ index: number; place: Place } | null>(null)
  const dragging = useRef(false)

  const parts: Parts = {
    rows,
    canComment,
    chosen,
    cursor,
    dragging,
    begin(index, place) {
      anchor.current = { index, place }
      setChosen(place)
      setCursor(index)
    },
    extend(index, side) {
      const from = anchor.current
      const row = linesAt(rows, index)
      const first = from && linesAt(rows, from.index)
      const to = row && placeOfRow(row, side)
      if (from && first && row && to && first.hunk === row.hunk) setChosen(placeBetween(from.place, to))
    },
    comment(place) {
      dragging.current = false
      if (canComment && place) onComment(place)
    },
    focus(index) {
      setCursor(index)
      setWish((count) => count + 1)
    },
    clear: () => setChosen(null),
  }
  return {
    chosen,
    cursor,
    wish,
    leave() {
      setChosen(null)
      setWish((count) => count + 1)
    },
    handlers: { ...pointerHandlers(parts), ...keyHandlers(parts) },
  }
}

interface Parts {
  rows: readonly Row<Anchored>[]
  canComment: boolean
  chosen: Place | null
  cursor: number
  dragging: { current: boolean }
  begin(index: number, place: Place): void
  extend(index: number, side: Side): void
  comment(place: Place | null): void
  focus(index: number): void
  clear(): void
}

/** Arrows move, with Shift they choose; Enter says something about what is chosen. */
function keyHandlers({ rows, chosen, cursor, begin, extend, comment, focus, clear }: Parts) {
  function move(step: number, grows: boolean): void {
    const next = nextLine(rows, cursor, step)
    const row = next === -1 ? null : linesAt(rows, next)
    const place = row && placeOfRow(row)
    if (!place) return
    if (grows) extend(next, place.side)
    else begin(next, place)
    focus(next)
  }
  return {
    onKeyDown(event: KeyboardEvent) {
      if (!isRow(event.target)) return
      const step = STEPS[event.key]
      if (step !== undefined) move(step, event.shiftKey)
      else if (event.key === 'Enter' || event.key === 'c') comment(chosen)
      else if (event.key === 'Escape') clear()
      else return
      event.preventDefault()
    },
    onFocusIn(event: FocusEvent) {
      const index = isRow(event.target) ? indexOf(event.target) : -1
      const row = index === cursor ? null : linesAt(rows, index)
      const place = row && placeOfRow(row)
      if (place) begin(index, place)
    },
  }
}

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }

/** A drag in the gutter chooses lines. A finger scrolls instead: a tap chooses one. */
function pointerHandlers({ rows, canComment, dragging, chosen, begin, extend, comment }: Parts) {
  const gutterOf = (event: Event): { index: number; side: Side } | null => {
    const gutter =
      event.target instanceof Element ? event.target.closest<HTMLElement>('.change-gutter') : null
    return gutter && canComment ? { index: indexOf(gutter), side: gutter.dataset['side'] as Side } : null
  }
  return {
    onPointerDown(event: PointerEvent) {
      const at = gutterOf(event)
      const row = at && linesAt(rows, at.index)
      const place = row && placeOfRow(row, at.side)
      if (!place || event.pointerType === 'touch' || event.button !== 0) return
      event.preventDefault()
      dragging.current = true
      begin(at.index, place)
    },
    onPointerOver(event: PointerEvent) {
      if (!dragging.current || !(event.target instanceof Element)) return
      const index = indexOf(event.target)
      const side = event.target.closest<HTMLElement>('[data-side]')?.dataset['side']
      if (index !== -1) extend(index, side === 'old' ? 'old' : 'new')
    },
    onPointerUp() {
      if (dragging.current) comment(chosen)
    },
    onClick(event: MouseEvent) {
      const at = gutterOf(event)
      const row = at && linesAt(rows, at.index)
      const place = row && placeOfRow(row, at.side)
      const isTouch = (event as PointerEvent).pointerType === 'touch'
      if (!place || !isTouch) return
      begin(at.index, place)
      comment(place)
    },
  }
}

function isRow(target: EventTarget | null): target is HTMLElement {
  return target instanceof HTMLElement && target.classList.contains('change-row')
}

function indexOf(element: Element): number {
  return Number(element.closest<HTMLElement>('[data-index]')?.dataset['index'] ?? -1)
}

function linesAt(rows: readonly Row<Anchored>[], index: number): Lines | null {
  const row = rows[index]
  return row && (row.kind === 'line' || row.kind === 'pair') ? row : null
}

/** The next line in a direction, over what is no line. */
function nextLine(rows: readonly Row<Anchored>[], from: number, step: number): number {
  for (let index = from + step; index >= 0 && index < rows.length; index += step) {
    if (linesAt(rows, index)) return index
  }
  return -1
}
