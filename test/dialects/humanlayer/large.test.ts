import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serve, type Json, type Raw } from './raw.ts'

const MIB = 1024 ** 2

async function subscribe(client: Raw): Promise<void> {
  client.ask(1, 'Subscribe')
  await client.next()
}

test('a large event for a hundred who do not read is held once, and a reader gets it whole', async (t) => {
  const served = await serve(t)
  const { engine, cwd } = served.engine
  const { id: sessionId } = await engine.sessions.create({ agent: 'demo', cwd })
  for (let i = 0; i < 100; i++) {
    const silent = await served.connect()
    await subscribe(silent)
    silent.socket.pause()
  }
  const reader = await served.connect()
  await subscribe(reader)
  const title = 'é'.repeat(4 * MIB)
  const before = process.memoryUsage.rss()
  await engine.sessions.configure({ sessionId, title })
  const { result } = (await reader.next()) as { result: { event: { data: Json } } }
  const grown = process.memoryUsage.rss() - before
  assert.ok(result.event.data['title'] === title, 'not what was sent')
  assert.ok(grown < 200 * MIB, `${Math.round(grown / MIB)} MiB more`)
})
