import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { after, before, test } from 'node:test'
import { loopbackGuard } from '../../src/access/guard.ts'
import { sameUserGuard } from '../../src/access/same-user.ts'
import { createHttpApp, type HttpListener, sendText } from '../../src/transports/http.ts'

const app = createHttpApp()
let listener: HttpListener
let acted = 0

before(async () => {
  app.route('POST', '/', () => void acted++)
  app.route('GET', '/', ({ res }) => sendText(res, 200, 'welcome'))
  listener = await app.listen({ host: '127.0.0.1', port: 0, guard: sameUserGuard(loopbackGuard()) })
})
after(() => app.close())

/** Node becomes the other user only once it runs: where it is, and the way to it, may be open to nobody but its owner. */
const SCRIPT = `
  const [url, uid] = process.argv.slice(1)
  if (uid) {
    process.setgroups([])
    process.setgid(Number(uid))
    process.setuid(Number(uid))
  }
  fetch(url).then(async (r) => console.log(r.status, await r.text()))`

async function asUser(...uid: number[]): Promise<string> {
  const child = spawn(process.execPath, ['-e', SCRIPT, listener.url, ...uid.map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const said = await child.stdout.setEncoding('utf8').toArray()
  return said.join('').trim()
}

test('the user whose daemon it is comes in', async () => {
  assert.equal(await asUser(), '200 welcome')
  const again = await fetch(listener.url)
  assert.equal(again.status, 200)
})

const root = process.getuid?.() === 0
test('another user does not', { skip: root ? false : 'only root can be somebody else' }, async (t) => {
  if (process.platform !== 'linux') return t.skip('only Linux tells whose a connection is')
  assert.match(await asUser(65_534), /^403 Forbidden: this daemon belongs to another user/)
})

/** Sends a request and is gone before anybody has looked who it was. */
const HIT_AND_RUN = `
  const socket = require('node:net').connect(process.argv[1], '127.0.0.1', () => {
    const request = 'POST / HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nContent-Length: 0\\r\\n\\r\\n'
    socket.write(request, () => socket.resetAndDestroy())
  })`

test('who is gone before it is known is not let in', async (t) => {
  if (process.platform !== 'linux') return t.skip('only Linux tells whose a connection is')
  // Meanwhile nothing happens here: the other process is gone before its request is read.
  spawnSync(process.execPath, ['-e', HIT_AND_RUN, String(listener.port)])
  assert.equal((await fetch(listener.url)).status, 200)
  assert.equal(acted, 0)
})

const LISTENER = '  0: 0100007F:1D1D 00000000:0000 0A 0:0 00:0 0     0        0 639 1 0'
const OWN = process.getuid?.() ?? 0
const row = (from: string, uid: number, inode: number): string =>
  `  1: ${from}:C5FC 0100007F:1D1D 01 0:0 00:0 0 ${uid} 0 ${inode} 3 0`

test('a connection is known by both its addresses, and by an end that is open', () => {
  const verdict = (...rows: string[]): number | null => {
    const guard = sameUserGuard(
      () => null,
      (path) => (path === '/proc/net/tcp' ? [LISTENER, ...rows].join('\n') : ''),
    )
    const [remoteAddress, localAddress] = ['127.0.0.2', '127.0.0.1']
    const socket = { remoteAddress, remotePort: 0xc5fc, localAddress, localPort: 0x1d1d }
    return guard({ socket } as Parameters<typeof guard>[0])?.status ?? null
  }
  assert.equal(verdict(row('0200007F', OWN, 7)), null)
  assert.equal(verdict(row('0000000000000000FFFF00000200007F', OWN, 7)), null)
  assert.equal(verdict(row('0200007F', OWN, 0)), 403)
  assert.equal(verdict(row('0100007F', OWN, 7), row('0200007F', 4711, 8)), 403)
  assert.equal(verdict(), 403)
})

test('who cannot be told apart is let in, and the table is read once for a connection', () => {
  let reads = 0
  const guard = sameUserGuard(
    () => null,
    () => (reads++, ''),
  )
  const socket = { remotePort: 1, localPort: 2 }
  const req = { socket } as Parameters<typeof guard>[0]
  assert.deepEqual([guard(req), guard(req), reads], [null, null, 2])
})

test('connections that come together are looked up together, and never in an older table', () => {
  let rows: string[] = []
  let reads = 0
  const guard = sameUserGuard(
    () => null,
    () => (reads++, [LISTENER, ...rows].join('\n')),
  )
  const [remoteAddress, localAddress] = ['127.0.0.1', '127.0.0.1']
  const arrive = (): { socket: object } => {
    const socket = { remoteAddress, remotePort: 0xc5fc, localAddress, localPort: 0x1d1d }
    guard.meet!(socket as never)
    return { socket }
  }
  const status = (req: { socket: object }): number | null => guard(req as never)?.status ?? null
  rows = [row('0100007F', OWN, 7)]
  const [one, two] = [arrive(), arrive()]
  assert.deepEqual([status(one), status(two), reads], [null, null, 1])
  rows = [row('0100007F', 4711, 8)]
  assert.deepEqual([status(arrive()), status(one), reads], [403, null, 2])
})
