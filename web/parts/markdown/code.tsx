import { useEffect, useState } from 'preact/hooks'
import { highlight, knownSegments } from '../../state/highlight.ts'
import { CopyButton } from '../copy.tsx'
import { inert, inertLine } from '../inert.ts'
import { chunksOf, fenceLanguage, piecesOf, type Segments } from '../../../src/core/markdown/segments.ts'

/** So many lines are laid out together: what grows at its end does not lay out the rest anew. */
const CHUNK_LINES = 40

const NONE: Segments = []

/** A block of code. Its colours come after it is first seen, and change nothing about its size. */
export function Code({ lang: info, text: given, live }: { lang: string; text: string; live: boolean }) {
  const lang = fenceLanguage(info)
  const text = inert(given)
  const segments = useSegments(lang, text, live)
  return (
    <div class="code">
      <div class="code-bar">
        <span class="code-lang">{inertLine(lang)}</span>
        <CopyButton text={() => text} label="Copy this code" />
      </div>
      <pre class="code-text" tabIndex={0} aria-label={lang === '' ? 'Code' : `Code, ${lang}`}>
        <code>
          {chunksOf(text, CHUNK_LINES).map(({ from, to }, at) => (
            <Chunk key={at} text={text} segments={segments} from={from} to={to} />
          ))}
        </code>
      </pre>
    </div>
  )
}

function useSegments(lang: string, text: string, live: boolean): Segments {
  const [found, setFound] = useState<{ text: string; segments: Segments } | null>(null)
  const known = live ? null : knownSegments(lang, text)
  useEffect(() => {
    if (live || known) return
    return highlight(lang, text, (segments) => setFound({ text, segments }))
  }, [lang, text, live])
  return known ?? (found?.text === text ? found.segments : NONE)
}

interface ChunkProps {
  text: string
  segments: Segments
  from: number
  to: number
}

function Chunk({ text, segments, from, to }: ChunkProps) {
  // An empty line at the end has a height only if there is something in it.
  const pieces = from === to ? [{ text: '\n', kind: '' }] : piecesOf(text, segments, from, to)
  return (
    <span class="code-chunk">
      {pieces.map((piece, at) =>
        piece.kind === '' ? (
          piece.text
        ) : (
          <span key={at} class={`hl-${piece.kind}`}>
            {piece.text}
          </span>
        ),
      )}
    </span>
  )
}
