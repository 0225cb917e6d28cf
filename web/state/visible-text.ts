import { plainOf } from '../parts/ansi.ts'

/*
 * What agents say may hold what a terminal would obey, or turn the direction of what follows. Shown in one line among our own
 * words, such text must not be able to pass for them.
 */

/** Characters without width, of which nothing is seen. */
const HIDDEN = /[\u200b-\u200d\u2060-\u2064\ufeff]/g

/** The same text without what hides in it, and with turned directions made visible. */
export function visible(text: string): string {
  return plainOf(text).replace(HIDDEN, '')
}

/** On one line. */
export function visibleLine(text: string): string {
  return visible(text).replace(/\s+/g, ' ').trim()
}
