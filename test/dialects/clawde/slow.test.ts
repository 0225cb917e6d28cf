import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { openRaw } from '../../support/raw-websocket.ts'
import { rigFor, type Client, type Json, type Rig } from './support.ts'

const KiB = 1024
/** More than all that a system keeps for a connection on its own, at both ends. */
const FLOOD = 44 * KiB ** 2

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

/** What the user has said, as a client was told it. */
const said = (client: Client): number[] =>
  client.pushes.flatMap(({ params }) => {
    const message = params['message'] as Json | undefined
    return message?.['role'] === 'user' ? [(message['content'] as string).length] : []
  })

const lagged = (client: Client): Json[] =>
  client.pushes.filter(({ method }) => method === 'events.lagged').map(({ params }) => params)

/**
 * Everybody is told this much, of messages to an agent. It goes on when those who read have read: nobody but the others is ever
 * behind, on however slow a machine.
 */
async function flood(rig: Rig, readers: [Client, ...Client[]], size: number): Promise<void> {
  const [client] = readers
  const sessionId = await rig.session(client)
  for (let n = 0; n * size < FLOOD; n++) {
    const content = '[[say ok]]'.padEnd(size + n, 'x')
    await client.turn(sessionId, content)
    for (const one of readers) await one.until(() => said(one).at(-1) === content.length)
  }
}

const isUpToDate = (client: Client, other: Client): boolean =>
  client.pushes.at(-1)?.params['seq'] === other.pushes.at(-1)?.params['seq']

/** Bytes outside of the heap that somebody holds. What nobody holds is given back in the background, by the next time. */
async function heldBytes(): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  let least = Infinity
  for (let n = 0; n < 5; n++) {
    collect()
    await setImmediate()
    least = Math.min(least, process.memoryUsage().arrayBuffers)
  }
  return least
}

// First of all: what other tests have left behind would go meanwhile.
test('twenty who never read cost no more than their bound, and the others go on', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  const headers = { authorization: `Bearer ${rig.token}` }
  const deaf = await Promise.all(Array.from({ length: 20 }, () => openRaw(t, rig.port, { headers })))
  for (const { socket } of deaf) socket.pause()
  const before = await heldBytes()
  await flood(rig, [client], 512 * KiB)
  const grown = (await heldBytes()) - before
  // 256 KiB each, and what they were sent last; nearly all of it is the same bytes for all of them.
  assert.ok(grown < 10 * KiB ** 2, `${Math.round(grown / KiB ** 2)} MiB`)
  const pushes = await client.turn(await rig.session(client), '[[burst 2000 20]]')
  assert.equal(pushes.at(-1)!.params['status'], 'idle')
  for (const { socket } of deaf) socket.destroy()
  assert.equal((await client.call('daemon.ping'))['pong'], true)
})

test('who stops reading is told so and catches up completely; who reads notices nothing', async (t) => {
  let now = 0
  const rig = await rigFor(t, { parts: { timing: { lagMs: 1000, now: () => now } } })
  const [client, fast] = [await rig.client(), await rig.client()]
  const slow = [await rig.client(), await rig.client()]
  const sessionId = await rig.session(client)
  // In the middle of a message, whose end they are told of later.
  const drip = client.turn(sessionId, '[[drip 60 30]]')
  for (const one of slow) {
    await one.push('session.messageUpdated')
    one.ws.pause()
  }
  await flood(rig, [client, fast], 2 * KiB ** 2)
  await drip
  await client.turn(sessionId, '[[burst 2000 20]]')
  await client.turn(sessionId, '[[say more]]')
  await fast.until(() => isUpToDate(fast, client))
  // Only those who do not read are behind while this second passes.
  now += 1000
  for (const one of slow) {
    assert.ok(!isUpToDate(one, client))
    one.ws.resume()
    // The second one stays away for longer, and another turn comes in between.
    await client.turn(sessionId, '[[say and on]]')
    await one.until(() => isUpToDate(one, client))
  }
  await fast.until(() => isUpToDate(fast, client))
  await slow[0]!.until(() => isUpToDate(slow[0]!, client))
  for (const one of [client, fast]) assert.deepEqual(lagged(one), [])
  for (const one of slow) {
    const [first] = lagged(one)
    assert.ok(first, 'it was told')
    assert.ok((first['missed'] as number) > 0)
    assert.equal(first['gap'], false)
    assert.deepEqual(said(one), said(client))
    assert.deepEqual(heard(one, sessionId), heard(client, sessionId))
    assert.ok(one.pushes.length - lagged(one).length <= client.pushes.length)
    assert.equal((await one.call('daemon.ping'))['pong'], true)
  }
})

test('who is behind for a moment only is not told, and misses nothing', async (t) => {
  const rig = await rigFor(t, { parts: { timing: { lagMs: 3_600_000 } } })
  const [client, slow] = [await rig.client(), await rig.client()]
  slow.ws.pause()
  await flood(rig, [client], 4 * KiB ** 2)
  slow.ws.resume()
  await slow.until(() => isUpToDate(slow, client))
  assert.deepEqual(said(slow), said(client))
  assert.deepEqual(lagged(slow), [])
})
