/*
 * Text from agents may hold what is not seen and changes what is: codes that command a terminal, marks that turn a command
 * around. Before a person sees such a text, in a terminal or in a browser, it is made inert.
 */

/**
 * One escape sequence: a control sequence (`ESC [ … final`: its parameters and its final are groups 1 and 2), a string that is ended
 * by BEL or ST (titles, links, the clipboard, images), or two characters. A string without an end is no string: it would hide
 * the rest. Each kind stops where another one may begin, so that no text takes more than one look at each character.
 */
export const ESCAPES =
  // oxlint-disable-next-line no-control-regex -- that is what they are
  /(?:\u001b\[|\u009b)([0-?]*)[ -/]*([@-~])?|(?:\u001b[\]PX^_k]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u0080-\u009f]*(?:\u0007|\u001b\\|\u009c)|\u001b[ -/]*[0-~]?/g

/** Marks and overrides of the direction of text. */
const DIRECTIONS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
const HAS_DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/
/** Controls but tab and line feed. */
// oxlint-disable-next-line no-control-regex -- that is what they are
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufff9-\ufffb]/g
// oxlint-disable-next-line no-control-regex
const HAS_CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufff9-\ufffb]/

/** The same text without controls, and with the names of direction marks in their place. */
export function inert(text: string): string {
  const visible = HAS_CONTROL.test(text) ? text.replaceAll('\r\n', '\n').replace(CONTROLS, '') : text
  return HAS_DIRECTION.test(visible) ? visible.replace(DIRECTIONS, nameOf) : visible
}

/** Without escape sequences as well: of a link of a terminal, say, only its words are left. */
export function inertOutput(text: string): string {
  return inert(HAS_CONTROL.test(text) ? text.replace(ESCAPES, '') : text)
}

/**
 * The text with every character that is not seen under its name. For what a person has to decide about: a command may do what
 * is hidden between the codes of a terminal.
 */
export function exact(text: string): string {
  return HAS_CONTROL.test(text) ? inert(text.replaceAll('\r\n', '\n').replace(CONTROLS, nameOf)) : inert(text)
}

function nameOf(character: string): string {
  return `⟨U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}⟩`
}
