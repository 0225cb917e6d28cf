import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileChanges } from '../../src/core/diff/edit.ts'
import { newBudget } from '../../src/core/diff/budget.ts'
import { fitting, type FoundHunk } from '../../src/core/diff/hunks.ts'
import { patchedFiles } from '../../src/core/diff/patch.ts'
import { hunksBetween } from '../../src/core/diff/texts.ts'
import type { FileChange, Hunk } from '../../src/core/file-change.ts'
import { randomly } from '../support/random.ts'
import { aQuestion } from '../support/session.ts'

const changes = (tool: string, input: unknown): FileChange[] | null =>
  fileChanges(aQuestion('q', { tool, input }), '/project')

const only = (tool: string, input: unknown): FileChange => {
  const [file, ...more] = changes(tool, input) ?? []
  assert.ok(file && more.length === 0)
  return file
}

const shown = ({ hunks }: FileChange): string[] =>
  hunks.flatMap(({ lines }) => lines.map(({ kind, text }) => kind + text))

const between = (before: string, after: string): readonly Hunk[] => {
  const hunks = hunksBetween(before, after, newBudget())
  return fitting({ path: 'a', oldPath: null, status: 'modified', hunks }, newBudget()).hunks
}

const numbered = (lines: readonly string[]): string => `${lines.join('\n')}\n`

test("Claude's edits are told as hunks: of a piece, of several, of a whole file", () => {
  const edit = only('Edit', {
    file_path: '/project/src/a.ts',
    old_string: 'one\ntwo',
    new_string: 'one\n2\nthree',
  })
  assert.deepEqual(edit, {
    path: 'src/a.ts',
    oldPath: null,
    status: 'modified',
    isBinary: false,
    additions: 2,
    deletions: 1,
    hunks: [
      {
        oldStart: 1,
        oldLines: 2,
        newStart: 1,
        newLines: 3,
        header: '',
        lines: [
          { kind: ' ', text: 'one', old: 1, new: 1 },
          { kind: '-', text: 'two', old: 2, new: null },
          { kind: '+', text: '2', old: null, new: 2 },
          { kind: '+', text: 'three', old: null, new: 3 },
        ],
      },
    ],
    truncated: false,
  })
  const edits = [
    { old_string: 'a', new_string: 'b' },
    { old_string: 'c', new_string: '' },
  ]
  const several = only('MultiEdit', { file_path: '/etc/hosts', edits })
  assert.deepEqual([several.path, shown(several)], ['/etc/hosts', ['-a', '+b', '-c']])
  const whole = only('Write', { file_path: 'new.txt', content: 'x\ny\n' })
  assert.deepEqual([whole.path, whole.status, shown(whole)], ['new.txt', 'added', ['+x', '+y']])
  assert.deepEqual([whole.hunks[0]!.oldStart, whole.hunks[0]!.newStart], [0, 1])
  assert.deepEqual(
    shown(only('Edit', { path: 'a', before: 'x', after: 'y' })),
    ['-x', '+y'],
    "the demo agent's",
  )
})

test("Codex's patches are told file by file, also moved ones and those that were cut", () => {
  const patch = '@@ -3,2 +3,2 @@ function main\n same\n-old\n+new\n'
  const input = {
    changes: [
      { path: '/project/a.txt', kind: 'add', diff: 'fresh\n' },
      { path: '/project/b.txt', kind: 'delete', diff: 'gone\n' },
      { path: '/project/c.txt', to: '/project/d.txt', kind: 'update', diff: patch, cut: 5 },
    ],
  }
  const [added, deleted, moved] = changes('fileChange', input)!
  assert.deepEqual([added!.path, added!.status, shown(added!)], ['a.txt', 'added', ['+fresh']])
  assert.deepEqual([deleted!.status, shown(deleted!), deleted!.deletions], ['deleted', ['-gone'], 1])
  assert.deepEqual([moved!.path, moved!.oldPath, moved!.status], ['d.txt', 'c.txt', 'renamed'])
  assert.deepEqual([moved!.truncated, moved!.hunks[0]!.header], [true, 'function main'])
  assert.deepEqual(moved!.hunks[0]!.lines.at(-1), { kind: '+', text: 'new', old: null, new: 4 })
})

test("OpenCode's, Gemini's and other ACP agents' edits", () => {
  const diff = [
    'Index: /project/w.txt',
    '===================================================================',
    '--- /project/w.txt',
    '+++ /project/w.txt',
    '@@ -0,0 +1,1 @@',
    '+fresh content',
    '',
  ].join('\n')
  const opencode = only('Edit', { filepath: '/project/w.txt', diff })
  assert.deepEqual([opencode.path, opencode.status, shown(opencode)], ['w.txt', 'added', ['+fresh content']])
  const gemini = only('Edit', { path: '/project/w.txt', oldText: 'a\nb\n', newText: 'a\nc\n' })
  assert.deepEqual(shown(gemini), [' a', '-b', '+c'])
})

