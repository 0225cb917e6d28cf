import { stripVTControlCharacters } from 'node:util'
import { NOTHING_SHOWN, painted, unpainted, WIPED, type Shown } from './paint.ts'
import type { State } from './state.ts'
import type { Tty } from './tty.ts'
import type { Viewer } from './view.ts'
import { widthOf } from './width.ts'

/** Between two frames, while much comes at once. */
const FRAME_MS = 30

/** Draws the newest state, not every one of them. */
export interface Screen {
  draw(state: State, isUrgent: boolean): void
  /** What is there may be anything. */
  wipe(): void
  /** The conversation stays, the input goes. */
  finish(state: State): void
}

export function createScreen(tty: Tty, viewer: Viewer): Screen {
  let shown: Shown = NOTHING_SHOWN
  let newest: State | null = null
  let timer: NodeJS.Timeout | undefined
  let drawnAt = 0
  let isWiped = false
  let isFinished = false

  function drawNow(isLast = false): void {
    clearTimeout(timer)
    timer = undefined
    if (newest === null) return
    const { rows: height, columns } = newest
    if (isWiped) {
      tty.write(unpainted(shown, columns, height, (text) => widthOf(stripVTControlCharacters(text))))
      shown = shown === NOTHING_SHOWN ? shown : WIPED
    }
    isWiped = false
    const { rows, cursor } = viewer.frame(newest, isLast)
    const next = painted(shown, rows, cursor, height)
    shown = next.shown
    tty.write(next.text)
    drawnAt = performance.now()
  }

  return {
    draw(state, isUrgent) {
      if (isFinished) return
      newest = state
      const wait = isUrgent ? 0 : drawnAt + FRAME_MS - performance.now()
      if (wait <= 0 && isUrgent) drawNow()
      else timer ??= setTimeout(drawNow, Math.max(0, wait))
    },
    wipe: () => void (isWiped = true),
    finish(state) {
      newest = state
      isFinished = true
      drawNow(true)
    },
  }
}
