/** Something that the palette can lead to. */
export interface Candidate {
  id: string
  group: PaletteGroup
  /** What is read first, and counts most. */
  title: string
  /** What else it may be found by. */
  detail?: string
  /** Never shown. */
  words?: string
}

export const PALETTE_GROUPS = ['sessions', 'actions', 'pages', 'messages'] as const
export type PaletteGroup = (typeof PALETTE_GROUPS)[number]

const MAX_PER_GROUP = 8

export interface RankedGroup<C extends Candidate> {
  group: PaletteGroup
  items: C[]
}

/**
 * What fits, the best of each group first. The group with the best one comes first, and messages, which the daemon has found,
 * come last. Without a query everything fits, in the order in which it is given.
 */
export function ranked<C extends Candidate>(candidates: readonly C[], query: string): RankedGroup<C>[] {
  const words = wordsOf(query)
  const scored = candidates
    .map((item, index) => ({ item, index, score: item.group === 'messages' ? 0 : scoreOf(item, words) }))
    .filter(({ score }) => score !== null)
  const groups = PALETTE_GROUPS.flatMap((group) => {
    const found = scored.filter(({ item }) => item.group === group)
    const best = found.toSorted((a, b) => b.score! - a.score! || a.index - b.index).slice(0, MAX_PER_GROUP)
    const top = group === 'messages' ? -1 : (best[0]?.score ?? 0)
    return best.length === 0 ? [] : [{ group, top, items: best.map(({ item }) => item) }]
  })
  return groups.toSorted((a, b) => b.top - a.top).map(({ group, items }) => ({ group, items }))
}

function wordsOf(query: string): string[] {
  return query.toLowerCase().split(/\s+/).filter(Boolean)
}

/** Null when a word is nowhere to be found. */
function scoreOf({ title, detail = '', words = '' }: Candidate, query: readonly string[]): number | null {
  // Who has written all of it means this one, whatever begins with it.
  let total = title.toLowerCase() === query.join(' ') ? WHOLE : 0
  for (const word of query) {
    const score = Math.max(
      3 * wordScore(title.toLowerCase(), word),
      2 * wordScore(detail.toLowerCase(), word),
      wordScore(words.toLowerCase(), word),
    )
    if (score === 0) return null
    total += score
  }
  return total
}

const WHOLE = 100
const BEGINNING = 80
const WHOLE_WORD = 65
const WORD = 60
const INSIDE = 30
const SCATTERED = 10

/** How well a text fits one word: as a whole, at its beginning, as a word, at the beginning of one, anywhere, or letter by letter. */
function wordScore(text: string, word: string): number {
  if (text === word) return WHOLE
  if (text.startsWith(word)) return BEGINNING
  const at = text.indexOf(word)
  if (at < 0) return isScattered(text, word) ? SCATTERED : 0
  const begun = placesOf(text, word).filter((place) => startsWord(text, place))
  if (begun.length === 0) return INSIDE
  return begun.some((place) => endsWord(text, place + word.length)) ? WHOLE_WORD : WORD
}

function placesOf(text: string, part: string): number[] {
  const places: number[] = []
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) places.push(at)
  return places
}

function startsWord(text: string, at: number): boolean {
  return at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1]!)
}

function endsWord(text: string, at: number): boolean {
  return at === text.length || !/[\p{L}\p{N}]/u.test(text[at]!)
}

/** All letters in order, the first of them at the beginning of a word. Two letters would fit nearly everything. */
function isScattered(text: string, word: string): boolean {
  if (word.length < 3) return false
  const starts = placesOf(text, word[0]!).filter((place) => startsWord(text, place))
  return starts.some((start) => {
    let from = start
    for (const letter of word) {
      const found = text.indexOf(letter, from)
      if (found < 0) return false
      from = found + 1
    }
    return from - start <= word.length * 3
  })
}
