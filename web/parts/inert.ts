/*
 * Text from agents may hold characters that are not seen and change what is: direction overrides that turn a command around,
 * controls that end a line or ring a bell. They are shown, or they vanish.
 */

/** Marks and overrides of the direction of text. */
const DIRECTIONS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
const IS_DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/
/** Controls but tab and line feed. */
// oxlint-disable-next-line no-control-regex -- that is what they are
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufff9-\ufffb]/g
// oxlint-disable-next-line no-control-regex
const IS_CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufff9-\ufffb]/

/** The same text without controls, and with the names of direction marks in their place. */
export function inert(text: string): string {
  const visible = IS_CONTROL.test(text) ? text.replaceAll('\r\n', '\n').replace(CONTROLS, '') : text
  return IS_DIRECTION.test(visible) ? visible.replace(DIRECTIONS, nameOf) : visible
}

/** In one line. */
export function inertLine(text: string): string {
  return inert(text.replace(/\s+/g, ' ').trim())
}

function nameOf(character: string): string {
  return `⟨U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}⟩`
}
