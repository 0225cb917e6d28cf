import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { EventBody } from '../../../src/core/event.ts'
import { NO_USAGE } from '../../../src/core/usage.ts'
import { connect } from '../../../src/client/client.ts'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { toldOf } from './fold.ts'
import { clientFor, demoSession, shape, startClient, talking, turn } from './support.ts'
import type { Client, Line, Result } from './support.ts'

const BEGUN: EventBody = { type: 'agent.compacting', tokens: 900, window: 1000 }
const done = (error: string | null = null): EventBody => {
  return { type: 'agent.compacted', tokensBefore: 950, tokensAfter: 70, window: 1000, error }
}

describe('what is told when an agent sums up by itself', () => {
  /** In the middle of a turn, after these. */
  function told(...bodies: EventBody[]) {
    return toldOf({ text: 'hello' }, ...bodies).events.map(({ type, payload }) => {
      const { session_id, ...rest } = payload
      assert.equal(session_id, 's')
      return { type, ...rest }
    })
  }

  test('the beginning, what was chosen, and the end', () => {
    const about = { turn_id: 't', reason: 'auto' }
    const anchors = { anchor_event_index_before: 0, anchor_event_index_after: 1 }
    const status = { type: 'session.status', pending: true }
    assert.deepEqual(told(BEGUN, done()), [
      { ...status, status_label: 'compressing context...', turn_id: 't' },
      {
        type: 'compaction.started',
        ...about,
        anchor_event_index_before: 0,
        event_count: 1,
        context_window_tokens: 1000,
      },
      { type: 'compaction.anchor_selected', ...about, ...anchors },
      { type: 'compaction.summary_merged', ...about, ...anchors, estimated_tokens_after: 70 },
      {
        type: 'compaction.completed',
        ...about,
        compressed: true,
        estimated_tokens_before: 950,
        estimated_tokens_after: 70,
        model_context_window: 1000,
        target_limit: null,
        high_watermark_limit: null,
        anchors,
      },
      { ...status, status_label: 'thinking...' },
    ])
  })

  test('the next one begins at the anchor of the last', () => {
    const starts = told(BEGUN, done(), BEGUN).filter(({ type }) => type === 'compaction.started')
    assert.deepEqual(
      starts.map((it) => it['anchor_event_index_before' as keyof typeof it]),
      [0, 1],
    )
  })

  test('the end alone, of an agent that says no more, and what it does not know is left out', () => {
    const silent: EventBody = {
      type: 'agent.compacted',
      tokensBefore: null,
      tokensAfter: null,
      window: null,
      error: null,
    }
    const types = told(silent).map(({ type }) => type.replace('compaction.', ''))
    assert.deepEqual(types, ['session.status', 'started', 'anchor_selected', 'completed', 'session.status'])
  })

  test('a failure, also when the turn ended in the middle of it', () => {
    const error = { code: 'agent_exited', message: 'it was killed' }
    const ends: EventBody[] = [
      done('no room'),
      { type: 'turn.failed', turnId: 't', usage: NO_USAGE, error },
      { type: 'turn.interrupted', turnId: 't', usage: NO_USAGE },
    ]
    const failures = ends.map((end) => told(BEGUN, end).find(({ type }) => type === 'compaction.failed'))
    assert.deepEqual(
      failures.map((failed) => failed && { ...failed }),
      ['no room', 'it was killed', 'it was interrupted'].map((message) => {
        return { type: 'compaction.failed', turn_id: 't', reason: 'auto', message }
      }),
    )
  })
})

const WISH = { text: '/compact', key: 'compress k' }

test('/compress that is interrupted ends as any other turn would', () => {
  const { events, conversation } = toldOf(
    WISH,
    BEGUN,
    { type: 'turn.interrupting', turnId: 't' },
    done('API Error: Request was aborted.'),
    { type: 'turn.completed', turnId: 't', usage: NO_USAGE, text: null },
  )
  const named = (type: string) => events.find((one) => one.type === type)?.payload
  assert.equal(named('compaction.failed')?.['message'], 'it was interrupted')
  assert.deepEqual(named('session.interrupted'), { session_id: 's', turn_id: 't', partial_output: false })
  assert.equal(conversation.compaction?.error, 'it was interrupted')
})

test('a message whose key looks like a wish is a message all the same', () => {
  const { conversation } = toldOf({ text: 'compress the logs', key: 'compress logs of today' })
  assert.equal(conversation.record.messages[0]?.text, 'compress the logs')
})

test('/compress that the agent could not even begin has failed, and is no turn of the conversation', () => {
  const error = { code: 'agent_start', message: 'no such program' }
  const failed: EventBody = { type: 'turn.failed', turnId: 't', usage: NO_USAGE, error }
  const { begun, events, conversation } = toldOf(WISH, failed)
  assert.deepEqual(
    [...begun, ...events].map(({ type, payload }) => [
      type,
      payload['status_label'] ?? payload['message'] ?? payload['reason'],
    ]),
    [
      ['session.status', 'compressing context...'],
      ['session.status', 'compressing context...'],
      ['compaction.started', 'manual'],
      ['compaction.failed', 'no such program'],
      ['session.status', 'ready'],
    ],
  )
  assert.deepEqual(
    [conversation.compaction?.compressed, conversation.compaction?.error],
    [false, error.message],
  )
  assert.deepEqual([conversation.busy, conversation.record.messages], [false, []])
})

