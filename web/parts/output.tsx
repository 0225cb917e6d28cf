import { useMemo, useState } from 'preact/hooks'
import { paletteColour, spansOf, type Look, type Span } from './ansi.ts'
import { Button } from './button.tsx'
import { CopyButton } from './copy.tsx'
import { plainOf } from './ansi.ts'

/** Of a long output the end says most: so much of it is shown, until somebody wants all. */
const SHOWN_LINES = 120
const SHOWN_CHARS = 20_000

/** What a program has written, with its colours. */
export function Output({ text, cut = 0 }: { text: string; cut?: number }) {
  const [all, setAll] = useState(false)
  const shown = all ? text : endOf(text)
  const spans = useMemo(() => spansOf(shown), [shown])
  const hidden = text.length - shown.length
  return (
    <div class="output">
      {(hidden > 0 || cut > 0) && (
        <p class="output-note">
          {cut > 0 && `${cut.toLocaleString()} bytes were not kept. `}
          {hidden > 0 && (
            <Button
              kind="quiet"
              label={`Show ${linesIn(text) - linesIn(shown)} more lines`}
              onClick={() => setAll(true)}
            />
          )}
        </p>
      )}
      <pre class="output-text" tabIndex={0} aria-label="Output">
        {spans.map((span, at) => (
          <Piece key={at} span={span} />
        ))}
      </pre>
      <CopyButton text={() => plainOf(text)} label="Copy the output" />
    </div>
  )
}

function endOf(text: string): string {
  const tail = text.length > SHOWN_CHARS ? text.slice(-SHOWN_CHARS) : text
  let from = tail.length
  for (let line = 0; line < SHOWN_LINES && from >= 0; line++) from = tail.lastIndexOf('\n', from - 1)
  return from > 0 ? tail.slice(from + 1) : tail
}

function linesIn(text: string): number {
  let count = 1
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++
  return count
}

function Piece({ span: { text, look } }: { span: Span }) {
  const names = NAMES.filter((name) => look[name]).map((name) => `ansi-${name}`)
  const [fg, bg] = look.inverse ? [look.bg, look.fg] : [look.fg, look.bg]
  for (const [part, colour] of [
    ['fg', fg],
    ['bg', bg],
  ] as const) {
    if (typeof colour === 'number' && colour < 16) names.push(`ansi-${part}-${colour}`)
  }
  if (names.length === 0 && fg === undefined && bg === undefined) return <>{text}</>
  return (
    <span class={names.join(' ')} style={{ color: exact(fg), backgroundColor: exact(bg) }}>
      {text}
    </span>
  )
}

const NAMES = ['bold', 'dim', 'italic', 'underline', 'strike', 'inverse'] as const satisfies (keyof Look)[]

/** Of colours that no theme has a name for. */
function exact(colour: number | string | undefined): string | undefined {
  if (colour === undefined || (typeof colour === 'number' && colour < 16)) return undefined
  return typeof colour === 'number' ? paletteColour(colour) : colour
}
