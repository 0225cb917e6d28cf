import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { until } from '../../support/wait.ts'
import { clientFor, startClient, type Client } from './support.ts'

let daemon: TestDaemon
let shared: Client

before(async () => {
  daemon = await startDaemon()
  shared = startClient(daemon)
})

after(async () => {
  await shared.close()
  await daemon.stop()
})

const NAMES =
  `auth.connect.antigravity auth.connect.openai auth.set.exa_key auth.set.openrouter_key auth.status
  command.execute debug.set history.clear_session history.get history.list limits.get model.list
  model.openrouter.providers model.select onboarding.complete onboarding.status rpc.handshake session.create
  session.get session.interrupt session.queue.clear session.queue.list session.send session.steer skills.list
  state.get system.ping system.shutdown tools.list`.split(/\s+/)

const INVALID = [-32600, 'invalid request', 'invalid_request']
const BATCH = [-32600, 'batch requests are not supported', 'batch_not_supported']

describe('a line', () => {
  for (const [what, line, expected] of [
    ['an array', '[{"jsonrpc":"2.0","id":1,"method":"system.ping"}]', BATCH],
    ['an empty array', '[]', BATCH],
    ['a number', '42', INVALID],
    ['a text', '"hello"', INVALID],
    ['null', 'null', INVALID],
    ['an empty object', '{}', INVALID],
    ['another version', '{"jsonrpc":"1.0","id":5,"method":"system.ping"}', INVALID],
    ['a version that is a number', '{"jsonrpc":2,"id":5,"method":"system.ping"}', INVALID],
    ['no method', '{"jsonrpc":"2.0","id":5}', INVALID],
    ['a method that is no text', '{"jsonrpc":"2.0","id":5,"method":7}', INVALID],
    ['a blank method', '{"jsonrpc":"2.0","id":5,"method":"  "}', INVALID],
    ['an id that is true', '{"jsonrpc":"2.0","id":true,"method":"system.ping"}', INVALID],
    ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"system.ping"}', INVALID],
    ['an id that is a list', '{"jsonrpc":"2.0","id":[1],"method":"system.ping"}', INVALID],
    ['a response', '{"jsonrpc":"2.0","id":5,"result":{}}', INVALID],
  ] as const) {
    test(`with ${what} is refused, without its id`, async () => {
      const had = shared.lines.filter(({ id }) => id === null).length
      shared.write(`${line}\n`)
      const { error } = (await shared.unnamed(had + 1)).at(-1)!
      assert.deepEqual([error!.code, error!.message, error!.data.reason], expected)
    })
  }

  for (const [what, line] of [
    ['is no JSON', 'no json'],
    ['is half of one', '{"jsonrpc":"2.0",'],
    ['is no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d])],
  ] as const) {
    test(`that ${what} is a parse error`, async () => {
      const had = shared.lines.filter(({ id }) => id === null).length
      shared.write(Buffer.concat([Buffer.from(line), Buffer.from('\n')]))
      const { error } = (await shared.unnamed(had + 1)).at(-1)!
      assert.equal(error!.code, -32700)
      assert.match(error!.message, /^parse error: ./)
      assert.deepEqual(error!.data, { reason: 'parse_error' })
    })
  }

  test('without id is dropped and not carried out', async (t) => {
    const client = clientFor(t, daemon)
    client.write('{"jsonrpc":"2.0","method":"session.create"}\n{"jsonrpc":"2.0","method":"no.such"}\n')
    const { sessions } = await client.call<{ sessions: { count: number } }>('state.get')
    assert.equal(sessions.count, 0)
    assert.equal(client.lines.length, 1)
  })

  for (const id of ['', 'text', 0, 1.5, -3, null]) {
    test(`with id ${JSON.stringify(id)} is answered with it`, async () => {
      const from = shared.lines.length
      shared.write(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'system.ping', more: 1 })}\n`)
      const line = await until(() => shared.lines.slice(from).find((one) => one.id === id), 'pong')
      assert.equal(line.result!['ok'], true)
    })
  }

  test('may end with CRLF, have blanks around it, and be blank', async (t) => {
    const client = clientFor(t, daemon)
    client.write('\n  \r\n  {"jsonrpc":"2.0","id":9,"method":"system.ping"} \r\n')
    await until(() => client.lines.find(({ id }) => id === 9), 'pong')
    assert.equal(client.lines.length, 1)
  })

  test('may be 64 MiB long and more: an error, and the next one is served', async (t) => {
    const client = clientFor(t, daemon)
    const chunk = Buffer.alloc(1024 ** 2, 'x')
    for (let count = 0; count < 65; count++) client.write(chunk)
    client.write('\n')
    const { error } = (await client.unnamed(1))[0]!
    assert.deepEqual([error!.code, error!.data.kind], [-32600, 'line_too_long'])
    assert.equal((await client.call('system.ping'))['ok'], true)
  })

  test('may be the last one and have no end', async (t) => {
    const client = clientFor(t, daemon)
    client.write(
      '{"jsonrpc":"2.0","id":1,"method":"state.get"}\n{"jsonrpc":"2.0","id":2,"method":"system.ping"}',
    )
    client.child.stdin!.end()
    assert.equal(await client.exited, 0)
    assert.deepEqual(new Set(client.lines.map(({ id }) => id)), new Set([1, 2]))
    assert.ok(client.lines.every(({ result }) => result))
  })
})

describe('a method', () => {
  test('that is not there', async () => {
    const error = await shared.fails('no.such')
    assert.deepEqual(error, {
      code: -32601,
      message: 'method not found: no.such',
      data: { reason: 'method_not_found', method: 'no.such' },
    })
    assert.equal((await shared.fails(' system.ping ')).code, -32601)
    assert.equal((await shared.fails('toString')).code, -32601)
  })

  const ANY = `system.ping state.get auth.status onboarding.status skills.list tools.list`.split(' ')
  for (const method of ANY) {
    test(`${method} takes any parameters`, async () => {
      for (const params of [undefined, null, [], [1], 7, 'x', {}]) await shared.call(method, params)
    })
  }

  const OPTIONAL = `rpc.handshake session.create model.list history.list`.split(' ')
  for (const method of OPTIONAL) {
    test(`${method} may come without parameters`, async () => {
      for (const params of [undefined, null, {}, []]) await shared.call(method, params)
    })
  }

  const READING = NAMES.filter(
    (name) =>
      ![...ANY, 'auth.connect.antigravity', 'onboarding.complete', 'limits.get', 'system.shutdown'].includes(
        name,
      ),
  )
  for (const method of READING) {
    test(`${method} takes no scalar, and no list with something in it`, async () => {
      const needed = ![...OPTIONAL, 'auth.connect.openai', 'history.get'].includes(method)
      for (const params of [[1], 7, 'x', ...(needed ? [undefined, null, []] : [])]) {
        assert.deepEqual(await shared.fails(method, params), {
          code: -32602,
          message: `invalid params for ${method}: expected object`,
          data: { reason: 'invalid_params' },
        })
      }
    })
  }

  for (const [method, params, field, problem] of [
    ['session.get', {}, 'session_id', 'must be a non-empty string'],
    ['session.get', { session_id: ' ' }, 'session_id', 'must be a non-empty string'],
    ['session.create', { title: 7 }, 'title', 'must be a string'],
    ['session.send', { session_id: 'x', text: 7 }, 'text', 'must be a string'],
    ['session.send', { session_id: 'x', enqueue: 'yes' }, 'enqueue', 'must be a boolean'],
    ['session.steer', { session_id: 'x', text: '' }, 'text', 'must be a non-empty string'],
    ['history.list', { limit: 'x' }, 'limit', 'must be a finite number'],
    ['history.list', { cursor: {} }, 'cursor', 'must be a finite number'],
    ['history.get', { last: 1 }, 'last', 'must be a boolean'],
    ['debug.set', {}, 'super_debug', 'must be a boolean'],
    ['command.execute', { session_id: 'x' }, 'raw_command', 'must be a non-empty string'],
    ['auth.set.openrouter_key', {}, 'api_key', 'must be a non-empty string'],
    ['auth.set.exa_key', { api_key: '' }, 'api_key', 'must be a non-empty string'],
    ['model.select', { provider: 'demo' }, 'model_id', 'must be a non-empty string'],
    ['model.select', { model_id: 'x', provider: 'demo' }, 'thinking_level', 'must be a non-empty string'],
    ['model.openrouter.providers', {}, 'model_id', 'must be a non-empty string'],
    ['rpc.handshake', { strict: 'x' }, 'strict', 'must be a boolean'],
  ] as const) {
    test(`${method} names the field that is wrong: ${field} of ${JSON.stringify(params)}`, async () => {
      const message = `invalid params for ${method}: \`${field}\` ${problem}`
      const data = { reason: 'invalid_params', field }
      assert.deepEqual(await shared.fails(method, params), { code: -32602, message, data })
    })
  }

  test('model.list and model.select know their providers', async () => {
    for (const [method, params] of [
      ['model.list', { provider: 'acme' }],
      ['model.select', { provider: 'acme', model_id: 'x', thinking_level: 'LOW' }],
    ] as const) {
      const { code, data } = await shared.fails(method, params)
      assert.deepEqual([code, data.field], [-32602, 'provider'])
    }
  })

  test('null and blank count as absent, and what is unknown is ignored', async () => {
    await shared.call('session.create', { title: null, unknown: 1 })
    await shared.call('session.create', { title: '  ' })
    await shared.call('history.list', { limit: null, cursor: null })
  })
})

