import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startDaemon } from '../support/daemon.ts'
import { MAIN } from '../support/program.ts'
import { exitOf, until } from '../support/wait.ts'
import { corral, daemonFor } from './support.ts'

test('the log of a daemon is shown, in words or as it is', async (t) => {
  const daemon = await daemonFor(t)
  // That it is ready is written down after it can be found.
  const words = /Z info +ready listeners=/
  await until(async () => words.test((await corral(daemon.env, ['logs'])).stdout), 'the log says ready')
  const [line] = (await corral(daemon.env, ['logs', '-n', '1', '--json'])).json()
  assert.equal(line!['level'], 'info')
  // Agents' words are not in it, but a path of theirs may be.
  appendFileSync(join(daemon.corralHome, 'corral.log'), 'no JSON \u001b[31mred\n')
  assert.ok(!(await corral(daemon.env, ['logs'])).stdout.includes('\u001b'))
})

test('the log is followed while the daemon restarts, and Ctrl-C ends it in order', async (t) => {
  const daemon = await startDaemon({ env: { CORRAL_LOG_MAX_BYTES: '65536', CORRAL_LOG_KEEP: '2' } })
  t.after(() => daemon.stop())
  const child = spawn(process.execPath, [MAIN, 'logs', '-f', '-n', '1'], { env: daemon.env })
  t.after(() => child.kill('SIGKILL'))
  let said = ''
  child.stdout.on('data', (data: Buffer) => (said += data.toString()))
  await until(() => said.includes('ready'), 'the last line')
  await daemon.terminate()
  await daemon.restart()
  await until(
    () => /stopping[^]*ready/.test(said),
    () => said,
  )
  const ended = exitOf(child, 'the follower ends')
  child.kill('SIGINT')
  assert.equal(await ended, 0)
})

test('without a log it says so', async (t) => {
  const daemon = await daemonFor(t)
  const outcome = await corral(daemon.env, ['logs', '--home', join(daemon.home, 'elsewhere')])
  assert.deepEqual([outcome.code, outcome.stdout], [0, ''])
  assert.match(outcome.stderr, /nothing was logged yet/)
})
