import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect as connectNats } from '@nats-io/transport-node'
import { connect, type NativeClient } from '../../src/client/client.ts'
import type { Event } from '../../src/core/event.ts'
import { corral } from '../cli/support.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { until } from '../support/wait.ts'
import { noNats, openProxy, startNats, type NatsServer, type Proxy } from './nats-server.ts'

/** What may go wrong around a fleet on NATS, with a real server: `suite.ts` has what is the same for every link. */
describe('NATS', { skip: noNats ?? false }, () => {
  let server: NatsServer
  /** Between the server and the machine that runs the sessions. */
  let proxy: Proxy
  let desk: TestDaemon
  let laptop: TestDaemon
  let far: NativeClient
  let near: NativeClient
  const settings = (url: string, name: string): NodeJS.ProcessEnv => ({
    CORRAL_FLEET_URL: url,
    CORRAL_FLEET_NAME: name,
    CORRAL_FLEET_HEARTBEAT_MS: '2000',
  })
  before(async () => {
    server = await startNats()
    proxy = await openProxy(server.port)
    desk = await startDaemon({ env: settings(proxy.url, 'desk') })
    laptop = await startDaemon({ env: settings(server.url, 'laptop') })
    far = await connect(desk.socket, { reconnect: true })
    near = await connect(laptop.socket, { reconnect: true })
    await until(isHere, 'desk is there')
  })
  after(async () => {
    near?.close()
    far?.close()
    await laptop?.stop()
    await desk?.stop()
    await proxy?.close()
    await server?.stop()
  })

  async function isHere(): Promise<boolean> {
    const { machines } = await near.call('machine.list')
    return machines.some(({ name, state }) => name === 'desk' && state === 'here')
  }
  async function make(): Promise<string> {
    const { id } = await far.call('session.create', { agent: 'demo', cwd: desk.project, mode: 'auto' })
    await until(() => turnsOf(near, id).then((count) => count !== null), 'the session is here')
    return id
  }
  const turnsOf = async (client: NativeClient, sessionId: string): Promise<number | null> =>
    (await client.call('session.get', { sessionId }).catch(() => null))?.turnCount ?? null
  const isIdle = async (client: NativeClient, sessionId: string): Promise<boolean> =>
    (await client.call('session.get', { sessionId })).status === 'idle'
  async function told(client: NativeClient, sessionId: string): Promise<unknown[]> {
    const { events } = await client.call('events.read', { sessionId, after: 0, whole: true, limit: 1000 })
    return (events as unknown as Event[]).map((event) => {
      const { seq: _, machine: __, ownerSeq: ___, ...rest } = event
      return rest
    })
  }
  /** All that has happened there is here, once. */
  async function same(sessionId: string, turns: number): Promise<void> {
    const isOver = async (client: NativeClient): Promise<boolean> =>
      (await turnsOf(client, sessionId)) === turns && (await isIdle(client, sessionId))
    await until(() => isOver(far), 'it is over there')
    await until(() => isOver(near), 'it has arrived')
    const all = (await told(far, sessionId)).length
    await until(async () => (await told(near, sessionId)).length >= all, 'all of it is here')
    assert.deepEqual(await told(near, sessionId), await told(far, sessionId))
  }
  async function arrives(work: () => Promise<unknown>): Promise<void> {
    const { head } = (await near.call('daemon.status')).log
    await work()
    await until(async () => (await near.call('daemon.status')).log.head > head, 'something arrives')
  }

  test('the server is killed in the middle of a turn, and started again', async () => {
    const sessionId = await make()
    await arrives(() => far.call('session.send', { sessionId, content: '[[drip 150 10]]' }))
    await server.kill9()
    await until(async () => !(await isHere()), 'nobody is there')
    const refused = await corral(laptop.env, ['send', sessionId, 'hi'])
    assert.match(refused.stderr, /desk does not answer/)
    await until(() => isIdle(far, sessionId), 'the turn ends without the server')
    await far.call('session.send', { sessionId, content: '[[say meanwhile]]' })
    await until(() => isIdle(far, sessionId), 'so does another one')
    assert.match((await corral(laptop.env, ['machines'])).stderr, /laptop, is not in the fleet: ./)
    await server.start()
    await same(sessionId, 2)
    await until(isHere, 'desk is there again')
  })

  test('the stream and the bucket are deleted in the middle of a turn', async () => {
    const sessionId = await make()
    await arrives(() => far.call('session.send', { sessionId, content: '[[drip 100 10]]' }))
    const nc = await connectNats({ servers: server.url })
    const jsm = await jetstreamManager(nc)
    await jsm.streams.delete('CORRAL')
    await same(sessionId, 1)
    await jsm.streams.delete('KV_corral_machines')
    await until(
      () =>
        jsm.streams.info('KV_corral_machines', { subjects_filter: '>' }).then(
          ({ state }) => Object.keys(state.subjects ?? {}).length === 2,
          () => false,
        ),
      'both say again that they are there',
    )
    await nc.close()
    await near.call('session.send', { sessionId, content: '[[say still there]]' })
    await same(sessionId, 2)
  })

  test('a machine that is killed is shown as gone, with its sessions, and comes back', async () => {
    const sessionId = await make()
    await arrives(() => far.call('session.send', { sessionId, content: '[[drip 200 10]]' }))
    await desk.kill9()
    await until(async () => !(await isHere()), 'it is gone')
    assert.equal((await near.call('session.get', { sessionId })).machine, 'desk')
    await assert.rejects(near.call('session.send', { sessionId, content: 'hi' }), {
      code: 'machine_unreachable',
    })
    await desk.restart()
    await same(sessionId, 1)
  })

  for (const direction of ['toServer', 'toClient'] as const)
    test(`nothing gets through ${direction}, and nobody is told`, async () => {
      const sessionId = await make()
      proxy.swallow({ toServer: false, toClient: false, [direction]: true })
      await until(async () => !(await isHere()), 'it is gone for the others')
      await far.call('session.send', { sessionId, content: '[[say alone]]' })
      await until(() => isIdle(far, sessionId), 'it works on')
      assert.equal(await turnsOf(near, sessionId), 0)
      proxy.swallow({ toServer: false, toClient: false })
      proxy.cut()
      await same(sessionId, 1)
      await until(isHere, 'desk is there again')
    })

  test('a second machine of the same name stays out, until the first one has left', async (t) => {
    const other = await startDaemon({ env: settings(server.url, 'desk') })
    t.after(() => other.stop())
    await until(async () => {
      const { stderr } = await corral(other.env, ['machines'])
      return /another machine of the fleet is called desk/.test(stderr)
    }, 'it is told')
    const sessionId = await make()
    await near.call('session.send', { sessionId, content: '[[say mine]]' })
    await same(sessionId, 1)
    await desk.terminate()
    const third = await connect(other.socket)
    t.after(() => third.close())
    const { id } = await third.call('session.create', { agent: 'demo', cwd: other.project, mode: 'auto' })
    await until(async () => (await turnsOf(near, id)) !== null, 'now the other one is desk')
    assert.equal(await turnsOf(near, sessionId), null, 'and what was the first one’s is gone here')
  })
})
