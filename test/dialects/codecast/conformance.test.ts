import assert from 'node:assert/strict'

import { after, before, describe, test } from 'node:test'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { call, failure, type Json, post, result, send } from './client.ts'

let daemon: TestDaemon
let base = ''
before(async () => {
  daemon = await startDaemon()
  base = daemon.codecast
})
after(() => daemon.stop())

const GONE = '00000000-0000-7000-8000-000000000000'

describe('the HTTP layer', () => {
  test('success and RPC errors are 200 JSON with a length', async () => {
    for (const body of ['{"method":"health.check"}', '{"method":"nope"}']) {
      const { status, headers, text } = await post(base, body)
      assert.equal(status, 200)
      assert.equal(headers.get('content-type'), 'application/json')
      assert.equal(headers.get('content-length'), String(Buffer.byteLength(text)))
    }
  })

  test('what is not JSON is 400', async () => {
    for (const body of ['', '{', 'method=x', Buffer.from([0x22, 0xff, 0x22])]) {
      const { status, text } = await post(base, body)
      assert.equal(status, 400, String(body))
      assert.equal((JSON.parse(text) as { error: { code: number } }).error.code, -32600)
    }
  })

  test('a content type other than JSON is 415', async () => {
    for (const type of [null, 'text/plain', 'application/x-www-form-urlencoded', 'application/jsonp']) {
      assert.equal((await post(base, '{"method":"health.check"}', type)).status, 415, String(type))
    }
    for (const type of ['application/json; charset=utf-8', 'application/vnd.api+json', 'APPLICATION/JSON']) {
      assert.equal((await post(base, '{"method":"health.check"}', type)).status, 200, type)
    }
  })

  test('a body above the limit is 413 and the next request is served', async () => {
    const big = `{"method":"health.check","params":{"x":"${'x'.repeat(33 * 1024 * 1024)}"}}`
    assert.equal((await post(base, big)).status, 413)
    assert.equal((await post(base, '{"method":"health.check"}')).status, 200)
  })

  test('another method is 405 with Allow and no CORS, another path 404', async () => {
    for (const method of ['GET', 'OPTIONS', 'PUT', 'DELETE']) {
      const res = await fetch(`${base}/rpc`, { method })
      assert.equal(res.status, 405, method)
      assert.equal(res.headers.get('allow'), 'POST')
      assert.equal(res.headers.get('access-control-allow-origin'), null)
    }
    assert.equal((await fetch(`${base}/other`)).status, 404)
    assert.equal((await fetch(`${base}/rpc/`, { method: 'POST' })).status, 404)
  })

  test('a foreign web page or a rebound name is 403', async () => {
    const headers = { 'content-type': 'application/json', origin: 'https://evil.example' }
    const res = await fetch(`${base}/rpc`, { method: 'POST', headers, body: '{"method":"health.check"}' })
    assert.equal(res.status, 403)
  })
})

describe('the envelope', () => {
  test('an id is echoed as it came, and left out when there is none', async () => {
    for (const id of ['x', 7, null, 0, '']) {
      assert.equal((await call(base, 'session.list', {}, { id }))['id'], id)
      assert.equal((await call(base, 'nope', {}, { id }))['id'], id)
    }
    assert.ok(!('id' in (await call(base, 'session.list'))))
    assert.equal((await call(base, 'session.list', {}, { id: {} }))['error'] !== undefined, true)
  })

  test('jsonrpc is echoed only to those who say it, other keys are ignored', async () => {
    assert.equal((await call(base, 'session.list', {}, { jsonrpc: '2.0', extra: 1 }))['jsonrpc'], '2.0')
    assert.ok(!('jsonrpc' in (await call(base, 'session.list'))))
  })

  test('a request without a method, or no object at all, is -32600', async () => {
    for (const body of [
      '{}',
      '{"method":null,"id":"a"}',
      '{"method":5}',
      '[]',
      '5',
      'null',
      '"x"',
      '["a",{},"b"]',
    ]) {
      const { status, text } = await post(base, body)
      assert.equal(status, 200, body)
      assert.equal((JSON.parse(text) as { error: { code: number } }).error.code, -32600, body)
    }
    const { error, id } = JSON.parse((await post(base, '{"id":"a"}')).text) as Json
    assert.deepEqual([error, id], [{ code: -32600, message: 'Invalid request (missing method field)' }, 'a'])
  })

  test('an unknown method is -32601', async () => {
    for (const method of ['session.nope', '', '__proto__', 'constructor']) {
      assert.deepEqual(await failure(base, method), { code: -32601, message: `Method not found: ${method}` })
    }
  })

  test('params that are no object are -32602', async () => {
    for (const params of ['[]', '"x"', '5', 'true']) {
      const { text } = await post(base, `{"method":"session.list","params":${params}}`)
      assert.equal((JSON.parse(text) as { error: { code: number } }).error.code, -32602)
    }
  })
})

