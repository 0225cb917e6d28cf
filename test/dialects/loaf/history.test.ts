import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { connect, type NativeClient } from '../../../src/client/client.ts'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { until } from '../../support/wait.ts'
import { clientFor, DEMO, demoSession, startClient, turn, type Client, type EventParams } from './support.ts'

let daemon: TestDaemon
let native: NativeClient
let client: Client
/** The oldest first. */
const made: string[] = []

before(async () => {
  daemon = await startDaemon()
  native = await connect(daemon.socket)
  client = startClient(daemon)
  assert.equal((await client.fails('history.get', { last: true })).message, 'no saved chat history yet')
  for (const text of ['one', 'two', 'three', 'four', 'five']) {
    const sessionId = await demoSession(client, text === 'five' ? 'Named' : undefined)
    await turn(client, sessionId, `message ${text}`)
    made.push(sessionId)
  }
})

after(async () => {
  await client.close()
  native.close()
  await daemon.stop()
})

interface Summary {
  id: string
  title: string
  rolloutPath: string
  messageCount: number
}

interface Page {
  total: number
  cursor: number
  limit: number
  sessions: Summary[]
  next_cursor: number | null
}

describe('the history', () => {
  test('comes in pages that go on where the last one ended', async () => {
    const ids: string[] = []
    let cursor: number | null = 0
    while (cursor !== null) {
      const page: Page = await client.call<Page>('history.list', { limit: 2, cursor })
      assert.deepEqual([page.total, page.limit, page.cursor], [5, 2, cursor])
      ids.push(...page.sessions.map(({ id }) => id))
      cursor = page.next_cursor
    }
    assert.deepEqual(ids, made.toReversed())
  })

  test('has its limits as the original has them', async () => {
    const limits = [undefined, 0, -5, 2.9].map(async (limit) => {
      return (await client.call<Page>('history.list', { limit })).limit
    })
    assert.deepEqual(await Promise.all(limits), [100, 100, 1, 2])
    assert.equal((await client.call<Page>('history.list', { cursor: -1 })).cursor, 0)
    const beyond = await client.call<Page>('history.list', { cursor: 99 })
    assert.deepEqual([beyond.sessions, beyond.next_cursor], [[], null])
  })

  test('sums up each session', async () => {
    const { sessions } = await client.call<Page>('history.list')
    const { rolloutPath, ...first } = sessions[0]! as Summary & { createdAt: string; updatedAt: string }
    const { createdAt, updatedAt } = first
    assert.deepEqual(first, {
      id: made[4],
      title: 'Named',
      provider: 'demo',
      model: 'demo',
      thinkingLevel: 'HIGH',
      createdAt: new Date(createdAt).toISOString(),
      updatedAt: new Date(updatedAt).toISOString(),
      messageCount: 2,
    })
    assert.match(rolloutPath, /^corral\/sessions\/\d{4}\/\d\d\/\d\d\/rollout-.*\.jsonl$/)
    assert.equal(sessions[1]!.title, 'message four')
  })

  test('has one session by its id, the beginning of it, its path, or as the last', async () => {
    const { sessions } = await client.call<Page>('history.list')
    const [last, , third] = sessions as [Summary, Summary, Summary]
    for (const [params, id] of [
      [{ id: third.id }, third.id],
      [{ id: third.id.toUpperCase() }, third.id],
      [{ id: third.id.slice(0, 30) }, third.id],
      [{ rollout_path: third.rolloutPath }, third.id],
      [{ rollout_path: third.rolloutPath, id: last.id }, third.id],
      [{ last: true, id: third.id }, last.id],
    ] as const) {
      const found = await client.call<Summary & { messages: object[] }>('history.get', params)
      assert.equal(found.id, id, JSON.stringify(params))
      assert.equal(found.messages.length, found.messageCount)
    }
    const { messages } = await client.call<{ messages: object[] }>('history.get', { id: made[0] })
    assert.deepEqual(messages, [
      { role: 'user', text: 'message one' },
      { role: 'assistant', text: 'echo: message one' },
    ])
  })

  test('says in words what it does not have', async () => {
    for (const [params, message] of [
      [{}, 'history.get requires one of: id, last, rollout_path'],
      [undefined, 'history.get requires one of: id, last, rollout_path'],
      [{ last: false }, 'history.get requires one of: id, last, rollout_path'],
      [{ id: 'nobody' }, 'no saved chat matched id: nobody'],
      [{ id: '0' }, 'no saved chat matched id: 0'],
      [{ rollout_path: '/etc/passwd' }, 'failed to load chat: /etc/passwd'],
    ] as const) {
      const error = await client.fails('history.get', params)
      assert.deepEqual([error.code, error.message], [-32603, message])
    }
  })

  test('of a session is cleared, also while a turn runs', async () => {
    const sessionId = await demoSession(client)
    await turn(client, sessionId, '[[remember blue]]')
    await client.call('session.send', { session_id: sessionId, text: '[[hang]]' })
    const answer = await client.call('history.clear_session', { session_id: sessionId })
    assert.deepEqual(answer, { session_id: sessionId, cleared: true })
    const { messages, history, pending } = await client.state(sessionId)
    assert.deepEqual([messages, history, pending], [[], [], false])
    await turn(client, sessionId, '[[recall]]')
    assert.equal((await client.state(sessionId)).history.at(-1)!.text, 'recall: none')
  })
})

