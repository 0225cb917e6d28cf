/*
 * Code under review must show what is in it: characters that turn the direction of a line, or that nobody sees, are how a
 * change hides what it does.
 */

/** Marks, overrides and isolates of direction, characters without width, and separators that are no line feeds. */
const HIDDEN = /[\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/g

/** Unicode has a picture for each of the first 32, and for DEL. */
const PICTURES = 0x24_00
const DEL = 0x7f

/** The same text with everything in it visible. */
export function visibleCode(text: string): string {
  return text.replace(HIDDEN, named).replace(CONTROLS, pictured)
}

function pictured(character: string): string {
  const code = character.charCodeAt(0)
  if (code < 0x20) return String.fromCharCode(PICTURES + code)
  return code === DEL ? '\u2421' : named(character)
}

function named(character: string): string {
  return `⟨U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`
}
