import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { WebSocket } from 'ws'
import { startDaemon } from '../../support/daemon.ts'

/** How a connection goes: `open`, the status of a refusal, or the error. */
function knock(url: string, options: object): Promise<string | number> {
  return new Promise((resolve) => {
    const ws = new WebSocket(url, options)
    ws.on('open', () => {
      ws.terminate()
      resolve('open')
    })
    ws.on('unexpected-response', (request, { statusCode = 0 }) => {
      request.destroy()
      resolve(statusCode)
    })
    ws.on('error', ({ message }) => resolve(message))
  })
}

test('on an address that others reach there is TLS or nothing, a limit for them, and no foreign page', async (t) => {
  const daemon = await startDaemon({
    env: {
      CORRAL_CLAWDE_HOST: '0.0.0.0',
      CORRAL_CLAWDE_MDNS: 'false',
      CORRAL_CLAWDE_CONNECTIONS_PER_MINUTE: '5',
    },
  })
  t.after(() => daemon.stop())
  const { protocol, port } = new URL(daemon.listeners['clawde']!)
  assert.equal(protocol, 'wss:')
  const data = join(daemon.home, '.local/share/clawd')
  const authorization = `Bearer ${readFileSync(join(data, 'auth_token'), 'utf8')}`
  const pinned = { ca: readFileSync(join(data, 'tls-cert.pem')), checkServerIdentity: () => undefined }
  const here = `wss://127.0.0.1:${port}`
  const good = new WebSocket(here, { ...pinned, headers: { authorization } })
  t.after(() => good.terminate())
  await once(good, 'open')

  assert.match(String(await knock(here, {})), /self.signed|unable to verify/i)
  assert.match(String(await knock(`ws://127.0.0.1:${port}`, {})), /hang up|ECONNRESET|closed/i)
  const plain = createConnection(Number(port), '127.0.0.1')
  t.after(() => plain.destroy())
  let told = ''
  plain.on('data', (bytes: Buffer) => (told += bytes.toString('latin1')))
  plain.on('error', () => {})
  plain.write('GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n')
  await once(plain, 'close')
  assert.doesNotMatch(told, /HTTP|"ok"/)

  const knocking = (url: string, headers: Record<string, string>) =>
    knock(url, { ...pinned, headers: { authorization, ...headers } })
  assert.equal(await knocking(here, { origin: 'https://evil.example' }), 403)
  assert.equal(await knocking(here, { authorization: 'Bearer nonsense' }), 401)
  assert.equal(await knocking(here, { host: 'my-machine.local' }), 'open')
  for (let n = 0; n < 10; n++) assert.equal(await knocking(here, {}), 'open', 'this machine is exempt')

  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  const outside = all.find(({ internal, family }) => !internal && family === 'IPv4')?.address
  if (outside) {
    const there = `wss://${outside}:${port}`
    const outcomes: (string | number)[] = []
    for (let n = 0; n < 7; n++) outcomes.push(await knocking(there, {}))
    assert.deepEqual(outcomes, ['open', 'open', 'open', 'open', 'open', 429, 429])
  } else t.diagnostic('this machine has no address beside loopback: the limit for others was not tried')

  const answer = once(good, 'message')
  good.send('{"jsonrpc":"2.0","id":1,"method":"daemon.ping"}')
  assert.match(String((await answer)[0]), /"pong":true/)
})
