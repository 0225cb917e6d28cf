import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rigFor, type Client, type Json } from './support.ts'

/** What a client that was told this has of a session's assistant messages. */
function heard(client: Client, sessionId: string): string[] {
  const messages = new Map<string, { content: string; status: unknown }>()
  for (const { method, params } of client.pushes) {
    if (params['sessionId'] !== sessionId) continue
    const message = params['message'] as Json | undefined
    if (method === 'session.messageCreated' && message?.['role'] === 'assistant') {
      assert.ok(!messages.has(message['id'] as string), 'a message is created once')
      messages.set(message['id'] as string, {
        content: message['content'] as string,
        status: message['status'],
      })
    }
    if (method !== 'session.messageUpdated') continue
    assert.ok(messages.has(params['messageId'] as string), 'a message is created before it is updated')
    messages.set(params['messageId'] as string, {
      content: params['content'] as string,
      status: params['status'],
    })
  }
  for (const { status } of messages.values()) assert.equal(status, 'done')
  return [...messages.values()].map(({ content }) => content)
}

test('who stops reading is told so and catches up completely; nobody else notices', async (t) => {
  const rig = await rigFor(t)
  const [client, slow] = [await rig.client(), await rig.client()]
  const sessionId = await rig.session(client)
  await slow.push('session.statusChanged')
  slow.ws.pause()
  for (let turn = 0; turn < 3; turn++) await client.turn(sessionId, '[[burst 20000 20]]')
  await client.turn(sessionId, '[[say the end]]')
  assert.ok(!client.pushes.some(({ method }) => method === 'events.lagged'))
  // Who is behind for less than a second is not told.
  await new Promise((resolve) => setTimeout(resolve, 1500))
  slow.ws.resume()
  await slow.until(() => slow.pushes.at(-1)?.params['seq'] === client.pushes.at(-1)!.params['seq'])
  const lagged = slow.pushes.find(({ method }) => method === 'events.lagged')
  assert.ok(lagged, 'it was told')
  assert.ok((lagged.params['missed'] as number) > 0)
  assert.equal(lagged.params['gap'], false)
  assert.deepEqual(heard(slow, sessionId), heard(client, sessionId))
  assert.ok(slow.pushes.length <= client.pushes.length + 5)
  assert.equal((await slow.call('daemon.ping'))['pong'], true)
})

test('a hundred who never read cost little, and the others go on', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  const sessionId = await rig.session(client)
  const deaf = await Promise.all(Array.from({ length: 100 }, () => rig.client()))
  for (const one of deaf) one.ws.pause()
  const before = process.memoryUsage().rss
  const pushes = await client.turn(sessionId, '[[burst 5000 20]]')
  assert.equal(pushes.at(-1)!.params['status'], 'idle')
  const grown = process.memoryUsage().rss - before
  assert.ok(grown < 300 * 1024 ** 2, `${Math.round(grown / 1024 ** 2)} MiB`)
  for (const one of deaf) one.ws.resume()
  for (const one of deaf) await one.push('session.statusChanged', ({ status }) => status === 'idle')
})
