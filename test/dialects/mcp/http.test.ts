import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { request } from 'node:http'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { connect, type NativeClient } from '../../../src/client/client.ts'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { clientFor, daemonFor, demoSession } from '../native/support.ts'
import {
  allowed,
  decided,
  denied,
  mayRun,
  openQuestion,
  overHttp,
  say,
  someCommand,
  STANDALONE,
} from './support.ts'

let daemon: TestDaemon
let native: NativeClient

before(async () => {
  daemon = await startDaemon({ env: { CORRAL_HTTP_BODY_LIMIT: '100000' } })
  native = await connect(daemon.socket)
})

after(async () => {
  native.close()
  await daemon.stop()
})

const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

function post(body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return fetch(`${daemon.listeners['corral']}/mcp`, {
    method: 'POST',
    headers: { ...JSON_HEADERS, ...headers },
    body: text,
  })
}

const HELLO = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
}

for (const pin of [undefined, STANDALONE]) {
  const setup = pin === undefined ? {} : { pin }
  const revision = pin ?? 'initialize'

  test(`tools are listed and answered over HTTP (${revision})`, async (t) => {
    const { client } = await overHttp(t, daemon, { ...setup, name: 'browser' })
    assert.equal((await client.listTools()).tools.length, 2)
    const command = someCommand()
    const answers = [
      mayRun(client, command),
      mayRun(client, `${command} no`),
      say(client, 'contact_human', { message: `${command}?` }),
    ]
    const allow = await openQuestion(native, `"${command}"`)
    const deny = await openQuestion(native, `${command} no`)
    const words = await openQuestion(native, `${command}?`)
    await native.call('approval.decide', { approvalId: words.id, behavior: 'respond', text: 'Yes' })
    await native.call('approval.decide', { approvalId: deny.id, behavior: 'deny', comment: 'no' })
    await native.call('approval.decide', {
      approvalId: allow.id,
      behavior: 'allow',
      input: { command: 'true' },
    })
    assert.deepEqual(await Promise.all(answers), [
      allowed({ command: 'true' }),
      denied('no'),
      { text: 'Yes', isError: false },
    ])
    const { agent, title, cwd, mode } = await native.call('session.get', { sessionId: allow.sessionId })
    assert.deepEqual([agent, title, cwd, mode], ['external', 'browser', daemon.home, 'ask'])
    assert.deepEqual([deny.sessionId, words.sessionId], [allow.sessionId, allow.sessionId])
  })

  test(`a session may be named by a header or in the address (${revision})`, async (t) => {
    const { id } = await demoSession(native, daemon, 'ask')
    await native.call('session.configure', { sessionId: id, rules: { allow: ['Bash(git *)'] } })
    for (const how of [{ headers: { 'X-Session-ID': id } }, { query: `?session=${id}` }]) {
      const { client } = await overHttp(t, daemon, { ...setup, ...how })
      assert.deepEqual(
        await mayRun(client, 'git log'),
        allowed({ command: 'git log' }),
        'a rule answers at once',
      )
      const command = someCommand()
      const answer = mayRun(client, command)
      const { id: approvalId, sessionId } = await openQuestion(native, command)
      assert.equal(sessionId, id)
      await native.call('approval.decide', { approvalId, behavior: 'allow' })
      assert.deepEqual(await answer, allowed({ command }))
    }
    const { client } = await overHttp(t, daemon, { ...setup, headers: { 'X-Session-ID': 'nobody' } })
    const { text, isError } = await mayRun(client, 'ls')
    assert.deepEqual(
      [isError, text],
      [true, 'Corral has no session nobody: it was removed, or the id is wrong'],
    )
  })

  test(`a call that is cancelled is taken back (${revision})`, async (t) => {
    const { client } = await overHttp(t, daemon, setup)
    const command = someCommand()
    const giving = new AbortController()
    const answer = mayRun(client, command, { signal: giving.signal })
    const { id } = await openQuestion(native, command)
    giving.abort()
    await assert.rejects(answer)
    assert.equal((await decided(native, id)).decision!.behavior, 'cancelled')
    assert.equal((await client.listTools()).tools.length, 2)
  })

  test(`the questions of a client that goes away are taken back (${revision})`, async (t) => {
    const { client } = await overHttp(t, daemon, setup)
    const command = someCommand()
    const answer = mayRun(client, command)
    answer.catch(() => {})
    const { id } = await openQuestion(native, command)
    await client.close()
    assert.equal((await decided(native, id)).decision!.behavior, 'cancelled')
  })
}

