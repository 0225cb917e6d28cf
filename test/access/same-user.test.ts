import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { loopbackGuard } from '../../src/access/guard.ts'
import { sameUserGuard } from '../../src/access/same-user.ts'
import { createHttpApp, type HttpListener, sendText } from '../../src/transports/http.ts'

const app = createHttpApp()
let listener: HttpListener

before(async () => {
  app.route('GET', '/', ({ res }) => sendText(res, 200, 'welcome'))
  listener = await app.listen({ host: '127.0.0.1', port: 0, guard: sameUserGuard(loopbackGuard()) })
})
after(() => app.close())

const SCRIPT = `fetch(process.argv[1]).then(async (r) => console.log(r.status, await r.text()))`

async function asUser(uid: number | undefined): Promise<string> {
  const child = spawn(process.execPath, ['-e', SCRIPT, listener.url], {
    ...(uid !== undefined && { uid, gid: uid }),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const said = await child.stdout.setEncoding('utf8').toArray()
  if (child.exitCode === null) await once(child, 'exit')
  return said.join('').trim()
}

test('the user whose daemon it is comes in', async () => {
  assert.equal(await asUser(undefined), '200 welcome')
  const again = await fetch(listener.url)
  assert.equal(again.status, 200)
})

const root = process.getuid?.() === 0
test('another user does not', { skip: root ? false : 'only root can be somebody else' }, async (t) => {
  if (process.platform !== 'linux') return t.skip('only Linux tells whose a connection is')
  // Node itself may be where nobody else can read: then there is nothing to try this with.
  const readable = await asUser(65_534).catch(() => '')
  if (readable === '') return t.skip('node is not to be run by others here')
  assert.match(readable, /^403 Forbidden: this daemon belongs to another user/)
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
