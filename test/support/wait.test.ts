import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { arrival, until } from './wait.ts'

test('a fact is waited for, and what it was is given back', async () => {
  let looks = 0
  const answers = [null, '', 0, undefined, 'here', 'too far']
  assert.equal(await until(() => answers[looks++]), 'here')
  assert.equal(await until(() => Promise.resolve(answers[looks++])), 'too far')
})

test('an assertion that fails is "not yet", any other error is thrown at once', async () => {
  let looks = 0
  await until(() => {
    assert.equal(looks++, 3)
    return true
  })
  assert.equal(looks, 4)
  const broken = (): never => {
    throw new TypeError(`look ${++looks}`)
  }
  await assert.rejects(until(broken), /look 5/)
  await assert.rejects(arrival(Promise.reject(new assert.AssertionError({ message: 'no' })), 'it'), /no/)
})

/** Has the runner run tests that wait in vain, each in a file of its own, with three seconds for each: all at the same time. */
function report(t: { after(done: () => void): void }, ...tests: string[]): string {
  const dir = mkdtempSync(join(tmpdir(), 'corral-wait-'))
  t.after(() => rmSync(dir, { recursive: true }))
  const own = join(import.meta.dirname, 'wait.ts')
  const head = `import assert from 'node:assert/strict'; import { test } from 'node:test'
    import { arrival, until } from '${own}'; const sleep = (ms) => new Promise((r) => setTimeout(r, ms))\n`
  const files = tests.map((body, at) => join(dir, `vain-${at}.test.ts`))
  for (const [at, file] of files.entries()) writeFileSync(file, `${head}test('vain', ${tests[at]})`)
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const args = [
    '--test',
    '--test-timeout=3000',
    `--test-concurrency=${files.length}`,
    '--test-reporter=tap',
    ...files,
  ]
  return spawnSync(process.execPath, args, { encoding: 'utf8', env }).stdout
}

test('when the time of the test runs out the error names the fact and what was seen last', (t) => {
  const said = report(
    t,
    `() => until(() => 0, 'the tide turns')`,
    `() => until(() => assert.equal(1, 2, 'one is not two'), () => 'numbers agree')`,
    `() => until(() => new Promise(() => {}), 'an answer')`,
    `() => arrival(new Promise(() => {}), 'an event')`,
    `() => until(() => [].at(0))`,
  )
  assert.match(said, /waited in vain: the tide turns\n\s*seen last: 0/)
  assert.match(said, /waited in vain: numbers agree\n\s*seen last: AssertionError.*one is not two/)
  for (const what of ['an answer', 'an event', '() => [].at(0)']) {
    assert.ok(said.includes(`waited in vain: ${what}`), said)
  }
  assert.doesNotMatch(said, /timed out/)
})

test('the time is that of the whole test, not of the wait', (t) => {
  const said = report(
    t,
    `async () => { await sleep(2000); await until(() => 0, 'it is late') }`,
    `async () => { await until(() => sleep(1500).then(() => true)); await until(() => 0, 'it is later') }`,
  )
  assert.match(said, /waited in vain: it is late\n/)
  assert.match(said, /waited in vain: it is later\n/)
})
