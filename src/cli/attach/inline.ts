import type { MarkedToken, Token } from 'marked'
import { decoded, safeHref } from '../../core/markdown/link.ts'
import { clean } from '../format.ts'
import { span, textOfLine, type Line, type Look, type Span } from './spans.ts'

/** Deeper than people write; what is deeper is shown as it was written. */
const MAX_DEPTH = 24

/** What stands in a line of Markdown, as spans. `marks`: signs in place of colours. */
export function inlineSpans(
  tokens: readonly Token[],
  marks: boolean,
  looks: readonly Look[] = [],
  depth = 0,
): Line {
  return tokens.flatMap((token) => spansOf(token as MarkedToken, { marks, looks, depth }))
}

interface Pen {
  marks: boolean
  looks: readonly Look[]
  depth: number
}

function spansOf(token: MarkedToken, pen: Pen): Line {
  const { marks, looks, depth } = pen
  if (depth > MAX_DEPTH) return [plain(token.raw, pen)]
  const within = (tokens: readonly Token[], ...more: Look[]): Line =>
    inlineSpans(tokens, marks, [...looks, ...more], depth + 1)
  switch (token.type) {
    case 'text':
      return token.tokens ? within(token.tokens) : [plain(decoded(token.text), pen)]
    case 'escape':
      return [plain(token.text, pen)]
    case 'strong':
      return marked(within(token.tokens, 'bold'), marks, '**')
    case 'em':
      return marked(within(token.tokens, 'italic'), marks, '*')
    case 'del':
      return marked(within(token.tokens, 'strikethrough'), marks, '~~')
    case 'codespan':
      return marked([span(clean(token.text), ...looks, 'cyan')], marks, '`')
    case 'br':
      return [span('\n')]
    case 'link':
      return link(within(token.tokens, 'underline'), token.autolink ? token.href : decoded(token.href), pen)
    case 'image':
      return link([plain(decoded(token.text) || 'picture', pen)], decoded(token.href), pen)
    case 'html':
      return [/^<br\s*\/?>$/i.test(token.text) ? span('\n') : plain(token.text, pen)]
    default:
      return [plain(token.raw, pen)]
  }
}

function plain(text: string, { looks }: Pen): Span {
  return span(clean(text), ...looks)
}

function marked(line: Line, marks: boolean, sign: string): Line {
  return marks ? [span(sign), ...line, span(sign)] : line
}

/** The words, and the address behind them where it says more: a terminal has no other way to show where a link leads. */
function link(label: Line, href: string, { looks }: Pen): Line {
  const safe = safeHref(href) ?? href
  const words = textOfLine(label)
  const isSame = [href, safe, safe.replace(/^mailto:/, ''), safe.replace(/\/$/, '')].includes(words)
  return isSame || safe === '' ? label : [...label, span(` (${clean(safe)})`, ...looks, 'dim')]
}
