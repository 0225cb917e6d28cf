import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { connect as connectNats, type Msg } from '@nats-io/transport-node'
import { connect } from '../../src/client/client.ts'
import { sealWith } from '../../src/fleet/nats/seal.ts'
import { corral } from '../cli/support.ts'
import { startDaemon } from '../support/daemon.ts'
import { until } from '../support/wait.ts'
import { noNats, startNats } from './nats-server.ts'

const secret = (): string => randomBytes(32).toString('base64')

test('what is sealed opens with the same key under the same subject, and is never twice the same', () => {
  const key = secret()
  const [one, two, other] = [sealWith(key), sealWith(`${key}\n`), sealWith(secret())]
  const data = Buffer.from('words')
  const sealed = one.seal(data, 'a.b')
  assert.deepEqual(two.open(sealed, 'a.b')?.data, data)
  assert.equal(two.open(sealed, 'a.c'), null)
  assert.equal(other.open(sealed, 'a.b'), null)
  assert.equal(two.open(data, 'a.b'), null)
  for (const place of sealed.keys()) {
    const changed = Buffer.from(sealed)
    changed[place]! ^= 1
    assert.equal(two.open(changed, 'a.b'), null, `byte ${place}`)
  }
  assert.notDeepEqual(one.seal(data, 'a.b'), sealed)
  const counts = [1, 2, 3].map(() => two.open(one.seal(data, 's'), 's')!.origin!.count)
  assert.deepEqual(counts, [3, 4, 5])
  assert.throws(() => sealWith('short'), /too short/)
})

test(
  'whoever runs NATS reads nothing, repeats nothing and gets nothing in',
  { skip: noNats ?? false },
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'corral-key-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const server = await startNats()
    t.after(() => server.stop())
    const daemon = async (name: string, key: string) => {
      const file = join(folder, `${name}.key`)
      writeFileSync(file, key)
      const env = { CORRAL_FLEET_URL: server.url, CORRAL_FLEET_NAME: name, CORRAL_FLEET_KEY: file }
      const started = await startDaemon({ env })
      t.after(() => started.stop())
      const client = await connect(started.socket)
      t.after(() => client.close())
      return { ...started, client }
    }
    const spy = await connectNats({ servers: server.url })
    t.after(() => spy.close())
    const heard: Msg[] = []
    spy.subscribe('>', { callback: (_, message) => void heard.push(message) })
    await spy.flush()

    const key = secret()
    const desk = await daemon('desk', key)
    const laptop = await daemon('laptop', key)
    const stranger = await daemon('stranger', secret())
    const { id: sessionId } = await desk.client.call('session.create', {
      agent: 'demo',
      cwd: desk.project,
      mode: 'auto',
      title: 'Plain title',
    })
    const get = () => laptop.client.call('session.get', { sessionId }).catch(() => null)
    await until(get, 'the session is here')
    await laptop.client.call('session.send', { sessionId, content: '[[say plain answer]]' })
    await until(
      async () => (await get())?.status === 'idle' && (await get())?.turnCount === 1,
      'it is answered',
    )

    for (const title of ['One', 'Two']) await laptop.client.call('session.configure', { sessionId, title })

    const texts = heard.map(({ data }) => Buffer.from(data).toString('latin1'))
    assert.ok(heard.some(({ subject }) => subject.startsWith('corral.ev.desk.')))
    assert.ok(heard.some(({ subject }) => subject === 'corral.act.desk'))
    for (const word of ['Plain title', 'plain answer', desk.project, 'session.created'])
      assert.ok(!texts.some((text) => text.includes(word)), word)

    const commands = heard.filter(({ subject }) => subject === 'corral.act.desk')
    for (const { subject, data, reply } of commands.toReversed())
      spy.publish(subject, data, { reply: reply! })
    spy.publish('corral.act.desk', JSON.stringify({ id: 'x', part: 0, parts: 1, head: null }) + '\n{}')
    await spy.flush()
    // What comes after them has come when they have.
    await laptop.client.call('session.send', { sessionId, content: '[[say second]]' })
    await until(
      async () => (await get())?.status === 'idle' && (await get())!.turnCount >= 2,
      'it is answered',
    )
    const after = await desk.client.call('session.get', { sessionId })
    assert.deepEqual([after.turnCount, after.title], [2, 'Two'])

    const names = async (client: typeof desk.client): Promise<string[]> =>
      (await client.call('machine.list')).machines.map(({ name }) => name)
    assert.deepEqual(await names(laptop.client), ['desk'])
    assert.deepEqual(await names(stranger.client), [])
    const same = await daemon('desk', secret())
    await until(
      async () => /desk is in the fleet with another key/.test((await corral(same.env, ['machines'])).stderr),
      'it is told that its key is another one',
    )
  },
)
