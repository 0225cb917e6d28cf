import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { MAIN } from '../../support/program.ts'
import { until } from '../../support/wait.ts'
import { clientFor, type Line } from './support.ts'

const DOCS = readFileSync(new URL('../../../docs/loaf.md', import.meta.url), 'utf8')

let daemon: TestDaemon

before(async () => {
  daemon = await startDaemon()
})

after(() => daemon.stop())

test('the lines of docs/loaf.md can be pasted', async (t) => {
  const client = clientFor(t, daemon)
  const lines = DOCS.split('\n').filter((line) => line.startsWith('{"jsonrpc"'))
  assert.equal(lines.length, 10)
  let sessionId = ''
  for (const line of lines) {
    const { id, method } = JSON.parse(line) as Line
    client.write(`${line.replace('SESSION', sessionId)}\n`)
    const answer = await until(() => client.lines.find((one) => one.id === id), method!)
    assert.ok(answer.result, JSON.stringify(answer.error))
    sessionId ||= String(answer.result['session_id'] ?? '')
    const isSlow = line.includes('[[drip')
    if (method === 'session.send' && isSlow)
      await client.event('session.stream.chunk', (it) => it.turn_id === answer.result!['turn_id'])
    if (method === 'session.send' && !isSlow)
      await client.event('session.completed', (it) => it.turn_id === answer.result!['turn_id'])
    if (method === 'session.interrupt') await client.event('session.interrupted')
  }
  assert.equal(await client.exited, 0)
})

test('the client of docs/loaf.md works', async (t) => {
  const [, code] = /```ts\n([^]*?)```/.exec(DOCS)!
  const bin = join(daemon.home, 'bin')
  mkdirSync(bin)
  const command = join(bin, 'corral')
  writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`)
  chmodSync(command, 0o755)
  const file = join(daemon.project, 'client.mts')
  writeFileSync(file, code!)
  const env = { ...daemon.env, PATH: `${bin}:${daemon.env['PATH']}` }
  const child = spawn(process.execPath, [file, 'what is new?'], { env, cwd: daemon.project })
  t.after(() => child.kill('SIGKILL'))
  let said = ''
  child.stdout.on('data', (data: Buffer) => (said += data.toString()))
  child.stderr.on('data', (data: Buffer) => (said += data.toString()))
  const exited = await new Promise((resolve) => child.once('close', resolve))
  assert.deepEqual([exited, said], [0, 'echo: what is new?'])
})
