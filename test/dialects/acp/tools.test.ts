import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { outputContent, viewTool } from '../../../src/dialects/acp/tools.ts'

const CWD = '/project'

describe('a tool call', () => {
  for (const [tool, kind] of [
    ['Bash', 'execute'],
    ['run_shell_command', 'execute'],
    ['Read', 'read'],
    ['MultiEdit', 'edit'],
    ['write_file', 'edit'],
    ['Grep', 'search'],
    ['WebFetch', 'fetch'],
    ['Task', 'think'],
    ['ExitPlanMode', 'switch_mode'],
    ['mcp__files__read', 'other'],
  ] as const) {
    test(`${tool} is of the kind ${kind}`, () => assert.equal(viewTool(tool, {}, CWD).kind, kind))
  }

  test('shows where it works and what it changes, with absolute paths', () => {
    const edits = [
      { old_string: 'a', new_string: 'b' },
      { old_string: 'c', new_string: 'd' },
    ]
    const view = viewTool('MultiEdit', { file_path: 'src/x.ts', edits }, CWD)
    const path = '/project/src/x.ts'
    assert.deepEqual(view.locations, [{ path }])
    assert.deepEqual(view.content, [
      { type: 'diff', path, oldText: 'a', newText: 'b' },
      { type: 'diff', path, oldText: 'c', newText: 'd' },
    ])
    assert.equal(view.title, 'MultiEdit `src/x.ts`')
    assert.deepEqual(viewTool('Write', { file_path: '/etc/x', content: 'new' }, CWD).content, [
      { type: 'diff', path: '/etc/x', oldText: null, newText: 'new' },
    ])
    assert.deepEqual(viewTool('Read', { file_path: 'a', content: 'x' }, CWD).content, [])
  })

  test('shows all of a command, however long', () => {
    const long = `echo ${'x'.repeat(300)}\nrm -rf build`
    const { title, content } = viewTool('Bash', { command: long }, CWD)
    assert.ok(title.length < 210)
    assert.match(JSON.stringify(content), /rm -rf build/)
    assert.deepEqual(viewTool('Bash', { command: 'ls' }, CWD).content, [])
    assert.equal(viewTool('Bash', { command: 'echo `pwd`' }, CWD).title, '`` echo `pwd` ``')
  })

  test('bears any input', () => {
    for (const input of [
      null,
      undefined,
      7,
      'text',
      [],
      { path: 7 },
      { edits: 'no' },
      { questions: [null] },
    ]) {
      assert.equal(viewTool('Edit', input, CWD).name, 'Edit')
    }
  })

  test('gives back what a fence cannot break out of', () => {
    assert.deepEqual(outputContent('execute', '', 0), [])
    const [shown] = outputContent('execute', 'a\n```\nb', 12)
    assert.ok(shown?.type === 'content' && shown.content.type === 'text')
    assert.equal(shown.content.text, '````\na\n```\nb\n… (12 more bytes)\n````')
  })
})
