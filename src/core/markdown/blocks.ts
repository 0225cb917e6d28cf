import type { Token } from 'marked'
import remend from 'remend'
import { asItIs, lexed } from './lexer.ts'

/** One paragraph, list, table or the like of a message: what is drawn, and drawn again, as a whole. */
export interface Block {
  readonly token: Token
  /** More of it may come. */
  readonly live: boolean
}

/** Longer texts are shown as they are: nobody reads them for their looks. */
const MAX_TEXT = 120_000
/** What the last blocks are may still change by what comes: `2` turns into the second item of the list before. */
const UNSURE = 2

/** Healing looks at all of a text again and again: a long tail is shown as it is. */
const MAX_HEALED = 10_000

/** What is open at the end is closed, so that it looks as it will. What would change the text before the end is left alone. */
const HEAL = {
  comparisonOperators: false,
  htmlTags: false,
  images: false,
  katex: false,
  singleTilde: false,
  linkMode: 'text-only',
} as const

/** Reads a text that grows. Only its last blocks are read anew; the others are the very same objects as before. */
export interface BlockReader {
  read(text: string, isOpen: boolean): readonly Block[]
}

export function createBlockReader(): BlockReader {
  let settled: Block[] = []
  let settledText = ''
  let last: { text: string; isOpen: boolean; blocks: readonly Block[] } | null = null

  function begin(): void {
    settled = []
    settledText = ''
  }

  function readOn(text: string): readonly Block[] {
    if (!text.startsWith(settledText)) begin()
    const tail = text.slice(settledText.length)
    const tokens = tokensOf(tail.length > MAX_HEALED ? tail : remend(tail, HEAL))
    const sure = tokens.slice(0, Math.max(0, tokens.length - UNSURE))
    const raw = sure.map((token) => token.raw).join('')
    if (sure.length === 0 || !tail.startsWith(raw)) return [...settled, ...tokens.map(unsure)]
    settled = [...settled, ...sure.map(whole)]
    settledText += raw
    return [...settled, ...tokens.slice(sure.length).map(unsure)]
  }

  return {
    read(given, isOpen) {
      if (last?.text === given && last.isOpen === isOpen) return last.blocks
      const text = given.includes('\r') ? given.replace(/\r\n?/g, '\n') : given
      if (!isOpen) begin()
      const blocks = text.length > MAX_TEXT ? [whole(asItIs(text))] : isOpen ? readOn(text) : blocksOf(text)
      last = { text: given, isOpen, blocks }
      return blocks
    },
  }
}

/** The blocks of a text that is complete. */
export function blocksOf(text: string): readonly Block[] {
  return tokensOf(text).map(whole)
}

const whole = (token: Token): Block => ({ token, live: false })
/** Code between fences that something stands behind has its end: nothing that comes is part of it. */
const unsure = (token: Token, at: number, all: readonly Token[]): Block => ({
  token,
  live: at === all.length - 1 || token.type !== 'code' || token['codeBlockStyle'] === 'indented',
})

/** Blank lines belong to the block before them. */
function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  for (const token of lexed(text)) {
    const before = tokens.at(-1)
    if (token.type !== 'space' || !before) tokens.push(token)
    else before.raw += token.raw
  }
  return tokens
}
