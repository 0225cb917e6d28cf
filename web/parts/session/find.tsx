import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Api } from '../../client/client.ts'
import { client } from '../../state/connection.ts'
import { Button } from '../button.tsx'
import { inert } from '../inert.ts'

type Hit = Api['messages.search']['result']['hits'][number]

const MAX_HITS = 100
const WAIT_MS = 150

interface FindProps {
  sessionId: string
  onGo(hit: Hit): void
  onClose(): void
}

/** Finds what was said in the whole session, also in what has not been read yet: the daemon looks for it. */
export function Find({ sessionId, onGo, onClose }: FindProps) {
  const [text, setText] = useState('')
  const { hits, isAsked } = useHits(sessionId, text)
  const [place, setPlace] = useState({ hits, at: -1 })
  // Others were found: it begins anew.
  const at = place.hits === hits ? place.at : -1
  const input = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => input.current?.focus(), [])

  /** The newest first, as people look for things. */
  function go(step: number): void {
    if (hits.length === 0) return
    const next = (at + step + hits.length) % hits.length
    setPlace({ hits, at: next })
    onGo(hits[next]!)
  }

  const hit = hits[at]
  return (
    <search class="find">
      <div class="find-bar">
        <input
          ref={input}
          class="input"
          aria-label="Find in this session"
          placeholder="Find in this session"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter') go(event.shiftKey ? -1 : 1)
            if (event.key !== 'Escape') return
            event.stopPropagation()
            onClose()
          }}
        />
        <span class="find-count numbers muted" role="status">
          {text.trim() === '' || !isAsked ? '' : countText(at, hits.length)}
        </span>
        <Button kind="quiet" icon="arrow-up" iconOnly label="The one before" onClick={() => go(-1)} />
        <Button kind="quiet" icon="arrow-down" iconOnly label="The next one" onClick={() => go(1)} />
        <Button kind="quiet" icon="x" iconOnly label="Close" onClick={onClose} />
      </div>
      {hit && (
        <p class="find-hit">
          <span class="muted">{hit.role === 'user' ? 'You: ' : 'Agent: '}</span>
          {markedParts(hit)}
        </p>
      )}
    </search>
  )
}

function countText(at: number, count: number): string {
  if (count === 0) return 'Not found'
  const all = count >= MAX_HITS ? `${MAX_HITS}+` : String(count)
  return at < 0 ? `${all} found` : `${at + 1} of ${all}`
}

function markedParts({ text, marks }: Hit) {
  const parts = []
  let from = 0
  for (const [start, end] of marks) {
    parts.push(inert(text.slice(from, start)), <mark key={start}>{inert(text.slice(start, end))}</mark>)
    from = end
  }
  return [...parts, inert(text.slice(from))]
}

function useHits(sessionId: string, text: string): { hits: readonly Hit[]; isAsked: boolean } {
  const [found, setFound] = useState<{ text: string; hits: readonly Hit[] }>({ text: '', hits: [] })
  useEffect(() => {
    if (text.trim() === '') return setFound({ text, hits: [] })
    let wanted = true
    const timer = setTimeout(() => {
      client()
        .call('messages.search', { text, sessionId, limit: MAX_HITS })
        .then(
          ({ hits }) => wanted && setFound({ text, hits: hits.toSorted((a, b) => b.seq - a.seq) }),
          () => {},
        )
    }, WAIT_MS)
    return () => {
      wanted = false
      clearTimeout(timer)
    }
  }, [text])
  return { hits: found.hits, isAsked: found.text === text }
}
