import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { NO_SESSION } from '../../../src/core/event.ts'
import { connect, NativeError, type NativeClient } from '../../../src/client/client.ts'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { goOn, HELD } from '../../support/held.ts'
import { makeRepository } from '../../support/repository.ts'
import { demoSession, turn } from './support.ts'

let daemon: TestDaemon
let client: NativeClient
before(async () => {
  daemon = await startDaemon({ env: { CORRAL_PAIRING_PIN_TTL_MS: '60000' } })
  client = await connect(daemon.socket, { reconnect: true })
})
after(async () => {
  client.close()
  await daemon.stop()
})

async function crash(): Promise<void> {
  await daemon.kill9()
  await daemon.restart()
}

const refused = (code: string) => (error: unknown) => error instanceof NativeError && error.code === code

test('what was acknowledged about projects, devices and the name is there after kill -9', async () => {
  const path = makeRepository(join(daemon.project, 'repo'))
  assert.equal((await client.call('daemon.status')).name, null)
  await client.call('daemon.setName', { name: 'Mac Mini' })
  await crash()
  assert.equal((await client.call('daemon.status')).name, 'Mac Mini')

  const made = await client.call('project.create', { name: 'One', description: 'd' })
  await crash()
  assert.deepEqual((await client.call('project.list')).projects, [made])
  await client.call('project.addRepo', { projectId: made.id, path })
  await client.call('project.update', { projectId: made.id, name: 'Uno' })
  await crash()
  const now = await client.call('project.get', { projectId: made.id })
  assert.deepEqual([now.name, now.description, now.repos.map((repo) => repo.path)], ['Uno', 'd', [path]])
  await client.call('project.removeRepo', { projectId: made.id, path })
  await client.call('project.delete', { projectId: made.id })
  await crash()
  await assert.rejects(client.call('project.get', { projectId: made.id }), refused('project_not_found'))

  const { pin } = await client.call('device.pin')
  const { device, token } = await client.call('device.pair', { pin, name: 'Phone', platform: 'ios' })
  assert.match(token, /^[0-9a-f]{64}$/)
  await crash()
  assert.deepEqual((await client.call('device.list')).devices, [device])
  await client.call('device.rename', { deviceId: device.id, name: 'Tablet' })
  await crash()
  assert.deepEqual(
    (await client.call('device.list')).devices.map(({ name }) => name),
    ['Tablet'],
  )
  await client.call('device.revoke', { deviceId: device.id })
  await crash()
  assert.deepEqual((await client.call('device.list')).devices, [])

  const { events } = await client.call('events.read', { after: 0, limit: 100 })
  assert.ok(events.every(({ sessionId }) => sessionId === NO_SESSION))
  assert.deepEqual(
    events.map(({ type }) => type),
    [
      'daemon.renamed',
      'project.created',
      'project.repo_added',
      'project.updated',
      'project.repo_removed',
      'project.deleted',
      'device.paired',
      'device.renamed',
      'device.revoked',
    ],
  )
  assert.ok(!JSON.stringify(events).includes(token))
})

test('a client that reads everything gets what belongs to no session, live, and one of a session does not', async () => {
  const session = await demoSession(client, daemon)
  const all = client.events({ types: ['daemon.renamed', 'turn.completed'] })
  const one = client.events({ sessionId: session.id })
  await Promise.all([all.ready, one.ready])
  await client.call('daemon.setName', { name: 'Another' })
  await turn(client, session.id, '[[say hi]]')
  const seen: string[] = []
  for await (const { type } of all) if (seen.push(type) === 2) break
  assert.deepEqual(seen, ['daemon.renamed', 'turn.completed'])
  for await (const { type, sessionId } of one) {
    assert.equal(sessionId, session.id)
    if (type === 'turn.completed') break
  }
})

test('what is wrong is said with its code', async () => {
  const nobody = '0190c0de-0000-7000-8000-000000000009'
  const { id: projectId } = await client.call('project.create', { name: 'p' })
  const path = join(daemon.project, 'nowhere')
  await assert.rejects(client.call('project.addRepo', { projectId, path }), refused('repo_not_found'))
  await assert.rejects(client.call('project.removeRepo', { projectId, path }), refused('repo_not_found'))
  await assert.rejects(client.call('project.create', { name: ' ' }), refused('invalid'))
  await assert.rejects(client.call('daemon.setName', { name: '\n' }), refused('invalid'))
  await assert.rejects(
    client.call('device.rename', { deviceId: nobody, name: 'x' }),
    refused('device_not_found'),
  )
  await assert.rejects(client.call('device.revoke', { deviceId: nobody }), refused('device_not_found'))
  await assert.rejects(client.call('device.pair', { pin: '000000', name: 'x' }), refused('pin_invalid'))
})

test('messages are found and sessions exported over the socket', async () => {
  const session = await demoSession(client, daemon)
  await turn(client, session.id, '[[say the needle is here]]')
  const { hits, next } = await client.call('messages.search', { text: 'needle', sessionId: session.id })
  assert.deepEqual(hits.map(({ role }) => role).toSorted(), ['assistant', 'user'])
  assert.equal(next, null)
  const answer = hits.find(({ role }) => role === 'assistant')!
  assert.deepEqual(
    answer.marks.map(([from, to]) => answer.text.slice(from, to)),
    ['needle'],
  )
  await crash()
  assert.deepEqual(
    (await client.call('messages.search', { text: 'needle', sessionId: session.id })).hits,
    hits,
  )
  let text = ''
  let cursor: string | null = null
  do {
    const page: { text: string; next: string | null } = await client.call('session.export', {
      sessionId: session.id,
      ...(cursor !== null && { cursor }),
    })
    text += page.text
    cursor = page.next
  } while (cursor !== null)
  assert.equal((JSON.parse(text) as { session: { id: string } }).session.id, session.id)
})

test('the queue runs in the order that it was given, over kill -9 too, every message once', async () => {
  const session = await demoSession(client, daemon)
  const sessionId = session.id
  const content = (word: string): string => `[[say ${word}]]`
  const { seq } = await client.call('session.send', { sessionId, content: HELD })
  const ids: Record<string, string> = {}
  for (const word of ['a', 'b', 'c', 'd']) {
    ids[word] = (await client.call('session.send', { sessionId, content: content(word) })).turnId
  }
  await Promise.all([
    client.call('queue.move', { sessionId, turnId: ids['d']!, position: 1 }),
    client.call('queue.move', { sessionId, turnId: ids['a']!, position: 99 }),
    client.call('queue.remove', { sessionId, turnId: ids['c']! }),
  ])
  const waiting = async (): Promise<string[]> =>
    (await client.call('queue.list', { sessionId })).turns.map(({ id }) => id)
  assert.deepEqual(await waiting(), [ids['d'], ids['b'], ids['a']])
  await assert.rejects(
    client.call('queue.move', { sessionId, turnId: ids['c']!, position: 1 }),
    refused('turn_not_found'),
  )
  await crash()
  await goOn(daemon, sessionId, '[[say first]]')
  const said: string[] = []
  const stream = client.events({ sessionId, after: seq, types: ['message.completed', 'turn.completed'] })
  let turns = 0
  for await (const event of stream) {
    if (event.type === 'message.completed') said.push(event.text)
    if (event.type === 'turn.completed' && ++turns === 4) break
  }
  assert.deepEqual(said, ['first', 'd', 'b', 'a'])
})
