import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createConnection, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { LineConnection, LineHandler } from '../../src/transports/connection.ts'
import { onDemand } from '../../src/transports/on-demand.ts'
import { listenUnix } from '../../src/transports/unix.ts'
import { until } from '../support/wait.ts'

type Accept = (connection: LineConnection) => LineHandler

/** Says every line again, and goodbye at the end. */
const echo: Accept = (connection) => ({
  line: (line) => connection.send(`${line.toString()}!`),
  ended() {
    connection.send('bye')
    connection.close()
  },
})

async function serve(t: TestContext, load: () => Promise<Accept>) {
  const directory = mkdtempSync(join(tmpdir(), 'corral-on-demand-'))
  const faults: unknown[] = []
  const accept = onDemand(load, (error) => faults.push(error))
  const listener = await listenUnix({ path: join(directory, 's'), accept })
  t.after(async () => {
    await listener.close()
    rmSync(directory, { recursive: true })
  })
  return { connect: () => createConnection(listener.path), faults, listener }
}

async function all(socket: Socket): Promise<string> {
  const chunks = (await socket.toArray()) as Buffer[]
  return Buffer.concat(chunks).toString()
}

test('nothing is loaded before somebody comes, and once only', async (t) => {
  let loads = 0
  const { connect } = await serve(t, () => Promise.resolve(((loads += 1), echo)))
  assert.equal(loads, 0)
  for (const socket of [connect(), connect()]) {
    socket.end('a\nb\n')
    assert.equal(await all(socket), 'a!\nb!\nbye\n')
  }
  assert.equal(loads, 1)
})

test('whoever comes while it loads is served in order, to the end', async (t) => {
  const { promise, resolve } = Promise.withResolvers<Accept>()
  const { connect, listener } = await serve(t, () => promise)
  const sockets = [connect(), connect()]
  for (const socket of sockets) socket.end('1\n2\n3\n')
  const gone = connect()
  await once(gone, 'connect')
  gone.destroy()
  await until(() => listener.connections >= sockets.length)
  resolve(echo)
  assert.deepEqual(await Promise.all(sockets.map(all)), ['1!\n2!\n3!\nbye\n', '1!\n2!\n3!\nbye\n'])
})

test('what could not be loaded is told, closes the connection, and is tried again', async (t) => {
  const trouble = new Error('not today')
  let tries = 0
  const { connect, faults } = await serve(t, () =>
    tries++ === 0 ? Promise.reject(trouble) : Promise.resolve(echo),
  )
  assert.equal(await all(connect()), '')
  assert.deepEqual(faults, [trouble])
  const second = connect()
  second.end('again\n')
  assert.equal(await all(second), 'again!\nbye\n')
})