describe('/compress', () => {
  let daemon: TestDaemon
  let client: Client
  const { about, send, status } = talking(() => client)

  before(async () => {
    daemon = await startDaemon()
    client = startClient(daemon)
  })
  after(async () => {
    await client.close()
    await daemon.stop()
  })

  async function compress(session_id: string): Promise<Result> {
    const { output } = await client.call<{ output: Result }>('command.execute', {
      session_id,
      raw_command: '/compress',
    })
    return output
  }

  const FAMILY = ['started', 'anchor_selected', 'summary_merged', 'completed'].map(
    (one) => `compaction.${one}`,
  )
  const compactions = (lines: readonly Line[]) =>
    lines.flatMap(({ params }) => (params?.type.startsWith('compaction.') ? [params] : []))

  test('has the agent do it, and answers when it is done', async () => {
    const sessionId = await demoSession(client)
    await turn(client, sessionId, '[[words 40]]')
    const from = client.lines.length
    assert.deepEqual(await compress(sessionId), {
      compressed: true,
      reason: 'manual',
      estimated_tokens_before: 41,
      estimated_tokens_after: 3,
      model_context_window: null,
      target_limit: null,
      anchor_event_index_before: 0,
      anchor_event_index_after: 2,
    })
    await status(sessionId, 'ready', from)
    const lines = about(sessionId, from)
    const label = 'compressing context...'
    assert.deepEqual(
      shape(lines).filter((one) => one !== '='),
      [label, label, ...FAMILY, 'ready'],
    )
    for (const { payload } of compactions(lines)) assert.ok(!('turn_id' in payload))
    const { messages, history } = await client.state(sessionId)
    assert.deepEqual([messages.length, history.length], [2, 2], 'nobody has said anything')
    const { title } = await client.call('history.get', { id: sessionId })
    assert.equal(title, '[[words 40]]')
    const { sessions } = await client.call<{ sessions: Result[] }>('history.list')
    assert.equal(sessions.find(({ id }) => id === sessionId)?.['messageCount'], 2)
  })

  test('looks the same in every process, now and later', async (t) => {
    const sessionId = await demoSession(client)
    await turn(client, sessionId, 'hello')
    const other = clientFor(t, daemon)
    await other.state(sessionId)
    const from = client.lines.length
    await compress(sessionId)
    await other.event('compaction.completed')
    const here = compactions(client.lines.slice(from))
    assert.deepEqual(compactions(other.lines), here)
    const { events } = await client.call<{ events: Line['params'][] }>('events.replay', {
      session_id: sessionId,
    })
    assert.deepEqual(
      events.filter((event) => event!.type.startsWith('compaction.')),
      here,
    )
  })

  test('stops what runs first', async () => {
    const sessionId = await demoSession(client)
    await turn(client, sessionId, 'hello')
    const from = client.lines.length
    await send(sessionId, '[[hang]]')
    assert.equal((await compress(sessionId))['compressed'], true)
    const types = about(sessionId, from).flatMap(({ params }) => params?.type ?? [])
    assert.ok(types.indexOf('session.interrupted') < types.indexOf('compaction.started'))
  })

  test('goes in front of what waits, in the order of requests', async () => {
    const sessionId = await demoSession(client)
    await turn(client, sessionId, 'hello')
    const from = client.lines.length
    const say = (text: string): Promise<Result> =>
      client.call('session.send', { session_id: sessionId, text, enqueue: true })
    const [, , compressed] = await Promise.all([
      say('[[hang]]'),
      say('later'),
      compress(sessionId),
      say('last'),
    ])
    assert.equal(compressed['compressed'], true)
    await client.event('session.completed', (it) => it.session_id === sessionId, from)
    await client.event('session.message.appended', ({ message }) => message.text === 'echo: last', from)
    const lines = about(sessionId, from)
    const place = (fits: (line: Line) => boolean): number => lines.findIndex(fits)
    const said = (text: string): number => place(({ params }) => params?.payload.message?.text === text)
    const summed = place(({ params }) => params?.type === 'compaction.completed')
    assert.ok(place(({ params }) => params?.type === 'session.interrupted') < summed)
    assert.ok(summed < said('later') && said('later') < said('last'))
  })

  test('of an empty session does nothing, and of a fork sums up what it began with', async () => {
    const sessionId = await demoSession(client)
    assert.equal((await compress(sessionId))['hint'], 'nothing has been said yet')
    await turn(client, sessionId, '[[words 40]]')
    const native = await connect(daemon.socket)
    const { id } = await native.call('session.fork', { sessionId })
    native.close()
    assert.equal((await compress(id))['compressed'], true)
  })

  test('is what `/compact` is as a message, which is then part of the conversation', async () => {
    const sessionId = await demoSession(client)
    await turn(client, sessionId, 'hello')
    const { lines, turnId } = await turn(client, sessionId, '/compact')
    const told = compactions(lines)
    assert.deepEqual(
      told.map(({ type, payload }) => [type, payload.reason, payload.turn_id]),
      FAMILY.map((type) => [type, 'manual', turnId]),
    )
    assert.ok(shape(lines).includes('completed'))
    assert.equal((await client.state(sessionId)).messages.at(-2)?.text, '/compact')
  })

  test('fails in words, and the conversation goes on', async () => {
    const sessionId = await demoSession(client)
    await turn(client, sessionId, 'hello')
    const { lines } = await turn(client, sessionId, '/compact [[fail 500]]')
    const [, failed] = compactions(lines)
    assert.equal(failed?.type, 'compaction.failed')
    assert.match(failed!.payload.message, /status 500/)
    assert.ok(shape(lines).includes('error'))
    const { lines: next } = await turn(client, sessionId, 'hello')
    assert.ok(shape(next).includes('completed'))
  })
})
