import type { ChangeLine, FileChange, Hunk } from '../../../src/core/file-change.ts'
import { visibleCode } from '../../state/changes/code-text.ts'
import { withMarks, type MarkedPiece } from '../../state/changes/coloured.ts'
import { coloursOf } from '../../state/changes/colours.ts'
import { wordRanges, type WordRange } from '../words.ts'

/** Longer lines are data: nobody reads them to the end. */
const MAX_SHOWN = 2000

const words = new WeakMap<Hunk, ReturnType<typeof wordRanges>>()
const NONE: readonly WordRange[] = []

/** The text of a line: in colours, and with what differs marked. */
export function LineText({ file, hunk, at }: { file: FileChange; hunk: Hunk; at: number }) {
  const line = hunk.lines[at]!
  const colours = coloursOf(file, hunk).value.get(line)
  const shown = line.text.slice(0, MAX_SHOWN)
  const pieces = line.text.length > MAX_SHOWN || !colours ? [{ text: shown, kind: '' as const }] : colours
  const rest = line.text.length - shown.length
  return (
    <>
      {SPOKEN[line.kind] !== '' && <span class="aside">{SPOKEN[line.kind]}</span>}
      {withMarks(pieces, rangesOf(hunk, at)).map(drawn)}
      {rest > 0 && <span class="muted"> … {rest} more characters</span>}
    </>
  )
}

const SPOKEN: Readonly<Record<ChangeLine['kind'], string>> = { ' ': '', '+': 'added: ', '-': 'removed: ' }

function drawn({ text, kind, marked }: MarkedPiece, index: number) {
  const visible = visibleCode(text)
  if (kind === '' && !marked) return visible
  const names = [kind !== '' && `hl-${kind}`, marked && 'change-word'].filter(Boolean)
  return (
    <span key={index} class={names.join(' ')}>
      {visible}
    </span>
  )
}

/** Found out once for a hunk, when one of its lines is first shown. */
function rangesOf(hunk: Hunk, at: number): readonly WordRange[] {
  let found = words.get(hunk)
  if (!found) words.set(hunk, (found = wordRanges(hunk.lines)))
  return found.get(at) ?? NONE
}
