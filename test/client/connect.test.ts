import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { WebSocketServer } from 'ws'
import { connect as connectPage } from '../../src/client/browser.ts'
import { connect, ConnectionLost, DaemonUnreachable, NativeError } from '../../src/client/node.ts'
import { tokenOf, webSocketOf } from '../dialects/native/support.ts'
import type { TestDaemon } from '../support/daemon.ts'
import { exitOf, until } from '../support/wait.ts'
import { cutting } from './cutting.ts'
import { corralFor, demo, lastingDaemon, WAYS } from './support.ts'

let daemon: TestDaemon
before(async () => {
  daemon = await lastingDaemon()
})
after(() => daemon.stop())

test('without a daemon it says so, and what to do', async () => {
  await assert.rejects(connect({ home: join(daemon.home, 'nobody') }), (error) => {
    assert.ok(error instanceof DaemonUnreachable)
    assert.deepEqual([error.code, error.remedy], ['unreachable', 'Start the daemon: corral start --detach'])
    return true
  })
  await assert.rejects(connectPage({ url: 'ws://127.0.0.1:1/native', token: 'x' }), DaemonUnreachable)
})

test('what is no address is told to be, and that of the dashboard will do', async () => {
  const dashboard = webSocketOf(daemon).replace('ws:', 'http:').replace('/native', '')
  for (const open of [connect, connectPage]) {
    for (const url of ['garbage', 'ws://', 'ftp://127.0.0.1/', '/tmp/corral.sock'])
      await assert.rejects(open({ url, token: 'x' }), (error) => {
        assert.ok(error instanceof NativeError)
        assert.deepEqual([error.code, error.data['field']], ['invalid', 'url'])
        return true
      })
    for (const url of [dashboard, `${dashboard}/`, webSocketOf(daemon)]) {
      const corral = await open({ url, token: tokenOf(daemon) })
      assert.equal((await corral.call('daemon.status')).pid, daemon.pid)
      corral.close()
    }
  }
})

test('somebody else at the address is not taken for nobody', async () => {
  const url = `${webSocketOf(daemon)}/elsewhere`
  await assert.rejects(connect({ url, token: tokenOf(daemon) }), (error) => {
    assert.ok(error instanceof DaemonUnreachable)
    assert.match(error.message, /^no daemon answers at .*: the answer is 404$/)
    assert.match(error.remedy, /address/)
    return true
  })
})

test('a page does not wait without end for one who opens the door and says nothing', async (t) => {
  const silent = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  t.after(() => silent.close())
  await once(silent, 'listening')
  const asked = new Promise((resolve) => silent.on('connection', (ws) => ws.once('message', resolve)))
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { port } = silent.address() as AddressInfo
  const connecting = connectPage({ url: `ws://127.0.0.1:${port}`, token: 'x' })
  const refused = assert.rejects(connecting, DaemonUnreachable)
  await asked
  for (const ms of [20_000, 8_000]) t.mock.timers.tick(ms)
  t.mock.timers.reset()
  await refused
})

test('a wrong token is refused, in a program and in a page', async () => {
  const url = webSocketOf(daemon)
  const tries = [
    () => connect({ url, token: 'x' }),
    () => connectPage({ url, token: 'x' }),
    () => connectPage({ url }),
  ]
  for (const refused of tries)
    await assert.rejects(refused, (error) => {
      assert.ok(error instanceof NativeError)
      assert.equal(error.code, 'unauthorized')
      assert.match(error.remedy, /corral token show/)
      return true
    })
})

