import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test, type TestContext } from 'node:test'
import { connect, type NativeClient } from '../../../src/client/client.ts'
import { corral } from '../../cli/support.ts'
import { COMPILED, startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { MAIN } from '../../support/program.ts'
import { clientFor } from '../native/support.ts'
import { until } from '../../support/wait.ts'
import { allowed, decided, mayRun, openQuestion, overStdio, someCommand } from './support.ts'

let daemon: TestDaemon

before(async () => {
  daemon = await startDaemon()
})

after(() => daemon.stop())

interface RawServer {
  child: ChildProcess
  send(message: object | string): void
  /** The answer to a request of ours. */
  answer(id: number): Promise<Record<string, unknown>>
  /** What it has printed on stdout, as it is. */
  printed(): string
  exited: Promise<[code: number | null, signal: NodeJS.Signals | null]>
}

/** The server without a client around it. */
function rawServer(t: TestContext): RawServer {
  const child = spawn(process.execPath, [MAIN, 'mcp', 'approvals'], { env: daemon.env, cwd: daemon.project })
  t.after(() => child.kill('SIGKILL'))
  let printed = ''
  child.stdout.on('data', (data: Buffer) => (printed += data.toString()))
  child.stdin.on('error', () => {})
  const parsed = () =>
    printed
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  return {
    child,
    send: (message) =>
      void child.stdin.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`),
    answer: (id) => until(() => parsed().find((message) => message['id'] === id), `the answer to ${id}`),
    printed: () => printed,
    exited: once(child, 'exit') as RawServer['exited'],
  }
}

const HELLO = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
}

function callOf(id: number, command: string): object {
  const params = { name: 'request_permission', arguments: { tool_name: 'Bash', input: { command } } }
  return { jsonrpc: '2.0', id, method: 'tools/call', params }
}

/** A server with one question that waits. */
async function waiting(t: TestContext): Promise<RawServer & { native: NativeClient; approvalId: string }> {
  const native = await clientFor(t, daemon)
  const server = rawServer(t)
  const command = someCommand()
  server.send(HELLO)
  server.send(callOf(2, command))
  const { id: approvalId } = await openQuestion(native, command)
  return { ...server, native, approvalId }
}

describe('the process of corral mcp approvals', () => {
  test('ends when stdin ends, and takes its questions back', async (t) => {
    const { child, exited, native, approvalId } = await waiting(t)
    child.stdin!.end()
    assert.deepEqual(await exited, [0, null])
    assert.equal((await native.call('approval.get', { approvalId })).decision!.behavior, 'cancelled')
  })

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`ends with ${signal}, and takes its questions back`, async (t) => {
      const { child, exited, native, approvalId } = await waiting(t)
      child.kill(signal)
      assert.deepEqual(await exited, [0, null])
      assert.equal((await native.call('approval.get', { approvalId })).decision!.behavior, 'cancelled')
    })
  }

  test('ends when nobody reads its answers any more', async (t) => {
    const { child, send, exited, native, approvalId } = await waiting(t)
    child.stdout!.destroy()
    send({ jsonrpc: '2.0', id: 3, method: 'tools/list' })
    send({ jsonrpc: '2.0', id: 4, method: 'tools/list' })
    assert.equal((await exited)[1], null)
    assert.equal((await native.call('approval.get', { approvalId })).decision!.behavior, 'cancelled')
  })

  test('prints nothing on stdout but protocol, whatever it is sent', async (t) => {
    const server = rawServer(t)
    server.send(HELLO)
    await server.answer(1)
    for (const line of ['', 'hello?', '{', '[]', '"x"', '{"jsonrpc":"2.0","id":7}', '{"a":1}'])
      server.send(line)
    server.send({ jsonrpc: '2.0', id: 8, method: 'no/such' })
    server.send({ jsonrpc: '2.0', id: 9, method: 'tools/call', params: { name: 'no_such', arguments: {} } })
    server.send({ jsonrpc: '2.0', id: 10, method: 'tools/list' })
    await server.answer(10)
    server.child.stdin!.end()
    assert.deepEqual(await server.exited, [0, null])
    const lines = server.printed().split('\n')
    assert.equal(lines.pop(), '')
    for (const line of lines) assert.equal((JSON.parse(line) as { jsonrpc: string }).jsonrpc, '2.0', line)
  })

  test('another name than approvals is refused', async () => {
    const { code, stdout, stderr } = await corral(daemon.env, ['mcp', 'rejections'])
    assert.deepEqual([code, stdout], [2, ''])
    assert.match(stderr, /unknown MCP server rejections/)
  })

  for (const how of ['kill9', 'terminate'] as const) {
    test(`a daemon that comes back after ${how} still brings the answer`, async (t) => {
      const { client } = await overStdio(t, daemon)
      const commands = [someCommand(), someCommand()]
      const answers = commands.map((command) => mayRun(client, command))
      const before = await connect(daemon.socket)
      const asked = await Promise.all(commands.map((command) => openQuestion(before, command)))
      before.close()
      await daemon[how]()
      await daemon.restart()
      const native = await clientFor(t, daemon)
      const { approvals } = await native.call('approval.list')
      const mine = approvals.filter(({ input }) => commands.includes((input as { command: string }).command))
      assert.deepEqual(mine.map(({ id }) => id).sort(), asked.map(({ id }) => id).sort(), 'not asked again')
      for (const { id: approvalId } of asked) {
        await native.call('approval.decide', { approvalId, behavior: 'allow' })
      }
      assert.deepEqual(
        await Promise.all(answers),
        commands.map((command) => allowed({ command })),
      )
    })
  }

  test('a question that is cancelled while the daemon is away is taken back when it is there again', async (t) => {
    const { client } = await overStdio(t, daemon)
    const command = someCommand()
    const giving = new AbortController()
    const answer = mayRun(client, command, { signal: giving.signal })
    const before = await connect(daemon.socket)
    const { id } = await openQuestion(before, command)
    before.close()
    await daemon.kill9()
    giving.abort()
    await assert.rejects(answer)
    await daemon.restart()
    assert.equal((await decided(await clientFor(t, daemon), id)).decision!.behavior, 'cancelled')
  })

  test('ends soon while the daemon is away', async (t) => {
    const server = rawServer(t)
    const command = someCommand()
    server.send(HELLO)
    server.send(callOf(2, command))
    const native = await connect(daemon.socket)
    await openQuestion(native, command)
    native.close()
    await daemon.kill9()
    t.after(() => daemon.restart())
    const since = Date.now()
    server.child.stdin!.end()
    assert.deepEqual(await server.exited, [0, null])
    assert.ok(Date.now() - since < 30_000, 'half of the time for which it would look for a daemon')
  })

  test('without a daemon it starts, says how to start one, and works once there is one', async (t) => {
    const home = mkdtempSync(join(tmpdir(), 'corral-none-'))
    t.after(() => rmSync(home, { recursive: true, force: true }))
    mkdirSync(join(home, 'project'))
    const env = { PATH: process.env['PATH'], ...COMPILED, HOME: home, CORRAL_HOME: join(home, '.corral') }
    const { client } = await overStdio(t, { env, project: join(home, 'project') })
    assert.equal((await client.listTools()).tools.length, 2)
    const { text, isError } = await mayRun(client, 'ls')
    assert.equal(isError, true)
    assert.match(text, /no daemon is running .* start one with: corral start --detach/)

    const daemon = await startDaemon({ home })
    t.after(() => daemon.stop())
    const native = await clientFor(t, daemon)
    const command = someCommand()
    const answer = mayRun(client, command)
    const { id: approvalId } = await openQuestion(native, command)
    await native.call('approval.decide', { approvalId, behavior: 'allow' })
    assert.deepEqual(await answer, allowed({ command }))
  })

  test('a waiting client does not hold up the end of the daemon', async (t) => {
    const patient = await startDaemon({ env: { CORRAL_STOP_GRACE_MS: '3600000' } })
    t.after(() => patient.stop())
    const { client } = await overStdio(t, patient)
    const command = someCommand()
    mayRun(client, command).catch(() => {})
    await openQuestion(await clientFor(t, patient), command)
    assert.equal(await patient.terminate(), 0)
    // Its client would wait for it, too.
    await patient.restart()
  })
})