describe('missing and ill-typed parameters', () => {
  const missing: [string, Json | undefined, string][] = [
    ['session.create', undefined, 'Missing required param: path'],
    ['session.create', {}, 'Missing required param: path'],
    ['session.create', { path: null }, 'Missing required param: path'],
    ['session.create', { path: '' }, 'Missing required param: path'],
    ['session.send', {}, 'Missing required params: sessionId, message'],
    ['session.send', { sessionId: 'x' }, 'Missing required param: message'],
    ['session.send', { message: 'x' }, 'Missing required param: sessionId'],
    ['session.resume', {}, 'Missing required param: sessionId'],
    ['session.destroy', {}, 'Missing required param: sessionId'],
    ['session.set_mode', {}, 'Missing required params: sessionId, mode'],
    ['session.set_mode', { sessionId: 'x' }, 'Missing required param: mode'],
    ['session.set_model', undefined, 'Missing required params: sessionId, model'],
    ['session.interrupt', {}, 'Missing required param: sessionId'],
    ['session.queue_stats', {}, 'Missing required param: sessionId'],
    ['session.reconnect', {}, 'Missing required param: sessionId'],
  ]
  for (const [method, params, message] of missing) {
    test(`${method} ${JSON.stringify(params)}: ${message}`, async () => {
      assert.deepEqual(await failure(base, method, params), { code: -32602, message })
    })
  }

  const wrong: [string, Json][] = [
    ['session.create', { path: 5 }],
    ['session.create', { path: '/', mode: 'root' }],
    ['session.create', { path: '/', mode: 'AUTO' }],
    ['session.create', { path: '/', model: 5 }],
    ['session.create', { path: '/', cli_type: [] }],
    ['session.send', { sessionId: 5, message: 'x' }],
    ['session.send', { sessionId: 'x', message: {} }],
    ['session.send', { sessionId: 'x', message: 'x', images: [{ mediaType: 'text/html', data: 'aGk=' }] }],
    ['session.set_mode', { sessionId: 'x', mode: 'root' }],
    ['session.set_model', { sessionId: 'x', model: 5 }],
    ['session.reconnect', { sessionId: 'x', after: -1 }],
  ]
  for (const [method, params] of wrong) {
    test(`${method} ${JSON.stringify(params)} is -32602 and changes nothing`, async () => {
      const before = await result<{ sessions: unknown[] }>(base, 'session.list')
      assert.equal((await failure(base, method, params)).code, -32602)
      assert.equal(
        (await result<{ sessions: unknown[] }>(base, 'session.list')).sessions.length,
        before.sessions.length,
      )
    })
  }

  test('a mode that does not exist is named, never taken for auto', async () => {
    const { message } = await failure(base, 'session.create', {
      path: daemon.project,
      mode: 'yolo',
      cli_type: 'demo',
    })
    assert.match(message, /^Invalid mode: "yolo"/)
  })
})

describe('a session that does not exist', () => {
  const params = { sessionId: GONE }
  test('resume and destroy say ok: false, reconnect has nothing', async () => {
    assert.deepEqual(await result(base, 'session.resume', params), { ok: false, fallback: false })
    assert.deepEqual(await result(base, 'session.destroy', params), { ok: false })
    assert.deepEqual(await result(base, 'session.reconnect', params), { bufferedEvents: [] })
  })
  test('set_mode, set_model, interrupt and queue_stats are -32000', async () => {
    for (const [method, more] of [
      ['session.set_mode', { mode: 'auto' }],
      ['session.set_model', { model: 'x' }],
      ['session.interrupt', {}],
      ['session.queue_stats', {}],
    ] as const) {
      const error = await failure(base, method, { ...params, ...more })
      assert.deepEqual(error, { code: -32000, message: `Session not found: ${GONE}` }, method)
    }
  })
  test('send tells it on the stream', async () => {
    const stream = await send(base, GONE, 'hi')
    assert.equal(stream.headers['content-type'], 'text/event-stream')
    assert.deepEqual(await stream.rest(), [
      { type: 'error', message: `Session not found: ${GONE}` },
      { type: '[DONE]' },
    ])
  })
})
