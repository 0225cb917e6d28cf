import { textOf } from '../../../src/core/content.ts'
import type { Row } from '../../state/row.ts'

const LINE = 22
const CHARS = 90

/** About how high a row is before it was seen: the better it is guessed, the less the scrollbar moves. */
export function estimateOf(row: Row | null): number {
  switch (row?.kind) {
    case 'user':
      return 32 + lines(textOf(row.content)) * LINE
    case 'text':
      return 20 + lines(row.text) * LINE
    case 'call':
      return row.questions.length > 0 ? 260 : 32
    case 'end':
      return 44
    default:
      return 32
  }
}

function lines(text: string): number {
  let count = Math.ceil(text.length / CHARS)
  for (let at = text.indexOf('\n'); at >= 0 && count < 200; at = text.indexOf('\n', at + 1)) count += 0.6
  return Math.max(1, Math.round(count))
}
