import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { createHttpApp, HttpError, readBody, sendJson, sendText } from '../../src/transports/http.ts'

const LIMIT = 100_000
const errors: unknown[] = []
const app = createHttpApp({ bodyLimit: LIMIT, onError: (error) => errors.push(error) })
app.route('POST', '/echo', async ({ req, res }) => {
  const body = await readBody(req, LIMIT)
  sendJson(res, 200, JSON.stringify({ bytes: body.length }))
})
app.route('GET', '/thing/:id', ({ res, params, query }) =>
  sendJson(res, 200, JSON.stringify({ id: params['id'], q: query.get('q') })),
)
app.route('POST', '/thing/:id', ({ res }) => sendText(res, 200, 'posted'))
app.route('GET', '/throws', () => {
  throw new Error('oh')
})
app.route('GET', '/refuses', () => {
  throw new HttpError(418, 'teapot', { 'x-kind': 'pot' })
})
const open = await app.listen({ host: '127.0.0.1', port: 0 })
const closed = await app.listen({
  host: '127.0.0.1',
  port: 0,
  guard: () => new HttpError(403, 'not here'),
})
after(() => app.close(100))

interface HttpAnswer {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: string
  port: number | undefined
}

function call(method: string, path: string, body?: Buffer, agent?: Agent): Promise<HttpAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>()
  const req = request(
    open.url + path,
    { method, ...(agent ? { agent } : {}), headers: body ? { 'content-length': body.length } : {} },
    (res) => {
      const parts: Buffer[] = []
      const port = req.socket?.localPort
      res.on('data', (part: Buffer) => parts.push(part))
      res.on('end', () => {
        const { statusCode = 0, headers } = res
        resolve({ status: statusCode, headers, body: Buffer.concat(parts).toString(), port })
      })
    },
  )
  req.on('error', reject)
  req.end(body)
  return promise
}

test('a route gets its parameters and query', async () => {
  const answer = await call('GET', '/thing/a%20b?q=1')
  assert.equal(answer.status, 200)
  assert.deepEqual(JSON.parse(answer.body), { id: 'a b', q: '1' })
  assert.equal(answer.headers['content-length'], String(answer.body.length))
})

test('an unknown path is 404, a known one with another method 405 with Allow, neither with CORS headers', async () => {
  assert.equal((await call('GET', '/nothing')).status, 404)
  const answer = await call('DELETE', '/thing/1')
  assert.equal(answer.status, 405)
  assert.equal(answer.headers['allow'], 'GET, POST')
  const preflight = await call('OPTIONS', '/echo')
  assert.equal(preflight.status, 405)
  assert.equal(preflight.headers['allow'], 'POST')
  assert.ok(!Object.keys(preflight.headers).some((name) => name.startsWith('access-control')))
})

test('a malformed path is a 404, not a crash', async () => {
  assert.equal((await call('GET', '/thing/%E0%A4%A')).status, 404)
})

test('what a handler throws is 500 without details; an HttpError is itself', async () => {
  const broken = await call('GET', '/throws')
  assert.equal(broken.status, 500)
  assert.ok(!broken.body.includes('oh'))
  assert.equal((errors.at(-1) as Error).message, 'oh')
  const refused = await call('GET', '/refuses')
  assert.deepEqual([refused.status, refused.body, refused.headers['x-kind']], [418, 'teapot', 'pot'])
})

test('a body above the limit is 413 and the same connection serves the next request', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const big = await call('POST', '/echo', Buffer.alloc(LIMIT * 20), agent)
  assert.equal(big.status, 413)
  const next = await call('POST', '/echo', Buffer.alloc(LIMIT), agent)
  assert.deepEqual([next.status, next.body], [200, `{"bytes":${LIMIT}}`])
  assert.equal(next.port, big.port)
  agent.destroy()
})

test('a body that announces itself as too large is refused before it is sent', async () => {
  const { promise, resolve } = Promise.withResolvers<string>()
  const socket = connect(open.port, '127.0.0.1', () =>
    socket.write(
      `POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: ${LIMIT + 1}\r\n\r\n`,
    ),
  )
  let text = ''
  socket.on('data', (chunk) => (text += chunk.toString()))
  socket.on('close', () => resolve(text))
  assert.match(await promise, /^HTTP\/1.1 413 /)
})

test('a client that leaves in the middle of a body disturbs nobody', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const socket = connect(open.port, '127.0.0.1', () => {
    socket.write('POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\nhalf')
    socket.destroy()
  })
  socket.on('close', () => resolve())
  await promise
  assert.equal((await call('GET', '/thing/1')).status, 200)
})

test('each listener has its own guard, asked before routing', async () => {
  for (const path of ['/thing/1', '/nothing']) {
    const res = await fetch(closed.url + path)
    assert.deepEqual([res.status, await res.text()], [403, 'not here'])
  }
  assert.equal((await call('GET', '/thing/1')).status, 200)
})

test('a port that is taken rejects with the reason', async () => {
  await assert.rejects(app.listen({ host: '127.0.0.1', port: open.port }), { code: 'EADDRINUSE' })
})

test('closing ends idle connections at once and cuts what does not finish in time', async () => {
  const other = createHttpApp()
  let release = (): void => undefined
  other.route('GET', '/slow', ({ res }) => {
    res.write('begun')
    release = () => res.end(' and done')
  })
  other.route('GET', '/never', ({ res }) => void res.write('begun'))
  other.route('GET', '/quick', ({ res }) => sendText(res, 200, 'ok'))
  const listener = await other.listen({ host: '127.0.0.1', port: 0 })
  await (await fetch(`${listener.url}/quick`)).text()
  const slow = await fetch(`${listener.url}/slow`)
  const closing = listener.close(5_000)
  release()
  assert.equal(await slow.text(), 'begun and done')
  await closing

  const second = await other.listen({ host: '127.0.0.1', port: 0 })
  const never = await fetch(`${second.url}/never`)
  await second.close(50)
  await assert.rejects(never.text())
})
