import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startIssuer } from '../../support/oauth-issuer.ts'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { clientFor as nativeFor, daemonFor } from '../native/support.ts'
import { until } from '../../support/wait.ts'
import { catchesHangups, clientFor, demoSession, turn, type Sent } from './support.ts'

/** Well below the time that a request may wait for a daemon. */
const SOON_MS = 20_000

let daemon: TestDaemon

before(async () => {
  daemon = await startDaemon()
})

after(() => daemon.stop())

test('a daemon that is gone for good keeps nobody from leaving', async (t) => {
  const gone = await daemonFor(t)
  const ways = ['stdin', 'SIGINT', 'SIGTERM', 'system.shutdown'] as const
  const clients = ways.map(() => clientFor(t, gone))
  await Promise.all(
    clients.map(async (client) => {
      const sessionId = await demoSession(client)
      await client.call('session.send', { session_id: sessionId, text: '[[drip 1000 20]]' })
      await client.event('session.stream.chunk')
    }),
  )
  await gone.kill9()
  const begun = Date.now()
  for (const [at, way] of ways.entries()) {
    const { child } = clients[at]!
    if (way === 'stdin') child.stdin!.end()
    else if (way === 'system.shutdown') clients[at]!.write(line('end', way))
    else child.kill(way)
  }
  assert.deepEqual(await Promise.all(clients.map(({ exited }) => exited)), [0, 0, 0, 0])
  assert.ok(Date.now() - begun < SOON_MS, `${Date.now() - begun} ms`)
  assert.deepEqual(clients[3]!.lines.find(({ id }) => id === 'end')!.result, { accepted: true })
})

function line(id: string, method: string, params?: object): string {
  return `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`
}

test('a daemon that hangs keeps nobody from leaving, in the middle of a sign-in or at the start', async (t) => {
  if (process.platform !== 'linux') return t.skip('reads /proc')
  const issuer = await startIssuer()
  t.after(issuer.close)
  const hanging = await daemonFor(t, {
    env: {
      CORRAL_SIGNIN_OPENAI_ISSUER: issuer.url,
      CORRAL_SIGNIN_OPENAI_CLIENT_ID: issuer.clientId,
      CORRAL_SIGNIN_OPENAI_PORT: '0',
      CORRAL_SIGNIN_KEYCHAIN: 'false',
    },
  })
  const [inFlow, inQuest] = [clientFor(t, hanging), clientFor(t, hanging)]
  inFlow.write(line('flow', 'auth.connect.openai', { mode: 'browser' }))
  await inFlow.event('auth.flow.url')
  await demoSession(inQuest)
  process.kill(hanging.pid, 'SIGSTOP')
  try {
    const late = clientFor(t, hanging)
    await until(() => catchesHangups(late.child.pid!), 'its handlers')
    inQuest.write(line('quest', 'state.get'))
    const begun = Date.now()
    for (const { child } of [inFlow, inQuest, late]) child.kill('SIGTERM')
    assert.deepEqual(await Promise.all([inFlow.exited, inQuest.exited, late.exited]), [0, 0, 0])
    assert.ok(Date.now() - begun < SOON_MS, `${Date.now() - begun} ms`)
  } finally {
    process.kill(hanging.pid, 'SIGCONT')
  }
})

test('a second SIGINT changes nothing', async (t) => {
  const client = clientFor(t, daemon)
  await demoSession(client)
  client.child.kill('SIGINT')
  client.child.kill('SIGINT')
  assert.equal(await client.exited, 0)
})

test('a session that somebody else removes in the middle of a turn is over here, and not for others', async (t) => {
  const native = await nativeFor(t, daemon)
  const client = clientFor(t, daemon)
  const sessionId = await demoSession(client)
  const kept = await demoSession(client)
  const { turn_id } = await client.call<Sent>('session.send', { session_id: sessionId, text: '[[hang]]' })
  await client.call('session.send', { session_id: sessionId, text: 'next', enqueue: true })
  await until(async () => (await native.call('session.get', { sessionId })).status === 'running', 'a turn')
  await native.call('session.destroy', { sessionId })
  await client.event('session.interrupted', (it) => it.turn_id === turn_id)
  await client.event('session.status', (it) => it.session_id === sessionId && !it.pending)
  for (const method of ['session.get', 'session.interrupt', 'session.queue.list', 'session.queue.clear']) {
    const error = await client.fails(method, { session_id: sessionId })
    assert.deepEqual([error.message, error.data.kind], [`unknown session: ${sessionId}`, 'session_not_found'])
  }
  const { sessions } = await client.call<{ sessions: { ids: string[] } }>('state.get')
  assert.deepEqual(sessions.ids, [kept])
  await turn(client, kept, 'still here')
})

test('of a thousand prompts as many wait, in order, as may; the others are refused in words', async (t) => {
  const client = clientFor(t, daemon)
  const session_id = await demoSession(client)
  await client.call('session.send', { session_id, text: '[[hang]]' })
  const texts = Array.from({ length: 1000 }, (_, at) => `prompt ${at}`)
  const answers = await Promise.all(
    texts.map((text) => client.ask('session.send', { session_id, text, enqueue: true })),
  )
  const refused = answers.flatMap(({ error }) => error ?? [])
  assert.deepEqual(new Set(refused.map(({ data }) => data.kind)), new Set(['queue_full']))
  const { queue } = await client.call<{ queue: { text: string }[] }>('session.queue.list', { session_id })
  assert.deepEqual(
    queue.map(({ text }) => text),
    texts.slice(0, 1000 - refused.length),
  )
  const { cleared_count } = await client.call('session.queue.clear', { session_id })
  assert.equal(cleared_count, queue.length)
  await client.call('session.interrupt', { session_id })
  await client.event('session.interrupted')
  await turn(client, session_id, 'and on')
})

