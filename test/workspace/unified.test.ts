import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseUnifiedDiff } from '../../src/workspace/unified.ts'

const CHANGE = `diff --git a/a b.txt b/a b.txt
index 1..2 100644
--- a/a b.txt\t
+++ b/a b.txt\t
@@ -1,3 +1,3 @@ function x() {
 one\r
--- two
+++ deux
 three
@@ -9 +9,0 @@
-nine
\\ No newline at end of file
`

test('hunks, with a removed line that looks like a header', () => {
  const [file, ...rest] = parseUnifiedDiff(CHANGE)
  assert.equal(rest.length, 0)
  assert.deepEqual(
    { ...file, hunks: file?.hunks.length },
    { path: 'a b.txt', oldPath: 'a b.txt', change: 'modified', isBinary: false, hunks: 2 },
  )
  const [first, second] = file!.hunks
  assert.deepEqual(first, {
    header: '@@ -1,3 +1,3 @@ function x() {',
    oldStart: 1,
    oldLines: 3,
    newStart: 1,
    newLines: 3,
    lines: [
      { type: 'context', content: 'one\r', oldLineNo: 1, newLineNo: 1 },
      { type: 'removed', content: '-- two', oldLineNo: 2, newLineNo: null },
      { type: 'added', content: '++ deux', oldLineNo: null, newLineNo: 2 },
      { type: 'context', content: 'three', oldLineNo: 3, newLineNo: 3 },
    ],
  })
  assert.deepEqual(second?.lines, [
    { type: 'removed', content: 'nine', oldLineNo: 9, newLineNo: null, noNewline: true },
  ])
})

test('files without hunks: renamed, empty, mode, binary; and several in one text', () => {
  const text = [
    'diff --git a/old b/new\nsimilarity index 100%\nrename from old\nrename to new\n',
    'diff --git a/empty x b/empty x\nnew file mode 100644\nindex 0..e\n',
    'diff --git a/run b/run\nold mode 100644\nnew mode 100755\n',
    'diff --git a/p.png b/p.png\nindex 1..2\nBinary files a/p.png and b/p.png differ\n',
    '* Unmerged path both\n',
    'diff --git "a/q\\"\\n\\303\\244" "b/q\\"\\n\\303\\244"\ndeleted file mode 100644\nindex 1..0\n' +
      '--- "a/q\\"\\n\\303\\244"\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n',
    'diff --git "a/e\\ty" "b/e\\ty"\nnew file mode 100644\n',
  ].join('')
  const files = parseUnifiedDiff(text).map(({ path, oldPath, change, isBinary, hunks }) => {
    return [change, path, oldPath, isBinary, hunks.length]
  })
  assert.deepEqual(files, [
    ['renamed', 'new', 'old', false, 0],
    ['added', 'empty x', null, false, 0],
    ['modified', 'run', 'run', false, 0],
    ['modified', 'p.png', 'p.png', true, 0],
    ['deleted', 'q"\nä', 'q"\nä', false, 1],
    ['added', 'e\ty', null, false, 0],
  ])
})

test('nothing, nonsense, and a text that was cut', () => {
  assert.deepEqual(parseUnifiedDiff(''), [])
  assert.deepEqual(parseUnifiedDiff('hello\n@@ -1 +1 @@\n-a\n+b\n'), [])
  const [file] = parseUnifiedDiff(CHANGE.slice(0, CHANGE.indexOf('+++ deux')))
  assert.equal(file?.hunks[0]?.lines.length, 2)
})
