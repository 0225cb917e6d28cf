/** What a person does at a keyboard: a key that has a name (`enter`, `ctrl+left`), text, or a paste as a whole. */
export type Press = { key: string } | { text: string } | { paste: string }

/** Makes keys of what a terminal sends. What is incomplete waits for the rest. */
export interface KeyReader {
  push(chunk: string): Press[]
  /** Nothing followed: what looked like the beginning of a sequence was a key of its own. */
  flush(): Press[]
  /** An escape waits for what may follow it. */
  isWaiting(): boolean
}

const PASTE_BEGINS = '\u001b[200~'
const PASTE_ENDS = '\u001b[201~'

export function createKeyReader(): KeyReader {
  let held = ''
  let paste: string | null = null

  /** One press, and how much of `held` it took; null: more has to come. */
  function next(): { press: Press | null; length: number } | null {
    if (paste !== null) return pasted()
    if (held.startsWith(PASTE_BEGINS)) {
      paste = ''
      return { press: null, length: PASTE_BEGINS.length }
    }
    return held.startsWith('\u001b') ? escaped(held) : typed(held)
  }

  function pasted(): { press: Press | null; length: number } | null {
    const end = held.indexOf(PASTE_ENDS)
    if (end < 0) {
      // The end may have come in part.
      const length = Math.max(0, held.length - PASTE_ENDS.length + 1)
      paste += held.slice(0, length)
      return length === 0 ? null : { press: null, length }
    }
    const text = paste + held.slice(0, end)
    paste = null
    return { press: { paste: text.replace(/\r\n?/g, '\n') }, length: end + PASTE_ENDS.length }
  }

  return {
    push(chunk) {
      held += chunk
      const presses: Press[] = []
      while (held !== '') {
        const found = next()
        if (found === null) break
        held = held.slice(found.length)
        if (found.press) presses.push(found.press)
      }
      return presses
    },
    flush() {
      if (paste !== null || !held.startsWith('\u001b')) return []
      const rest = held.slice(1)
      held = ''
      const first: Press = rest === '' ? { key: 'escape' } : { key: `alt+${rest[0]}` }
      return [first, ...this.push(rest.slice(1))]
    },
    isWaiting: () => paste === null && held.startsWith('\u001b'),
  }
}

type Found = { press: Press | null; length: number } | null

/* oxlint-disable no-control-regex -- that is what a terminal sends */
const CSI = /^\u001b\[([0-9;:<=>?]*)[ -/]*([@-~])/
const CSI_PART = /^\u001b\[[0-9;:<=>?]*[ -/]*$/
/** Answers of the terminal to questions that nobody here has asked. */
const STRING = /^\u001b[\]P_^X][^\u0007\u001b]*(?:\u0007|\u001b\\)/
const STRING_PART = /^\u001b[\]P_^X][^\u0007\u001b]*\u001b?$/
const TEXT = /^[^\u0000-\u001f\u007f-\u009f]+/
/* oxlint-enable no-control-regex */

function escaped(held: string): Found {
  const csi = CSI.exec(held)
  if (csi) return { press: sequence(csi[1]!, csi[2]!), length: csi[0].length }
  if (CSI_PART.test(held)) return null
  const string = STRING.exec(held)
  if (string) return { press: null, length: string[0].length }
  if (held === '\u001b' || held === '\u001bO' || STRING_PART.test(held)) return null
  if (held[1] === 'O') {
    const name = LETTERS[held[2]!]
    return { press: name === undefined ? null : { key: name }, length: 3 }
  }
  if (held[1] === '\u001b') return { press: { key: 'escape' }, length: 1 }
  const [character = ''] = held.slice(1)
  const after = typed(character)?.press
  const name = after && 'key' in after ? after.key : character
  return {
    press: { key: name.startsWith('ctrl+') ? `ctrl+alt+${name.slice(5)}` : `alt+${name}` },
    length: 1 + character.length,
  }
}

const CONTROLS: Readonly<Record<string, string>> = {
  '\r': 'enter',
  '\t': 'tab',
  '\b': 'backspace',
  '\u007f': 'backspace',
  '\u0000': 'ctrl+space',
}

function typed(held: string): Found {
  const [text] = TEXT.exec(held) ?? []
  if (text !== undefined) return { press: { text }, length: text.length }
  const [character = ''] = held
  const name = CONTROLS[character]
  if (name !== undefined) return { press: { key: name }, length: 1 }
  const code = character.charCodeAt(0)
  if (code > 0x1f) return { press: null, length: 1 }
  return { press: { key: `ctrl+${String.fromCharCode(code + 0x60)}` }, length: 1 }
}

const LETTERS: Readonly<Record<string, string>> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  H: 'home',
  F: 'end',
  M: 'enter',
}

const NUMBERS: Readonly<Record<string, string>> = {
  1: 'home',
  2: 'insert',
  3: 'delete',
  4: 'end',
  5: 'pageup',
  6: 'pagedown',
  7: 'home',
  8: 'end',
}

/** Keys that newer terminals tell by the number of their character. */
const CODES: Readonly<Record<number, string>> = {
  9: 'tab',
  13: 'enter',
  27: 'escape',
  127: 'backspace',
  57414: 'enter',
}

function sequence(parameters: string, final: string): Press | null {
  if (/[<=>?]/.test(parameters)) return null
  const [first = '', second = '', third = ''] = parameters.split(';')
  const [modifiers = '', event] = second.split(':')
  if (event === '3') return null // a key that was let go
  if (final === 'u') return coded(Number(first.split(':')[0]), modifiers)
  if (final === '~' && first === '27') return coded(Number(third), modifiers)
  if (final === 'Z') return { key: 'shift+tab' }
  const name = final === '~' ? NUMBERS[first] : LETTERS[final]
  return name === undefined ? null : { key: withModifiers(name, modifiers) }
}

function coded(code: number, modifiers: string): Press | null {
  const name = CODES[code]
  if (name !== undefined) return { key: withModifiers(name, modifiers) }
  // Beyond these are keys without a character: of the keypad, of the shifts themselves.
  if (!(code >= 32 && code <= 0x10ffff) || (code >= 57344 && code <= 63743)) return null
  const character = String.fromCodePoint(code)
  const isText = !((Number(modifiers || 1) - 1) & 6)
  return isText ? { text: character } : { key: withModifiers(character.toLowerCase(), modifiers) }
}

function withModifiers(name: string, modifiers: string): string {
  const bits = Number(modifiers || 1) - 1
  return `${bits & 4 ? 'ctrl+' : ''}${bits & 2 ? 'alt+' : ''}${bits & 1 ? 'shift+' : ''}${name}`
}