describe('a session of somebody else', () => {
  test('is opened by asking for it: what was, and what comes', async (t) => {
    const { id: sessionId } = await native.call('session.create', { agent: 'demo', cwd: daemon.project })
    const other = clientFor(t, daemon)
    await other.call('system.ping')
    await native.call('session.configure', { sessionId, mode: 'ask' })
    await native.call('session.send', { sessionId, content: '[[shell ls]]' })
    // The turn waits, so that it cannot be over before it is looked at.
    const { messages } = await other.state(sessionId)
    assert.equal(messages[0]!.text, '[[shell ls]]')
    const approval = await until(async () => {
      return (await native.call('approval.list', { sessionId })).approvals[0]
    }, 'a question')
    await native.call('approval.decide', { approvalId: approval.id, behavior: 'allow' })
    await other.event('session.completed', (it) => it.session_id === sessionId)
    await other.call('model.select', DEMO)
    await turn(other, sessionId, 'and I')
    const { history } = await other.state(sessionId)
    assert.deepEqual(
      history.map(({ role }) => role),
      ['user', 'assistant', 'user', 'assistant'],
    )
  })

  test('that is removed is unknown from then on', async () => {
    const sessionId = await demoSession(client)
    await native.call('session.destroy', { sessionId })
    const error = await client.fails('session.send', { session_id: sessionId, text: 'hello?' })
    assert.equal(error.message, `unknown session: ${sessionId}`)
  })
})

describe('events', () => {
  test('are replayed, in this process and in another: the same numbers, the same ids', async (t) => {
    const sessionId = await demoSession(client)
    const from = client.lines.length
    await turn(client, sessionId, '[[shell ls]]')
    const live = client.lines.slice(from).flatMap(({ params }) => params ?? [])
    const pick = ({ type, seq, payload }: EventParams) => ({ type, seq, payload })
    const whole = (events: EventParams[]) =>
      events.filter(({ type }) => !/chunk|status/.test(type)).map((one) => pick(one))
    const other = clientFor(t, daemon)
    for (const asker of [client, other]) {
      const { events, next } = await asker.call<{ events: EventParams[]; next: number | null }>(
        'events.replay',
        { session_id: sessionId, after: live[0]!.seq },
      )
      assert.deepEqual(whole(events), whole(live.slice(1)))
      assert.equal(next, null)
    }
    const first = await client.call<{ events: EventParams[]; next: number }>('events.replay', {
      session_id: sessionId,
      limit: 2,
    })
    assert.equal(first.events.length, 2)
    assert.equal(first.next, first.events[1]!.seq)
    const rest = await client.call<{ sessions: { session_id: string; events: EventParams[] }[] }>(
      'events.replay',
      { after: live.at(-1)!.seq - 1 },
    )
    const mine = rest.sessions.find(({ session_id }) => session_id === sessionId)!
    assert.deepEqual(mine.events.map(pick), [pick(live.at(-1)!)])
  })

  test('of a session that is not begun are none', async (t) => {
    const { session_id } = await clientFor(t, daemon).call<{ session_id: string }>('session.create')
    const own = clientFor(t, daemon)
    const made = await own.call<{ session_id: string }>('session.create')
    const none = await own.call('events.replay', { session_id: made.session_id })
    assert.deepEqual(none, { session_id: made.session_id, events: [], next: null })
    assert.equal((await own.fails('events.replay', { session_id })).data.kind, 'session_not_found')
  })

  test('have more in them for those who look for faults', async () => {
    const sessionId = await demoSession(client)
    assert.deepEqual(await client.call('debug.set', { super_debug: true }), { super_debug: true })
    const { turnId, lines } = await turn(client, sessionId, '[[shell ls]]')
    await client.call('debug.set', { super_debug: false })
    const debug = lines.flatMap(({ params }) => (params?.type === 'session.debug' ? [params.payload] : []))
    assert.deepEqual(
      debug.map(({ stage }) => stage),
      [
        'request',
        'tool_calls',
        'tool_call_started',
        'tool_call_completed',
        'tool_results',
        'response_continue',
        'response_raw',
        'response_stream_summary',
        'response_final',
      ],
    )
    assert.ok(debug.every((one) => one.session_id === sessionId && one.turn_id === turnId))
    const quiet = await turn(client, sessionId, 'hello')
    assert.ok(!quiet.lines.some(({ params }) => params?.type === 'session.debug'))
  })

  test('estimate how much has been said', async () => {
    const sessionId = await demoSession(client)
    const { lines } = await turn(client, sessionId, 'x'.repeat(400))
    const estimates = lines.flatMap(({ params }) =>
      params?.type === 'session.context.estimate' ? [params.payload] : [],
    )
    assert.deepEqual(estimates[0], {
      session_id: sessionId,
      provider: 'demo',
      source: 'history',
      total_tokens_estimate: 100,
      breakdown: {
        pinned_tokens: 0,
        conversation_tokens: 100,
        tool_schema_tokens: 0,
        provider_overhead_tokens: 0,
      },
    })
  })
})
