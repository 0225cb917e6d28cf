/*
 * What agents say may turn the direction of what follows, or hold characters that nobody sees. Shown in one line among
 * our own words, such text must not be able to pass for them.
 */

/** Marks, overrides and isolates of direction, and characters without width. */
const HIDDEN = /[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g
/** With what follows an escape, as far as it is a sequence. */
// oxlint-disable-next-line no-control-regex
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])?/g
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029]/g

/** The same text with what hides in it made visible, and without what a terminal would obey. */
export function visible(text: string): string {
  return text.replace(ESCAPES, '').replace(HIDDEN, '\u2423').replace(CONTROLS, ' ')
}

/** On one line. */
export function visibleLine(text: string): string {
  return visible(text).replace(/\s+/g, ' ').trim()
}