describe('the handshake', () => {
  test('says what there is, as often as it is asked', async () => {
    for (const params of [undefined, { client_name: 'x', client_version: '1', protocol_version: '9.9' }]) {
      const { extensions, ...hello } = await shared.call('rpc.handshake', params)
      assert.deepEqual(hello, {
        protocol_version: '1.0.0',
        server_name: 'loaf',
        capabilities: {
          events: true,
          command_execute: true,
          multi_session: true,
          image_inputs: ['path', 'data_url'],
        },
        methods: NAMES,
      })
      assert.deepEqual(extensions, ['auth.cancel', 'auth.set.anthropic_key', 'events.replay', 'session.list'])
    }
    assert.equal(NAMES.length, 29)
  })

  test('refuses another version only to those who insist', async () => {
    const error = await shared.fails('rpc.handshake', { protocol_version: ' 2.0.0 ', strict: true })
    assert.deepEqual(error, {
      code: -32602,
      message: 'unsupported protocol_version: 2.0.0',
      data: { reason: 'unsupported_protocol_version', supported: '1.0.0' },
    })
    await shared.call('rpc.handshake', { protocol_version: ' 1.0.0 ', strict: true })
    await shared.call('rpc.handshake', { protocol_version: ' ', strict: true })
    await shared.call('rpc.handshake', { protocol_version: '2.0.0', strict: false })
  })
})
