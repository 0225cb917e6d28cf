import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { forMany } from '../../src/transports/line-writer.ts'
import { listenUnix, type LineConnection, type UnixOptions } from '../../src/transports/unix.ts'

const KIB = 1024

/** One connection, from both ends; `received` is all that comes until the server closes it. */
async function pair(t: TestContext, options: Partial<UnixOptions> = {}, drain?: () => void) {
  const home = mkdtempSync(join(tmpdir(), 'corral-large-'))
  const accepted = Promise.withResolvers<LineConnection>()
  const listener = await listenUnix({
    ...options,
    path: join(home, 'c.sock'),
    accept(connection) {
      accepted.resolve(connection)
      return { line() {}, ...(drain && { drain }) }
    },
  })
  const socket = createConnection(listener.path)
  t.after(async () => {
    socket.destroy()
    await listener.close()
    rmSync(home, { recursive: true, force: true })
  })
  const received = async (): Promise<string[]> => {
    const chunks: Buffer[] = []
    for await (const chunk of socket) chunks.push(chunk as Buffer)
    return Buffer.concat(chunks).toString().split('\n').slice(0, -1)
  }
  return { connection: await accepted.promise, received }
}

test('small and large lines come whole and in order, whatever their mixture', async (t) => {
  const { connection, received } = await pair(t)
  const sent: string[] = []
  const lines = received()
  for (let i = 0; i < 300; i++) {
    const line = `${i} ${'é'.repeat((i * 7919) % 5 === 0 ? 40 * KIB + i : i)}`
    sent.push(line)
    connection.send(i % 5 === 0 ? Buffer.from(line) : line)
    if (i % 11 === 0) await new Promise(setImmediate)
    if (i % 13 === 0) connection.flush()
  }
  connection.close()
  const got = await lines
  assert.equal(got.length, sent.length)
  assert.ok(got.every((line, i) => line === sent[i]))
})

test('a large line counts as unsent, and room is told of once it is gone', async (t) => {
  const drained = Promise.withResolvers<void>()
  const { connection, received } = await pair(t, { sendLimit: 512 * KIB }, drained.resolve)
  const line = forMany('x'.repeat(2048 * KIB))
  assert.ok(Buffer.isBuffer(line))
  assert.equal(connection.send('first'), true)
  assert.equal(connection.send(line), false)
  const lines = received()
  await drained.promise
  assert.equal(connection.send('last'), true)
  connection.close()
  assert.deepEqual(
    (await lines).map(({ length }) => length),
    [5, 2048 * KIB, 4],
  )
})

test('only large lines are encoded in advance', () => {
  assert.equal(forMany('small'), 'small')
  const large = 'ü'.repeat(65 * KIB)
  assert.equal(forMany(large).toString(), large)
  assert.ok(Buffer.isBuffer(forMany(large)))
})