test('a tool that a rule refuses is told as refused', async (t) => {
  const native = await nativeFor(t, daemon)
  const client = clientFor(t, daemon)
  const sessionId = await demoSession(client)
  const outcome = async () => {
    const { lines } = await turn(client, sessionId, '[[shell echo here]]')
    const done = lines.find(({ params }) => params?.type === 'session.tool.call.completed')!
    return done.params!.payload.data.executed
  }
  await native.call('session.configure', { sessionId, rules: { deny: ['Shell(echo *)'] } })
  const { ok, error } = await outcome()
  assert.deepEqual([ok, typeof error], [false, 'string'])
  await native.call('session.configure', { sessionId, rules: { deny: [] } })
  assert.equal((await outcome()).ok, true)
})

test('a question that somebody must answer is shown, and any other client answers it', async (t) => {
  const native = await nativeFor(t, daemon)
  const client = clientFor(t, daemon)
  const sessionId = await demoSession(client)
  await native.call('session.configure', { sessionId, mode: 'ask' })
  await client.call('session.send', { session_id: sessionId, text: '[[shell echo allowed]]' })
  await client.event('session.status', (it) => it.status_label.startsWith('waiting for approval'))
  const { approvals } = await native.call('approval.list', { sessionId })
  await native.call('approval.decide', { approvalId: approvals[0]!.id, behavior: 'allow' })
  await client.event('session.completed')
  assert.equal(client.events('session.tool.call.completed')[0]!.payload.data.executed.ok, true)
})

test('two processes in one session tell the same, and each has its answers', async (t) => {
  const clients = [clientFor(t, daemon), clientFor(t, daemon)]
  const session_id = await demoSession(clients[0]!)
  await clients[1]!.state(session_id)
  await Promise.all(
    Array.from({ length: 20 }, (_, at) =>
      clients[at % 2]!.call('session.send', { session_id, text: `message ${at}`, enqueue: true }),
    ),
  )
  const told = clients.map((client) =>
    until(() => {
      const done = client.events('session.completed')
      return done.length === 20 ? done.map(({ seq, payload }) => [seq, payload.turn_id]) : null
    }, 'all answers'),
  )
  assert.deepEqual(await told[0], await told[1])
})

test('garbage between requests costs one error each, and no more', async (t) => {
  const client = clientFor(t, daemon)
  const garbage = [
    Buffer.from([0xff, 0xfe, 0x0a]),
    Buffer.from('{"jsonrpc":"2.0","id":1,"method":"system.ping"'),
    Buffer.from('\n[[[[[[[[\n'),
    Buffer.from(`${'['.repeat(100_000)}\n`),
    Buffer.from('{"jsonrpc":"2.0","id":{},"method":"system.ping"}\n\u0000\n'),
    Buffer.from('{"jsonrpc":"2.0","id":"p","method":"__proto__"}\n'),
    Buffer.from('{"jsonrpc":"2.0","id":"c","method":"constructor","params":{}}\n'),
    Buffer.from('{"jsonrpc":"2.0","id":"s","method":"session.get","params":{"session_id":"../../etc"}}\n'),
  ]
  for (const piece of garbage) client.write(piece)
  await client.unnamed(6)
  assert.equal((await client.ask('system.ping')).result!['ok'], true)
  for (const [wanted, code] of Object.entries({ p: -32601, c: -32601, s: -32603 })) {
    const answer = await until(() => client.lines.find(({ id }) => id === wanted), wanted)
    assert.equal(answer.error!.code, code)
  }
  assert.equal((await client.unnamed(6)).length, 6)
})

test('requests in one write are carried out in their order', async (t) => {
  const native = await nativeFor(t, daemon)
  const client = clientFor(t, daemon)
  const session_id = await demoSession(client)
  client.write(
    line('send', 'session.send', { session_id, text: '[[hang]]' }) +
      line('interrupt', 'session.interrupt', { session_id }),
  )
  const { result } = await until(() => client.lines.find(({ id }) => id === 'interrupt'), 'an answer')
  assert.equal(result!['interrupted'], true)
  await client.event('session.interrupted')
  client.write(
    line('again', 'session.send', { session_id, text: '[[hang]]' }) +
      line('queue', 'session.send', { session_id, text: 'next', enqueue: true }) +
      line('end', 'system.shutdown'),
  )
  assert.equal(await client.exited, 0)
  const answered = client.lines.flatMap(({ id }) => id ?? [])
  assert.deepEqual(answered.slice(-3), ['again', 'queue', 'end'])
  await until(async () => {
    const { turn: running, queued } = await native.call('session.get', { sessionId: session_id })
    return running === null && queued === 0
  }, 'the end of the turn')
})

test('what cannot be an id is the id of nothing, and a title may be long', async (t) => {
  const client = clientFor(t, daemon)
  const long = 'x'.repeat(5000)
  const { message, data } = await client.fails('session.get', { session_id: long })
  assert.deepEqual([message, data.kind], [`unknown session: ${long}`, 'session_not_found'])
  const sessionId = await demoSession(client, long)
  const native = await nativeFor(t, daemon)
  assert.equal((await native.call('session.get', { sessionId })).title, long.slice(0, 500))
})