for (const way of WAYS) {
  test(`over ${way.name} a refusal has the code of the catalogue, and says what to do`, async (t) => {
    const corral = await corralFor(t, way, daemon)
    await assert.rejects(corral.sessions.get('nobody'), (error) => {
      assert.ok(error instanceof NativeError)
      assert.deepEqual([error.code, error.remedy], ['session_not_found', 'List the sessions.'])
      return true
    })
  })

  test(`over ${way.name} sessions are listed and watched`, async (t) => {
    const corral = await corralFor(t, way, daemon)
    const session = await demo(corral, daemon)
    await session.turn('[[say hello]]')
    const ids: string[] = []
    for await (const { id } of corral.sessions.list({ limit: 1 })) ids.push(id)
    assert.equal(ids[0], session.id)
    assert.equal(new Set(ids).size, ids.length)
    let isFirst = true
    for await (const { sessions, counts } of corral.sessions.watch()) {
      const row = sessions.find(({ id }) => id === session.id)
      assert.ok(row)
      if (isFirst) await session.configure({ title: 'Renamed' })
      isFirst = false
      assert.equal(typeof counts.done, 'number')
      if (row.title === 'Renamed') break
    }
  })
}

test('a message whose answer is lost is sent once', async (t) => {
  const socket = await cutting(t, daemon, 'session.send')
  const corral = await connect({ socket })
  t.after(() => corral.close())
  const session = await demo(corral, daemon)
  assert.equal((await session.turn('[[say once]]')).text, 'once')
  assert.equal((await corral.call('turn.list', { sessionId: session.id })).turns.length, 1)
})

test('a stop whose answer is lost does not stop the next turn', async (t) => {
  const socket = await cutting(t, daemon, 'session.interrupt')
  const corral = await connect({ socket })
  t.after(() => corral.close())
  const session = await demo(corral, daemon)
  await session.send('[[hang]]')
  await assert.rejects(session.interrupt(), ConnectionLost)
  const { turnId } = await session.send('[[hang]]')
  await until(async () => (await session.refresh()).turn?.id === turnId)
  assert.deepEqual((await corral.call('turn.get', { turnId })).state, 'running')
  // Whoever says which one may say it as often as they want.
  await corral.call('session.interrupt', { sessionId: session.id, turnId })
})

test('a session whose answer is lost is made once', async (t) => {
  const socket = await cutting(t, daemon, 'session.create')
  const corral = await connect({ socket })
  t.after(() => corral.close())
  const count = async (): Promise<number> => {
    const ids = new Set<string>()
    for await (const { id } of corral.sessions.list()) ids.add(id)
    return ids.size
  }
  const before = await count()
  await demo(corral, daemon)
  assert.equal(await count(), before + 1)
})

/** Everything that a client has, then its end: nothing keeps the process. */
const PROGRAM = (entry: string, options: object): string => `
import { connect } from ${JSON.stringify(entry)}
{
  await using corral = await connect(${JSON.stringify(options)})
  const session = await corral.sessions.start({ agent: 'demo', directory: ${JSON.stringify(daemon.project)}, mode: 'ask' })
  const feed = corral.events()
  await feed.ready
  const reading = (async () => { for await (const _ of feed); })()
  const rows = (async () => { for await (const _ of corral.sessions.watch()); })()
  const asked = (async () => { for await (const approval of session.approvals()) await approval.settled().catch(() => {}) })()
  const turn = session.turn('[[shell ls]]')
  turn.catch(() => {})
  for await (const _ of session.approvals()) break
  corral.close()
  await Promise.all([reading, rows, asked])
}
console.log('closed')
`

for (const kind of ['node', 'browser'] as const) {
  test(`nothing keeps a process after close (${kind})`, async () => {
    const entry = join(import.meta.dirname, `../../src/client/${kind}.ts`)
    const options =
      kind === 'node' ? { home: daemon.corralHome } : { url: webSocketOf(daemon), token: tokenOf(daemon) }
    const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM(entry, options)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let said = ''
    for (const output of [child.stdout, child.stderr]) output.on('data', (data: Buffer) => (said += data))
    assert.equal(await exitOf(child, () => `the program ends; it says: ${said}`), 0, said)
    assert.equal(said, 'closed\n')
  })
}
