import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { inspect } from 'node:util'
import type { Piece } from '../../src/relay/ask.ts'
import { RelayFailure } from '../../src/relay/failure.ts'
import type { Patience } from '../../src/relay/providers/connection.ts'
import { openaiUpstream } from '../../src/relay/providers/openai.ts'
import { until } from '../support/wait.ts'
import { aCall, all, anAsk, chunks, sendEvents, sendJson, serve } from './servers.ts'

const KEY = 'corral-test-key-0123456789'
const FIRST = chunks({ choices: [{ delta: { content: 'first' } }] })
const LAST = chunks({ choices: [{ delta: {}, finish_reason: 'stop' }] }, '[DONE]')

let handler: RequestListener = () => undefined
const server = await serve((req, res) => handler(req, res))

function upstream(baseUrl = server.url, patience: Partial<Patience> = {}) {
  const provider = openaiUpstream({ name: 'up', kind: 'openai', baseUrl, apiKey: KEY }, patience)
  after(() => provider.close())
  return provider
}

async function failure(provider = upstream()): Promise<RelayFailure> {
  const error: unknown = await all(provider.answer(aCall())).catch((error: unknown) => error)
  assert.ok(error instanceof RelayFailure, String(error))
  assert.ok(!inspect(error, { depth: 10 }).includes(KEY), 'the key is in the failure')
  return error
}

test('refusals keep their status, or get the nearest that SDKs know', async () => {
  for (const [status, expected, kind] of [
    [400, 400, 'invalid_request_error'],
    [401, 401, 'authentication_error'],
    [402, 402, 'billing_error'],
    [403, 403, 'permission_error'],
    [404, 404, 'not_found_error'],
    [408, 503, 'api_error'],
    [413, 413, 'request_too_large'],
    [422, 400, 'invalid_request_error'],
    [429, 429, 'rate_limit_error'],
    [500, 500, 'api_error'],
    [502, 503, 'api_error'],
    [503, 503, 'api_error'],
    [529, 529, 'overloaded_error'],
  ] as const) {
    handler = (_, res) => sendJson(res, status, { error: { message: `no, ${KEY}`, type: 'x' } })
    const { status: got, kind: gotKind, message } = await failure()
    assert.deepEqual([got, gotKind, message], [expected, kind, 'up: no, ••••••••'])
  }
})

test('the time to wait is read in all its forms', async () => {
  const date = new Date(Date.now() + 90_000).toUTCString()
  for (const [headers, expected] of [
    [{ 'retry-after': '3' }, 3000],
    [{ 'retry-after-ms': '250', 'retry-after': '9' }, 250],
    [{ 'retry-after': 'soon' }, null],
    [{ 'retry-after': '99999999' }, null],
    [{}, null],
  ] as const) {
    handler = (_, res) => sendJson(res, 429, {}, headers)
    assert.equal((await failure()).retryAfterMs, expected)
  }
  handler = (_, res) => sendJson(res, 429, {}, { 'retry-after': date })
  const wait = (await failure()).retryAfterMs!
  assert.ok(wait > 80_000 && wait <= 90_000, String(wait))
})

test('error bodies of every kind, and too large ones, still make a message', async () => {
  for (const [body, expected] of [
    ['{"error":"text"}', 'up: text'],
    ['{"message":"text"}', 'up: text'],
    ['{"detail":"text"}', 'up: text'],
    ['<html>', 'up: it answered with status 500'],
    ['', 'up: it answered with status 500'],
    ['null', 'up: it answered with status 500'],
  ] as const) {
    handler = (_, res) => res.writeHead(500).end(body)
    assert.equal((await failure()).message, expected)
  }
  handler = (_, res) => res.writeHead(500).end('x'.repeat(5_000_000))
  assert.equal((await failure()).status, 500)
})

test('redirects are not followed and answers that do not stream are refused', async () => {
  handler = (_, res) => res.writeHead(307, { location: 'http://127.0.0.1:1/' }).end()
  assert.match((await failure()).message, /redirect/)
  handler = (_, res) => sendJson(res, 200, { choices: [] })
  assert.match((await failure()).message, /not a stream/)
})

test('who cannot be reached, or never answers, is a 503', async () => {
  const closed = await serve(() => undefined)
  await closed.close()
  const refused = await failure(upstream(closed.url))
  assert.equal(refused.status, 503)
  assert.match(refused.message, /nobody listens there/)
  assert.match((await failure(upstream('http://no-such-host.invalid'))).message, /^up: no-such-host\.invalid/)
  handler = () => undefined
  const silent = await failure(upstream(server.url, { silenceMs: 50 }))
  assert.equal(silent.status, 503)
  assert.match(silent.message, /in time/)
})

test('who dies in the middle fails after the pieces that came', async () => {
  handler = (_, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' }).write(FIRST)
    setImmediate(() => res.destroy())
  }
  const pieces: Piece[] = []
  const reading = (async () => {
    for await (const piece of upstream().answer(aCall())) pieces.push(piece)
  })()
  await assert.rejects(reading, { name: 'RelayFailure', status: 503, message: /cut/ })
  assert.deepEqual(pieces, [{ type: 'text', text: 'first' }])
})

test('who falls silent in the middle is not waited for without end', async () => {
  handler = (_, res) => void res.writeHead(200, { 'content-type': 'text/event-stream' }).write(FIRST)
  assert.match((await failure(upstream(server.url, { silenceMs: 50 }))).message, /in time/)
})

test('a call that is not wanted any more ends at once, before and in the answer', async () => {
  const gone = Promise.withResolvers<void>()
  handler = (_, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' }).write(FIRST)
    res.on('close', gone.resolve)
  }
  const stop = new AbortController()
  const pieces: Piece[] = []
  for await (const piece of upstream().answer(aCall(anAsk(), stop.signal))) {
    pieces.push(piece)
    stop.abort()
  }
  assert.equal(pieces.length, 1)
  await gone.promise
  assert.deepEqual(await all(upstream().answer(aCall(anAsk(), AbortSignal.abort()))), [])
})

test('who stops reading stops the upstream', async () => {
  const gone = Promise.withResolvers<void>()
  handler = (_, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' }).write(FIRST)
    res.on('close', gone.resolve)
  }
  for await (const piece of upstream().answer(aCall())) {
    assert.equal(piece.type, 'text')
    break
  }
  await gone.promise
})

test('a connection is used again after an answer that was read to its `end`', async () => {
  const ports = new Set<number | undefined>()
  handler = (req, res) => {
    ports.add(req.socket.remotePort)
    sendEvents(res, FIRST + LAST)
  }
  const provider = upstream()
  let calls = 0
  await until(async () => {
    for await (const piece of provider.answer(aCall())) if (piece.type === 'end') break
    calls += 1
    return calls > ports.size
  })
})

test('a kept connection that the other side has closed costs nothing', async () => {
  const body = FIRST + LAST
  const answer = `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  let cut = 0
  const raw = createServer((socket) => {
    let requests = 0
    socket.on('error', () => undefined)
    socket.on('data', () => {
      requests += 1
      if (requests === 1) return socket.write(answer)
      cut += 1
      socket.resetAndDestroy()
    })
  })
  raw.listen(0, '127.0.0.1')
  await once(raw, 'listening')
  after(() => raw.close())
  const provider = upstream(`http://127.0.0.1:${(raw.address() as AddressInfo).port}`)
  await until(async () => {
    assert.equal((await all(provider.answer(aCall()))).length, 2)
    return cut > 1
  })
  provider.close()
})
