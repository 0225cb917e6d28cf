import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { goOn, HELD } from '../support/held.ts'
import { until } from '../support/wait.ts'
import { aPlace, type Place } from '../workspace/support.ts'
import { corral, type Outcome } from './support.ts'

let daemon: TestDaemon
let place: Place
before(async () => {
  place = aPlace()
  daemon = await startDaemon({ env: { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' } })
})
after(async () => {
  await daemon.stop()
  place.close()
})

async function run(code: number, ...args: string[]): Promise<Outcome> {
  const outcome = await corral(daemon.env, args)
  assert.equal(outcome.code, code, outcome.stdout + outcome.stderr)
  return outcome
}

test('changes of a turn are shown, looked at before they are taken back, and brought back again', async () => {
  const repo = place.repo('shown', { 'a.txt': 'one\n' })
  const made = await run(0, 'new', '--agent', 'demo', '--cwd', repo.path, '--no-wait', HELD)
  const sessionId = made.stdout.trim().split('\n')[0]!
  await until(async () => (await run(0, 'approval', 'ls', '--quiet')).stdout !== '', 'the agent is at work')
  repo.write('a.txt', 'two \u001b[31mred\n')
  const answering = goOn(daemon, sessionId)
  await Promise.all([answering, run(0, 'send', sessionId, '[[say done]]')])
  const { stdout: quiet } = await run(0, 'checkpoint', 'ls', sessionId, '--quiet')
  const turn = quiet.trim().split('\n').at(-1)!
  assert.match((await run(0, 'checkpoints', sessionId)).stdout, /changed 1 file/)
  const shown = await run(0, 'changes', sessionId, '--turn', turn)
  assert.match(shown.stdout, /^modified a\.txt \(\+1 -1\)\n@@ -1,1 \+1,1 @@\n-one\n\+two red\n$/)
  assert.match((await run(0, 'changes', sessionId)).stderr, /nothing has changed/)
  assert.match((await run(0, 'changes', sessionId, '--session')).stdout, /-one/)
  assert.match((await run(0, 'changes', sessionId, '--uncommitted')).stdout, /-one/)
  const preview = await run(0, 'restore', sessionId, turn)
  assert.match(preview.stdout, /\+one/)
  assert.match(preview.stderr, /add --yes$/m)
  const read = (): string => readFileSync(join(repo.path, 'a.txt'), 'utf8')
  assert.notEqual(read(), 'one\n')
  const restored = await run(0, 'restore', sessionId, turn, '--yes')
  assert.equal(read(), 'one\n')
  const [, undo] = /corral restore \S+ (\S+) --yes/.exec(restored.stderr) ?? []
  repo.write('a.txt', 'mine\n')
  assert.match((await run(1, 'restore', sessionId, undo!)).stderr, /changed since the last turn/)
  assert.match((await run(1, 'restore', sessionId, undo!, '--yes')).stderr, /would lose work/)
  await run(0, 'restore', sessionId, undo!, '--yes', '--force')
  assert.match(read(), /^two/)
})
