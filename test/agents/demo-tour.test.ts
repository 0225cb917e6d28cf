import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { perform } from '../../src/agents/demo/real-tools.ts'
import { planOf, type Facts } from '../../src/agents/demo/script.ts'
import { isTourDirectory } from '../../src/agents/demo/tour.ts'
import { TOUR_MESSAGE } from '../../src/core/tour.ts'

const home = mkdtempSync(join(tmpdir(), 'corral-tour-'))
after(() => rmSync(home, { recursive: true, force: true }))

const FACTS: Facts = {
  system: [],
  effort: null,
  remembered: null,
  attachments: [],
  directory: home,
  isTour: true,
}
const never = new AbortController().signal

test('only a directory below the tours of the data directory is one', () => {
  mkdirSync(join(home, 'tours/one'), { recursive: true })
  mkdirSync(join(home, 'tours-not'), { recursive: true })
  symlinkSync(join(home, 'tours-not'), join(home, 'tours/link'))
  const isTour = (path: string): boolean => isTourDirectory(join(home, path), { CORRAL_HOME: home })
  assert.equal(isTour('tours/one'), true)
  assert.equal(isTour('tours'), false)
  assert.equal(isTour('tours-not'), false)
  assert.equal(isTour('tours/link'), false)
  assert.equal(isTour('tours/gone'), false)
  assert.equal(isTourDirectory(join(home, 'tours/one'), {}), false)
})

test('only the tour itself has real tools; a script in the same directory pretends', () => {
  const calls = (text: string) =>
    planOf([{ by: 'user', text }], FACTS).flatMap((action) =>
      action.do === 'call' ? [action.real ?? false] : [],
    )
  assert.deepEqual(calls(TOUR_MESSAGE), [true, true, true])
  assert.deepEqual(calls('[[shell rm -rf .]]'), [false])
  assert.equal(planOf([{ by: 'user', text: TOUR_MESSAGE }], { ...FACTS, isTour: false })[0]?.do, 'say')
})

test('a file is written inside the directory and nowhere else', async () => {
  const call = (path: string) => ({ tool: 'Write', input: { path, content: 'a\n' } })
  assert.equal((await perform(call('sub/a.txt'), null, home, never)).isError, false)
  assert.equal(readFileSync(join(home, 'sub/a.txt'), 'utf8'), 'a\n')
  for (const path of ['../outside.txt', '/etc/nothing', '.', '..'])
    assert.equal((await perform(call(path), null, home, never)).isError, true, path)
})

test('a command tells what it printed and whether it failed', async () => {
  const shell = (command: string) => perform({ tool: 'Shell', input: { command } }, null, home, never)
  assert.deepEqual(await shell('echo out; echo err >&2'), { output: 'out\nerr', isError: false })
  assert.deepEqual(await shell('exit 3'), { output: '', isError: true })
})

test('the end of the tour says what came of the command', () => {
  const said = (text: string): string => {
    const [first] = planOf([{ by: 'tool', text }], FACTS)
    return first?.do === 'tell' ? first.text : ''
  }
  assert.match(said('ℹ tests 2\nℹ pass 2\nℹ fail 0'), /^Done: 2 tests pass/)
  assert.match(said('# tests 2\n# pass 2\n# fail 0'), /^Done: 2 tests pass/)
  assert.match(said('# pass 1\n# fail 1'), /^The test did not pass/)
  assert.match(said('Refused: not today'), /^You said no/)
})