test('two clients at once get their own answers', async (t) => {
  const clients = await Promise.all([overHttp(t, daemon), overHttp(t, daemon, { pin: STANDALONE })])
  const asked = clients.map(({ client }) => {
    const command = someCommand()
    return { command, answer: mayRun(client, command) }
  })
  for (const { command } of asked.toReversed()) {
    const { id: approvalId } = await openQuestion(native, command)
    await native.call('approval.decide', { approvalId, behavior: 'deny', comment: command })
  }
  for (const { command, answer } of asked) assert.deepEqual(await answer, denied(command))
})

test('a client that says goodbye is forgotten, with its questions', async (t) => {
  const { client, transport } = await overHttp(t, daemon)
  const command = someCommand()
  mayRun(client, command).catch(() => {})
  const { id } = await openQuestion(native, command)
  const sessionId = transport.sessionId!
  await transport.terminateSession()
  assert.equal((await decided(native, id)).decision!.behavior, 'cancelled')
  const list = { jsonrpc: '2.0', id: 5, method: 'tools/list' }
  assert.equal((await post(list, { 'mcp-session-id': sessionId })).status, 404)
})

test('a web page of somebody else is not served', async () => {
  assert.equal((await post(HELLO)).status, 200)
  assert.equal((await post(HELLO, { origin: 'http://localhost:1234' })).status, 200)
  assert.equal((await post(HELLO, { origin: 'https://evil.example' })).status, 403)
  const { hostname, port, pathname } = new URL(`${daemon.listeners['corral']}/mcp`)
  const status = await new Promise((resolve, reject) => {
    const headers = { ...JSON_HEADERS, host: 'evil.example' }
    const req = request({ hostname, port, path: pathname, method: 'POST', headers }, (res) => {
      res.resume()
      resolve(res.statusCode)
    })
    req.on('error', reject).end(JSON.stringify(HELLO))
  })
  assert.equal(status, 403)
})

test('what is no MCP gets an answer that says so', async () => {
  const list = { jsonrpc: '2.0', id: 5, method: 'tools/list' }
  assert.equal((await post(list)).status, 400, 'before initialize')
  assert.equal((await post(list, { 'mcp-session-id': 'nobody' })).status, 404)
  assert.equal((await post('{')).status, 400)
  assert.equal((await post('')).status, 400)
  assert.equal((await post('null')).status, 400)
  assert.equal((await post(HELLO, { 'content-type': 'text/plain' })).status, 415)
  assert.equal((await post(HELLO, { accept: 'text/html' })).status, 406)
  assert.equal((await post(`"${'x'.repeat(200_000)}"`)).status, 413)
  const url = `${daemon.listeners['corral']}/mcp`
  assert.equal((await fetch(url, { headers: { accept: 'text/event-stream' } })).status, 400)
  assert.equal((await fetch(url, { method: 'DELETE' })).status, 400)
  assert.equal((await fetch(url, { method: 'PUT', body: '{}' })).status, 405)
})

test('after a crash nobody is left waiting for, after a stop neither', async (t) => {
  const daemon = await daemonFor(t)
  for (const how of ['kill9', 'terminate'] as const) {
    const { client } = await overHttp(t, daemon)
    const command = someCommand()
    mayRun(client, command).catch(() => {})
    const before = await connect(daemon.socket)
    const { id } = await openQuestion(before, command)
    before.close()
    await daemon[how]()
    const ended = Date.now()
    await daemon.restart()
    const native = await clientFor(t, daemon)
    const { decision, decidedBy, decidedAt } = await native.call('approval.get', { approvalId: id })
    assert.deepEqual([decision?.behavior, decidedBy], ['cancelled', 'mcp'])
    assert.equal(decidedAt! <= ended, how === 'terminate', 'a stop takes it back itself')
  }
})

test('a daemon that nobody asks loads nothing of it', () => {
  const script = `
    import { registerHooks } from 'node:module'
    registerHooks({
      resolve(name, context, next) {
        if (name.includes('modelcontextprotocol')) console.log(name)
        return next(name, context)
      },
    })
    await import('./src/daemon.ts')
    await import('./src/cli/run.ts')
    console.log('loaded')
    if (process.argv[1] === 'all') await import('./src/dialects/mcp/endpoint.ts')`
  const load = (...args: string[]): string[] => {
    const cwd = join(import.meta.dirname, '../../../')
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script, '--', ...args], {
      cwd,
    })
    return stdout.toString().trim().split('\n')
  }
  assert.deepEqual(load(), ['loaded'])
  assert.ok(load('all').length > 1, 'this would notice')
})
