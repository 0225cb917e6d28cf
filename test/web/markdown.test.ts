import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ComponentChild, VNode } from 'preact'
import { blocksOf, createBlockReader, type Block } from '../../src/core/markdown/blocks.ts'
import { drawn, type CodePart } from '../../web/parts/markdown/render.ts'
import { HOSTILE } from './hostile.ts'

const Code: CodePart = () => null

type Properties = Record<string, unknown> & { children?: ComponentChild }

/** What was drawn, as elements with their properties, and texts. */
function* nodesIn(child: unknown): Generator<VNode<Properties> | string> {
  if (Array.isArray(child)) for (const one of child) yield* nodesIn(one)
  else if (typeof child === 'string' || typeof child === 'number') yield String(child)
  else if (typeof child === 'object' && child !== null) {
    const node = child as VNode<Properties>
    yield node
    yield* nodesIn(node.props.children)
  }
}

const draw = (text: string): ComponentChild[] =>
  blocksOf(text).map(({ token, live }) => drawn(token, Code, live))
const elements = (text: string) =>
  [...nodesIn(draw(text))].filter((node) => typeof node !== 'string').map((node) => node)
const names = (text: string) =>
  elements(text).map(({ type }) => (type === Code ? 'code block' : String(type)))
const words = (text: string) => [...nodesIn(draw(text))].filter((node) => typeof node === 'string').join('')

const kinds = (blocks: readonly Block[]) => blocks.map(({ token }) => [token.type, token.raw.trim()])

const EXAMPLE = `# Title

Some **bold** text with \`code\`,
a [link](https://example.com) and &lt;an entity&gt;.

1. one

2. two

   still two

- a
  - b
    - c

- [x] done
- [ ] open

| a | b |
|---|--:|
| 1 | 2 |

\`\`\`ts
const a = 1

const b = '[[x]]'
\`\`\`

> quoted
> twice

***

    indented code

the end`

describe('Markdown', () => {
  test('is drawn as elements', () => {
    assert.deepEqual(names('# a\n\nb **c** _d_ ~~e~~ `f`'), ['h2', 'p', 'strong', 'em', 'del', 'code'])
    assert.deepEqual(names('- [x] a\n- b'), ['ul', 'li', 'input', 'li'])
    assert.deepEqual(names('|a|\n|-|\n|b|'), ['div', 'table', 'thead', 'tr', 'th', 'tbody', 'tr', 'td'])
    assert.deepEqual(names('```js\nx\n```'), ['code block'])
    assert.deepEqual(names('a<br>b'), ['p', 'br'])
    assert.equal(words('a &amp; b &lt;i&gt; &#65; `&amp;` \\*'), 'a & b <i> A &amp; *')
  })

  test('a link leads to the web, in a window of its own, or nowhere', () => {
    const [, link] = elements('[a](https://example.com/?a=1&b=2)')
    assert.deepEqual(
      { ...link!.props, children: null },
      {
        href: 'https://example.com/?a=1&b=2',
        title: 'https://example.com/?a=1&b=2',
        target: '_blank',
        rel: 'noopener noreferrer',
        children: null,
      },
    )
    for (const away of ['[a](src/a.ts)', '[a](/etc)', '[a](javascript:x)', '![a](x.png)'])
      assert.deepEqual(names(away), ['p', 'span'], away)
  })

  test('a text that is streamed is drawn as the whole of it is in the end', () => {
    for (const size of [1, 3, 7, 20]) {
      const reader = createBlockReader()
      for (let end = size; end < EXAMPLE.length; end += size) reader.read(EXAMPLE.slice(0, end), true)
      assert.deepEqual(kinds(reader.read(EXAMPLE, true)), kinds(blocksOf(EXAMPLE)), `pieces of ${size}`)
      assert.deepEqual(kinds(reader.read(EXAMPLE, false)), kinds(blocksOf(EXAMPLE)))
    }
  })

  test('only the last blocks are read anew', () => {
    const reader = createBlockReader()
    const before = reader.read(EXAMPLE.slice(0, 300), true)
    const after = reader.read(EXAMPLE.slice(0, 320), true)
    const settled = before.filter(({ live }) => !live)
    assert.ok(settled.length >= 4, 'some are settled')
    for (const [at, block] of settled.entries()) assert.equal(after[at], block)
  })

  test('code is sure as soon as something stands behind its end', () => {
    const sure = (text: string): boolean | undefined => {
      const code = createBlockReader()
        .read(text, true)
        .find(({ token }) => token.type === 'code')
      return code && !code.live
    }
    assert.equal(sure('Look:\n\n```ts\nlet a'), false)
    assert.equal(sure('Look:\n\n```ts\nlet a\n```\n'), false)
    assert.equal(sure('Look:\n\n```ts\nlet a\n```\nIt'), true)
    assert.equal(sure('```ts\nlet a\n```\nIt'), true)
    // A line further down may still belong to it.
    assert.equal(sure('Look:\n\n    let a\n\nIt'), false)
  })

  test('a text that turns out to be another one is read from the beginning', () => {
    const reader = createBlockReader()
    reader.read('a\n\nb\n\nc\n\nd\n\ne', true)
    assert.deepEqual(kinds(reader.read('x\n\ny', true)), [
      ['paragraph', 'x'],
      ['paragraph', 'y'],
    ])
  })

  test('what is open at the end looks as it will', () => {
    const reader = createBlockReader()
    const [block] = reader.read('some **bo', true)
    assert.deepEqual(
      [...nodesIn(drawn(block!.token, Code, true))].map((node) =>
        typeof node === 'string' ? node : node.type,
      ),
      ['p', 'some ', 'strong', 'bo'],
    )
  })
})

