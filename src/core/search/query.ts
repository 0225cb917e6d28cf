import { wordsOf } from './words.ts'

/** Words in a row. */
export interface Phrase {
  words: string[]
  /** Of the last word, the beginning is enough. */
  open: boolean
}

/** More than anybody means; what is beyond is not looked at. */
const MAX_CHARACTERS = 500
const MAX_PHRASES = 20

/**
 * What is asked for: words, all of which must be there; "words in a row" in quotes; `begin*`. The last word is taken as
 * its beginning while it is being typed, from the third letter on. There is no other syntax: nothing that anybody types is an error.
 */
export function parseQuery(text: string): Phrase[] {
  const asked = text.slice(0, MAX_CHARACTERS)
  const phrases: Phrase[] = []
  for (const [chunk, quoted] of asked.matchAll(/"([^"]*)"?|[^\s"]+/g)) {
    const words = wordsOf(quoted ?? chunk).words.map((word) => word.text)
    if (words.length === 0) continue
    phrases.push({ words, open: quoted === undefined && chunk.endsWith('*') })
  }
  const last = phrases.at(-1)
  if (last && !/["\s]$/.test(asked) && isTelling(last.words.at(-1)!)) last.open = true
  return phrases.slice(0, MAX_PHRASES)
}

/** One or two Latin letters begin nearly everything. */
function isTelling(word: string): boolean {
  return word.length > 2 || /[^a-z0-9]/.test(word)
}
