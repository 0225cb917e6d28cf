import { Lexer, type Token, type TokensList } from 'marked'

/*
 * Markdown's grammar is kind to those who want to stop a page: the time for a paragraph of nothing but `**_a` grows with the
 * square of its length, and every `>` of a thousand begins another quotation. Nobody writes that; where it comes, it is text.
 */

/** Quotations and lists in one another. */
const MAX_NESTED = 16
/** Beginnings and ends of emphasis, links and addresses in one paragraph. */
const MAX_MARKS = 200
const MARKS = /[*_~]+|\[|@|</g
/** Of these, one mark can be made of so many; in a longer row each counts. */
const MAX_ROW = 3
/** An address may begin at each letter of a word: longer ones are not looked at. */
const LONG_WORD = /\S{2000}/

class BoundedLexer extends Lexer {
  #depth = 0

  override blockTokens(src: string, tokens?: Token[], lastParagraphClipped?: boolean): Token[]
  override blockTokens(src: string, tokens?: TokensList, lastParagraphClipped?: boolean): TokensList
  override blockTokens(src: string, tokens: Token[] = [], lastParagraphClipped = false): Token[] {
    if (this.#depth >= MAX_NESTED) {
      tokens.push(textOf(src))
      return tokens
    }
    this.#depth++
    try {
      return super.blockTokens(src, tokens, lastParagraphClipped)
    } finally {
      this.#depth--
    }
  }

  override inlineTokens(src: string, tokens: Token[] = []): Token[] {
    if (!hasManyMarks(src) && !LONG_WORD.test(src)) return super.inlineTokens(src, tokens)
    tokens.push(textOf(src))
    return tokens
  }
}

/** The blocks of a text, each with all that is in it. What cannot be read at all is text. */
export function lexed(text: string): Token[] {
  try {
    return new BoundedLexer({ gfm: true }).lex(text)
  } catch {
    return [asItIs(text)]
  }
}

/** A text that is shown as it was written. */
export function asItIs(text: string): Token {
  return { type: 'html', raw: text, text, block: true, pre: true }
}

function textOf(src: string): Token {
  return { type: 'text', raw: src, text: src, escaped: false }
}

function hasManyMarks(src: string): boolean {
  if (src.length <= MAX_MARKS) return false
  let count = 0
  for (const [row] of src.matchAll(MARKS)) {
    count += row.length > MAX_ROW ? row.length : 1
    if (count > MAX_MARKS) return true
  }
  return false
}
