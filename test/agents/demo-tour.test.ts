import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { perform } from '../../src/agents/demo/real-tools.ts'
import { planOf, type Facts } from '../../src/agents/demo/script.ts'
import { stageAt } from '../../src/agents/demo/tour.ts'
import { TOUR_MESSAGE } from '../../src/core/tour.ts'

const home = mkdtempSync(join(tmpdir(), 'corral-tour-'))
after(() => rmSync(home, { recursive: true, force: true }))

const FACTS: Facts = {
  system: [],
  effort: null,
  remembered: null,
  attachments: [],
  directory: home,
  stage: 'directory',
}
const never = new AbortController().signal

function stageOf(path: string) {
  return stageAt(join(home, path), { CORRAL_HOME: home })
}

test('only a directory below the tours of the data directory is one', () => {
  mkdirSync(join(home, 'tours/one'), { recursive: true })
  mkdirSync(join(home, 'tours-not'), { recursive: true })
  symlinkSync(join(home, 'tours-not'), join(home, 'tours/link'))
  assert.equal(stageOf('tours/one'), 'directory')
  for (const path of ['tours', 'tours-not', 'tours/link', 'tours/gone'])
    assert.equal(stageOf(path), null, path)
  assert.equal(stageAt(join(home, 'tours/one'), {}), null)
})

test('and so is a worktree of a repository there, as far as git knows of it', () => {
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: home })
  for (const name of ['tours/two', 'own']) {
    git('init', '--quiet', name)
    git('-C', name, 'commit', '--quiet', '--allow-empty', '--message=first')
  }
  git('-C', 'tours/two', 'worktree', 'add', '--quiet', '../../worktrees/of-tour')
  git('-C', 'own', 'worktree', 'add', '--quiet', '../worktrees/of-own')
  cpSync(join(home, 'worktrees/of-tour'), join(home, 'worktrees/copied'), { recursive: true })
  assert.equal(stageOf('worktrees/of-tour'), 'worktree')
  for (const path of ['worktrees/of-own', 'own', 'worktrees/copied', 'worktrees'])
    assert.equal(stageOf(path), null, path)
})

test('only the tour itself has real tools; a script in the same directory pretends', () => {
  const calls = (text: string) =>
    planOf([{ by: 'user', text }], FACTS).flatMap((action) =>
      action.do === 'call' ? [action.real ?? false] : [],
    )
  assert.deepEqual(calls(TOUR_MESSAGE), [true, true, true])
  assert.deepEqual(calls('[[shell rm -rf .]]'), [false])
  assert.equal(planOf([{ by: 'user', text: TOUR_MESSAGE }], { ...FACTS, stage: null })[0]?.do, 'say')
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
  const said = (text: string, stage: Facts['stage'] = 'worktree'): string => {
    const [first] = planOf([{ by: 'tool', text }], { ...FACTS, stage })
    return first?.do === 'tell' ? first.text : ''
  }
  assert.match(said('ℹ tests 2\nℹ pass 2\nℹ fail 0'), /^Done: 2 tests pass/)
  assert.match(said('# tests 2\n# pass 2\n# fail 0'), /^Done: 2 tests pass/)
  assert.match(said('# pass 1\n# fail 1'), /^The test did not pass/)
  assert.match(said('Refused: not today'), /^You said no/)
  assert.match(said('Refused: not today'), /Press \*\*Merge\*\*/)
  assert.doesNotMatch(said('Refused: not today', 'directory'), /Merge/)
})