const ELEMENTS = new Set(
  'p h2 h3 h4 h5 h6 ul ol li blockquote div table thead tbody tr th td hr br a span strong em del code input'.split(
    ' ',
  ),
)
const PROPERTIES = new Set(
  'children class href title target rel start tabIndex role aria-label type disabled checked lang text live'.split(
    ' ',
  ),
)

describe('hostile Markdown', () => {
  for (const text of HOSTILE) {
    test(JSON.stringify(text.slice(0, 60)), () => {
      const reader = createBlockReader()
      const streamed = Array.from({ length: 4 }, (_, at) => text.slice(0, (text.length * (at + 1)) / 4))
      const blocks = [...streamed.flatMap((part) => reader.read(part, true)), ...reader.read(text, false)]
      for (const node of nodesIn(blocks.map(({ token, live }) => drawn(token, Code, live)))) {
        // oxlint-disable-next-line no-control-regex -- none of them may be left
        if (typeof node === 'string') assert.doesNotMatch(node, /[\u0000-\u0008\u001b\u009b\u202a-\u202e]/)
        else check(node)
      }
    })
  }
})

/** Each took many seconds, which grew with the square of its length. */
const SLOW: Readonly<Record<string, string>> = {
  'a row of stars': `${'*'.repeat(100_000)}a`,
  'rows of other marks': `${'_*~'.repeat(30_000)}a`,
  'a word that could be an address': `${'a.'.repeat(50_000)}@`,
  'an address with many ends': `http://a.example/${'?!'.repeat(50_000)}`,
}

describe('Markdown that is made to stop a page', () => {
  for (const [name, text] of Object.entries(SLOW)) {
    test(`${name} is text`, { timeout: 2000 }, () => {
      const began = performance.now()
      assert.deepEqual(names(text), ['p'])
      assert.equal(words(text), text)
      assert.ok(performance.now() - began < 2000)
    })
  }

  test('what people write between rows of marks is still read', () => {
    assert.deepEqual(names(`Name: ${'_'.repeat(60)} **here**`), ['p', 'strong'])
  })
})

/** An element of the few that there are, with properties that run and load nothing. */
function check(node: VNode<Properties>): void {
  assert.ok(node.type === Code || ELEMENTS.has(String(node.type)), `element ${String(node.type)}`)
  for (const name of Object.keys(node.props)) assert.ok(PROPERTIES.has(name), `property ${name}`)
  const { href, type } = node.props
  if (href !== undefined) assert.match(String(href), /^(?:https?:\/\/|mailto:)/)
  if (node.type === 'input') assert.equal(type, 'checkbox')
}
