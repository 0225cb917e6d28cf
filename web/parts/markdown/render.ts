import { h, type ComponentChild, type ComponentType } from 'preact'
import type { MarkedToken, Token, Tokens } from 'marked'
import { inert } from '../inert.ts'
import { decoded, safeHref } from '../../../src/core/markdown/link.ts'

/** What draws a block of code. */
export type CodePart = ComponentType<{ lang: string; text: string; live: boolean }>

/** Deeper than people write; what is deeper is shown as it was written. */
const MAX_DEPTH = 24

interface Pen {
  code: CodePart
  live: boolean
  depth: number
}

/**
 * A block as elements. Nothing of it is ever HTML: tags are shown as the text that they are, links lead to the web or nowhere,
 * and pictures are links.
 */
export function drawn(token: Token, code: CodePart, live: boolean): ComponentChild {
  return draw(token, { code, live, depth: 0 })
}

function draw(given: Token, pen: Pen): ComponentChild {
  const token = given as MarkedToken
  if (pen.depth > MAX_DEPTH) return inert(token.raw)
  const inside = { ...pen, depth: pen.depth + 1 }
  switch (token.type) {
    case 'paragraph':
      return h('p', null, all(token.tokens, inside))
    case 'heading':
      return h(`h${Math.min(token.depth + 1, 6)}`, { class: `md-h${token.depth}` }, all(token.tokens, inside))
    case 'code':
      return h(pen.code, { lang: token.lang ?? '', text: token.text, live: pen.live })
    case 'list':
      return list(token, inside)
    case 'blockquote':
      return h('blockquote', null, all(token.tokens, inside))
    case 'table':
      return table(token, inside)
    case 'hr':
      return h('hr', null)
    case 'html':
      return html(token)
    case 'space':
    case 'def':
      return null
    default:
      return inline(token, inside)
  }
}

function inline(token: MarkedToken, pen: Pen): ComponentChild {
  switch (token.type) {
    case 'text':
      return token.tokens ? all(token.tokens, pen) : inert(decoded(token.text))
    case 'escape':
      return inert(token.text)
    case 'strong':
    case 'em':
    case 'del':
      return h(token.type, null, all(token.tokens, pen))
    case 'codespan':
      return h('code', null, inert(token.text))
    case 'br':
      return h('br', null)
    case 'link':
      return link(token.autolink ? token.href : decoded(token.href), all(token.tokens, pen))
    case 'image':
      return link(decoded(token.href), inert(decoded(token.text)) || 'picture')
    case 'checkbox':
      return h('input', { type: 'checkbox', disabled: true, checked: token.checked, 'aria-label': 'done' })
    default:
      return inert(token.raw)
  }
}

function all(tokens: readonly Token[], pen: Pen): ComponentChild[] {
  return tokens.map((token) => draw(token, pen))
}

function html({ text, block }: Tokens.HTML | Tokens.Tag): ComponentChild {
  if (!block) return /^<br\s*\/?>$/i.test(text) ? h('br', null) : inert(text)
  return h('p', { class: 'md-asis' }, inert(text.trimEnd()))
}

function link(href: string, label: ComponentChild | ComponentChild[]): ComponentChild {
  const safe = safeHref(href)
  if (safe === null) return h('span', { class: 'md-nowhere', title: inert(href) }, label)
  return h('a', { href: safe, title: inert(safe), target: '_blank', rel: 'noopener noreferrer' }, label)
}

function list({ ordered, start, items }: Tokens.List, pen: Pen): ComponentChild {
  const rows = items.map((item) => h('li', item.task ? { class: 'md-task' } : null, all(item.tokens, pen)))
  return ordered ? h('ol', start === 1 || start === '' ? null : { start }, rows) : h('ul', null, rows)
}

function table({ header, rows, align }: Tokens.Table, pen: Pen): ComponentChild {
  const cell =
    (name: 'th' | 'td') =>
    (one: Tokens.TableCell, at: number): ComponentChild =>
      h(name, align[at] ? { class: `md-${align[at]}` } : null, all(one.tokens, pen))
  const head = h('thead', null, h('tr', null, header.map(cell('th'))))
  const body = h(
    'tbody',
    null,
    rows.map((row) => h('tr', null, row.map(cell('td')))),
  )
  return h(
    'div',
    { class: 'md-table', tabIndex: 0, role: 'region', 'aria-label': 'Table' },
    h('table', null, head, body),
  )
}
