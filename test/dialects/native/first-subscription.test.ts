import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createConnection, createServer, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { connect } from '../../../src/client/client.ts'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { demoSession } from './support.ts'

/** A socket that leads to the daemon, and hangs up on those connections that `isLost` says, when they first ask something. */
async function between(t: TestContext, daemon: TestDaemon, isLost: (number: number) => boolean) {
  const open = new Set<Socket>()
  let count = 0
  const server = createServer((near) => {
    const number = ++count
    const far = createConnection(daemon.socket)
    for (const socket of [near, far]) {
      open.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        open.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    if (isLost(number)) near.once('data', () => near.destroy())
    else near.pipe(far).pipe(near)
  })
  const path = join(dirname(daemon.socket), 'between.sock')
  server.listen(path)
  await once(server, 'listening')
  t.after(async () => {
    for (const socket of open) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  return { path, made: () => count }
}

test('a connection that is lost before the first subscription stands is made again', async (t) => {
  const daemon = await startDaemon()
  t.after(() => daemon.stop())
  const way = await between(t, daemon, (number) => number === 2 || number === 3)
  const client = await connect(way.path, { reconnect: true })
  t.after(() => client.close())
  const stream = client.events({ types: ['session.created'] })
  await stream.ready
  const { id } = await demoSession(client, daemon)
  for await (const event of stream) {
    assert.equal(event.sessionId, id)
    break
  }
  assert.equal(way.made(), 4)
})
