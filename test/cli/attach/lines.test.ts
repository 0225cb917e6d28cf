import assert from 'node:assert/strict'
import { test } from 'node:test'
import { askedLines } from '../../../src/cli/attach/asked.ts'
import { createItemPainter } from '../../../src/cli/attach/items.ts'
import { lineWidth, textOfLine, type Line } from '../../../src/cli/attach/spans.ts'
import type { Item } from '../../../src/cli/attach/transcript.ts'
import { HOSTILE } from '../../support/hostile.ts'

const SHEET = { width: 30, marks: false, opened: false, cwd: '/work' }

function linesOf(text: string, sheet: Partial<typeof SHEET> = {}, open = false): Line[] {
  const item: Item = {
    id: 'said:1',
    kind: 'said',
    text,
    thinking: false,
    open,
    aborted: false,
    nested: false,
  }
  return createItemPainter().linesOf(item, { ...SHEET, ...sheet })
}

const shown = (text: string, sheet: Partial<typeof SHEET> = {}): string =>
  linesOf(text, sheet).map(textOfLine).join('\n')

test('paragraphs, lists, quotations and code at a width', () => {
  assert.equal(
    shown(
      'A paragraph that is **longer** than thirty columns.\n\n1. one\n2. two is long enough to be wrapped\n   - nested\n\n> quoted\n\n```sh\necho a very long command line indeed\n```',
    ),
    [
      'A paragraph that is longer',
      'than thirty columns.',
      '',
      '1. one',
      '2. two is long enough to be',
      '   wrapped',
      '   • nested',
      '',
      '│ quoted',
      '',
      '  echo a very long command lin',
      '  e indeed',
    ].join('\n'),
  )
})

test('links are text, with the address where it says more', () => {
  assert.equal(shown('[here](https://a.b/c) https://a.b'), 'here (https://a.b/c)\nhttps://a.b')
})

test('a table fits, wraps, or becomes a list', () => {
  const table = '| name | what it does |\n|---|---:|\n| a | the first one of them all |\n| b | x |'
  assert.equal(
    shown(table, { width: 24 }),
    [
      'name │      what it does',
      '─────┼──────────────────',
      'a    │  the first one of',
      '     │          them all',
      'b    │                 x',
    ].join('\n'),
  )
  assert.equal(
    shown('| aaaaaaaa | bbbbbbbb | cccccccc |\n|-|-|-|\n| 1 | 2 | 3 |', { width: 16 }),
    'aaaaaaaa: 1\nbbbbbbbb: 2\ncccccccc: 3',
  )
})

test('without colours, signs say what is what', () => {
  assert.equal(shown('## Title\n\n`code` **bold**', { marks: true }), '## Title\n\n`code` **bold**')
})

test('code that grows gets its colours when it is complete', () => {
  const text = '```js\nlet a = 1\n```\n'
  const looks = (lines: Line[]): string[] => lines.flat().flatMap((span) => [...span.looks])
  assert.deepEqual(looks(linesOf(text, {}, true)), [])
  assert.ok(looks(linesOf(text)).includes('magenta'))
})

test('nothing that anybody says is wider than the screen, or can command it', () => {
  for (const text of HOSTILE.filter((one) => one.length < 5000)) {
    for (const width of [12, 40]) {
      for (const line of linesOf(text, { width })) {
        assert.ok(lineWidth(line) <= width, JSON.stringify([text.slice(0, 80), textOfLine(line)]))
        // oxlint-disable-next-line no-control-regex -- that is what they are
        assert.doesNotMatch(textOfLine(line), /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)
      }
    }
  }
})

const CALL = {
  kind: 'call',
  id: 'call:1',
  tool: 'Bash',
  input: { command: 'npm test' },
  state: 'done',
  output: 'a\nb',
  cut: 0,
  nested: false,
} as const

test('a call is one line, and opens', () => {
  const painter = createItemPainter()
  const text = (item: Item, opened: boolean): string[] =>
    painter.linesOf(item, { ...SHEET, opened }).map(textOfLine)
  assert.deepEqual(text(CALL, false), ['  ✓ Bash npm test · 2 lines'])
  assert.deepEqual(text(CALL, true), [
    '  ✓ Bash npm test · 2 lines',
    '    command: npm test',
    '    │ a',
    '    │ b',
  ])
  const failed = { ...CALL, state: 'failed', output: 'exit 1\nmore' } as const
  assert.deepEqual(text(failed, false), ['  ✗ Bash npm test · exit 1'])
  const edit = {
    ...CALL,
    tool: 'Edit',
    input: { file_path: '/work/a.ts', old_string: 'x\ny', new_string: 'x\nz' },
  } as const
  assert.deepEqual(text(edit, true).slice(0, 5), [
    '  ✓ Edit a.ts · 2 lines',
    '    modified a.ts +1 -1',
    '    1  x',
    '    2 -y',
    '    2 +z',
  ])
})

test('what a command hides is shown before it is decided about', () => {
  const approval = {
    id: 'a',
    requestId: 'r',
    kind: 'tool',
    tool: 'Bash',
    input: { command: 'ls \u001b[8m; rm x\u001b[0m' },
    edits: false,
    callId: null,
    summary: null,
    suggestions: null,
    parent: null,
  } as const
  const text = askedLines(approval, { width: 60, marks: false }, '/work').map(textOfLine).join('\n')
  assert.equal(text, '? may the agent use Bash?\n  command: ls ⟨U+001B⟩[8m; rm x⟨U+001B⟩[0m')
})
