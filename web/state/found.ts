/** A piece of what was found; `marked` ones are what was looked for. */
export interface FoundPiece {
  text: string
  marked: boolean
}

/** Something that was said, and fits. */
export interface Hit {
  sessionId: string
  turnId: string | null
  seq: number
  at: number
  role: 'user' | 'assistant'
  text: string
  marks: readonly (readonly [number, number])[]
}

export interface HitGroup {
  sessionId: string
  hits: Hit[]
}

/** Texts and marks in turn. Marks that are not as they should be mark nothing. */
export function piecesOf(text: string, marks: Hit['marks']): FoundPiece[] {
  const pieces: FoundPiece[] = []
  let at = 0
  for (const [from, to] of marks) {
    if (from < at || to <= from || to > text.length) continue
    if (from > at) pieces.push({ text: text.slice(at, from), marked: false })
    pieces.push({ text: text.slice(from, to), marked: true })
    at = to
  }
  if (at < text.length) pieces.push({ text: text.slice(at), marked: false })
  return pieces
}

/** Hits of the same session together, the sessions in the order of their best hit. The same hit twice is one. */
export function groupHits(hits: readonly Hit[]): HitGroup[] {
  const groups = new Map<string, Map<number, Hit>>()
  for (const hit of hits) {
    const group = groups.get(hit.sessionId) ?? new Map<number, Hit>()
    if (!group.has(hit.seq)) group.set(hit.seq, hit)
    groups.set(hit.sessionId, group)
  }
  return [...groups].map(([sessionId, group]) => ({ sessionId, hits: [...group.values()] }))
}

/** Where a hit is read: the session, at the message. A message of the user's stands where its turn begins. */
export function hitPath({ sessionId, seq, turnId }: Pick<Hit, 'sessionId' | 'seq' | 'turnId'>): string {
  const place = new URLSearchParams({ at: String(seq), ...(turnId !== null && { turn: turnId }) })
  return `/s/${encodeURIComponent(sessionId)}?${place.toString()}`
}

/** The place in a session that an address leads to; null: to none. */
export function placeIn(search: string): { seq: number; turnId: string | null } | null {
  const params = new URLSearchParams(search)
  const seq = Number(params.get('at'))
  return Number.isSafeInteger(seq) && seq > 0 ? { seq, turnId: params.get('turn') } : null
}

/** What the address says is looked for, and where. */
export interface SearchQuery {
  text: string
  sessionId: string | null
}

export function queryIn(search: string): SearchQuery {
  const params = new URLSearchParams(search)
  return { text: params.get('q') ?? '', sessionId: params.get('in') }
}

export function searchPath({ text, sessionId }: SearchQuery): string {
  const params = new URLSearchParams()
  if (text !== '') params.set('q', text)
  if (sessionId !== null) params.set('in', sessionId)
  const query = params.toString()
  return query === '' ? '/search' : `/search?${query}`
}