test('what is no edit, or does not tell, has no changes', () => {
  assert.equal(changes('Bash', { command: 'rm x', content: 'y' }), null)
  assert.equal(changes('Edit', { file_path: 'a' }), null)
  assert.equal(changes('Edit', null), null)
  assert.equal(changes('Write', { content: 'nowhere' }), null)
  assert.equal(changes('fileChange', { changes: [null, 3, { path: 'a' }] }), null)
  assert.equal(fileChanges(aQuestion('q', { kind: 'question', tool: 'Edit', input: {} }), '/'), null)
})

test('a patch may have several files, lose the space of an empty line, and have lines that look like headers', () => {
  const text = [
    '--- a/one',
    '+++ b/one\t2026-01-01',
    '@@ -1,3 +1,2 @@',
    '--- a list in a comment',
    '',
    ' end',
    '\\ No newline at end of file',
    '--- /dev/null',
    '+++ b/two',
    '@@ -0,0 +1 @@',
    '+++ x',
    'nonsense',
  ].join('\n')
  const files = patchedFiles(text)
  const lines = (hunks: FoundHunk[]): string[] =>
    hunks.flatMap(({ runs }) => runs.flatMap(({ kind, texts }) => texts.map((text) => kind + text)))
  assert.deepEqual(
    files.map(({ path, hunks }) => [path, lines(hunks)]),
    [
      ['one', ['--- a list in a comment', ' ', ' end']],
      ['two', ['+++ x']],
    ],
  )
})

/** The new version, made from the old one and the hunks. */
function patched(before: readonly string[], hunks: readonly Hunk[]): string[] {
  const after: string[] = []
  let at = 0
  for (const { oldStart, oldLines, lines } of hunks) {
    const start = oldLines === 0 ? oldStart : oldStart - 1
    after.push(...before.slice(at, start))
    for (const { kind, text, old } of lines) {
      if (kind !== '+') assert.equal(text, before[old! - 1])
      if (kind !== '-') after.push(text)
    }
    at = start + oldLines
  }
  return [...after, ...before.slice(at)]
}

test('hunks lead from the one text to the other, with their numbers, whatever the texts are', () => {
  const random = randomly(7)
  for (let round = 0; round < 300; round++) {
    const words = 2 + random(30)
    const line = (): string => `l${random(words)}`
    const before = Array.from({ length: random(40) }, line)
    const after = before.flatMap((text) => (random(6) === 0 ? [] : random(6) === 0 ? [text, line()] : [text]))
    const hunks = between(numbered(before), numbered(after))
    if (before.length > 0 && after.length > 0) assert.deepEqual(patched(before, hunks), after)
    for (const { oldLines, newLines, newStart, lines } of hunks) {
      assert.equal(lines.filter(({ kind }) => kind !== '+').length, oldLines)
      assert.equal(lines.filter(({ kind }) => kind !== '-').length, newLines)
      const first = lines.find((one) => one.new !== null)
      if (first) assert.equal(first.new, newStart)
      assert.notEqual(lines[0]!.kind + lines.at(-1)!.kind, '', 'never empty')
    }
  }
})

test('changes that are far from each other are hunks of their own, with three lines around them', () => {
  const before = Array.from({ length: 40 }, (_, n) => `line ${n + 1}`)
  const after = before.with(4, 'five').with(8, 'nine').with(30, 'thirty-one')
  const hunks = between(numbered(before), numbered(after))
  assert.deepEqual(
    hunks.map(({ oldStart, oldLines }) => [oldStart, oldLines]),
    [
      [2, 11],
      [28, 7],
    ],
  )
})

test('what is very long is cut and says so; what differs too much is all old and all new', () => {
  const random = randomly(3)
  const text = (lines: number): string =>
    numbered(Array.from({ length: lines }, () => `l${random(1_000_000)}`))
  const large = only('Edit', { file_path: 'a', old_string: text(60_000), new_string: text(60_000) })
  assert.deepEqual([large.additions, large.deletions, large.truncated], [60_000, 60_000, true])
  assert.equal(shown(large).length, 4000)
  const long = only('Write', { file_path: 'a', content: 'x'.repeat(1024 ** 2) })
  assert.deepEqual([long.additions, long.truncated, shown(long)[0]!.length], [1, true, 2002])
  const edits = Array.from({ length: 500 }, () => ({ old_string: text(1000), new_string: text(1000) }))
  const many = only('MultiEdit', { file_path: 'a', edits })
  assert.deepEqual([many.additions, many.truncated], [500_000, true])
  const empty = only('Write', { file_path: 'a', content: '\n'.repeat(1024 ** 2) })
  assert.deepEqual([empty.additions, empty.truncated], [1024 ** 2, true])
})
