import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Engine } from '../../../src/core/api.ts'
import { linesOf, wantedTypes } from '../../../src/dialects/humanlayer/broadcast.ts'
import { createFollowing, type Follower } from '../../../src/dialects/humanlayer/following.ts'
import { goOn, HELD } from '../../support/held.ts'
import { type Client, type Json, type Rig, rigFor, type WireEvent } from './support.ts'

/** What was said, by whom, as a conversation or the events about it tell it. */
function words(entries: readonly Json[]): string[] {
  return entries
    .filter(({ event_type }) => event_type === 'message')
    .map(({ role, content }) => `${role}: ${content}`)
}

function updates(events: readonly WireEvent[], sessionId: string): (Json & { id: number })[] {
  return events
    .filter(({ type, data }) => type === 'conversation_updated' && data['session_id'] === sessionId)
    .map(({ seq, data }) => ({ ...data, id: seq }))
}

/** An entry with what a conversation and the events about it both say of it. */
function common(entry: Json): Json {
  const { id, event_type, role, content, tool_id, tool_name, tool_result_for_id, tool_result_content } = entry
  const input =
    'tool_input_json' in entry ? JSON.parse(String(entry['tool_input_json'])) : entry['tool_input']
  return { id, event_type, role, content, tool_id, tool_name, input, tool_result_for_id, tool_result_content }
}

/** Everything that has been committed has arrived: a marker comes after it. */
async function settled(rig: Rig, client: Client = rig): Promise<void> {
  const { engine, cwd } = rig.engine
  const { id } = await engine.sessions.create({ agent: 'demo', cwd })
  await engine.sessions.configure({ sessionId: id, title: 'marker' })
  await client.event('session_settings_changed', ({ session_id }) => session_id === id)
}

async function say(rig: Rig, sessionId: string, text: string): Promise<string> {
  return (await rig.engine.engine.turns.send({ sessionId, input: [{ type: 'text', text }] })).turnId
}

/** A session in which messages waited, were taken back, were asked about, and thrown out. */
async function busySession(rig: Rig): Promise<string> {
  const { engine } = rig.engine
  const { session_id: id } = await rig.launch(`first ${HELD}`)
  await rig.reaches(id, 'waiting_input')
  await say(rig, id, 'second [[shell ls]]')
  await engine.turns.cancel(id, await say(rig, id, 'taken back'))
  await goOn(rig.engine, id)
  const { data } = await rig.event('new_approval', ({ tool_name }) => tool_name === 'Shell')
  await rig.call('sendDecision', { approval_id: data['approval_id'], decision: 'deny', comment: 'too bold' })
  await rig.engine.event('turn.completed', {
    sessionId: id,
    after: (await rig.engine.event('turn.completed', { sessionId: id })).seq,
  })
  const third = await engine.turns.send({ sessionId: id, input: [{ type: 'text', text: 'third [[hang]]' }] })
  await rig.engine.event('turn.accepted', { sessionId: id, after: third.seq })
  await say(rig, id, 'thrown out')
  await rig.call('interruptSession', { session_id: id })
  await rig.engine.event('turn.interrupted', { sessionId: id })
  return id
}

test('a message stands where its turn began, and is told then', async (t) => {
  const rig = await rigFor(t)
  const { session_id: id } = await rig.launch(`first ${HELD}`)
  await rig.reaches(id, 'waiting_input')
  await say(rig, id, 'second [[say two]]')
  await settled(rig)
  assert.deepEqual(words(await rig.conversation(id)), [`user: first ${HELD}`])
  assert.deepEqual(words(updates(rig.events, id)), [`user: first ${HELD}`], 'the second one still waits')
  const waiting = rig.engine.engine.events.head
  await goOn(rig.engine, id)
  await rig.event('conversation_updated', ({ content }) => content === 'two')
  const all = words(await rig.conversation(id))
  assert.deepEqual(all.slice(-3), ['assistant: gone on', 'user: second [[say two]]', 'assistant: two'])
  assert.deepEqual(words(updates(rig.events, id)), all)
  // From between the message and its turn: who comes then has not heard of it.
  const late = await rig.connect()
  await late.subscribe({ since: waiting })
  await late.event('conversation_updated', ({ content }) => content === 'two')
  assert.deepEqual(words(updates(late.events, id)).slice(-3), all.slice(-3))
})

test('what was taken back or thrown out of the queue is in no conversation, and nobody hears of it', async (t) => {
  const rig = await rigFor(t)
  const id = await busySession(rig)
  await settled(rig)
  const late = await rig.connect()
  await late.subscribe({ since: 0 })
  await settled(rig, late)
  for (const entries of [await rig.conversation(id), updates(rig.events, id), updates(late.events, id)]) {
    const said = words(entries).filter((line) => line.startsWith('user'))
    assert.deepEqual(said, [
      `user: first ${HELD}`,
      'user: [[say gone on]]',
      'user: second [[shell ls]]',
      'user: Denied Shell: too bold',
      'user: third [[hang]]',
    ])
  }
})

test('subscribers are told the entries of the conversation: live, from any cursor, and after a restart', async (t) => {
  const rig = await rigFor(t)
  const id = await busySession(rig)
  await settled(rig)
  const rows = (await rig.conversation(id)).map(common)
  assert.deepEqual(updates(rig.events, id).map(common), rows)
  const told = rig.events.filter(({ data }) => data['session_id'] === id)
  const seqs = rig.engine.engine.events.read({ sessionId: id, after: 0, limit: 1000 }).map(({ seq }) => seq)

  async function fromEverywhere(from: Rig): Promise<void> {
    for (const since of seqs) {
      const late = await from.connect()
      await late.subscribe({ since })
      await settled(from, late)
      const expected = told.filter(({ seq }) => seq > since).map(lasting)
      const events = late.events.filter(({ data }) => data['session_id'] === id)
      assert.deepEqual(events.map(lasting), expected, `from ${since}`)
      late.close()
    }
  }
  await fromEverywhere(rig)
  const { home } = rig.engine
  await rig.abandon()
  const next = await rigFor(t, { engine: { home } })
  assert.deepEqual((await next.conversation(id)).map(common), rows)
  await fromEverywhere(next)
})

/** Without what is of the moment in which an event is told. */
function lasting({ type, seq, data }: WireEvent): unknown {
  const { total: _, claude_session_id: __, ...rest } = data
  return { type, seq, rest }
}

test('subscribers that are up to date have one fold in common; who comes in the middle of a turn begins with what is under way', async (t) => {
  const rig = await rigFor(t)
  const { engine } = rig.engine
  let looks = 0
  const list: Engine['turns']['list'] = (...given) => (looks++, engine.turns.list(...given))
  const conversationBefore: Engine['sessions']['conversationBefore'] = (event) => (
    looks++,
    engine.sessions.conversationBefore(event)
  )
  const sessions = { ...engine.sessions, conversationBefore }
  const counting: Engine = { ...engine, sessions, turns: { ...engine.turns, list } }
  const following = createFollowing(counting)
  const told: { follower: Follower; said: string[] }[] = []
  const join = (): void => {
    const one = { follower: following.open(), said: [] as string[] }
    told.push(one)
    const subscription = counting.events.subscribe({ after: engine.events.head }, (events) => {
      for (const logged of events) {
        for (const change of one.follower.changes(logged)) {
          if (change.type === 'said' || change.type === 'decided') one.said.push(change.type)
        }
      }
    })
    t.after(() => {
      subscription.close()
      one.follower.close()
    })
  }
  for (let i = 0; i < 5; i++) join()
  const { session_id: id } = await rig.launch(HELD)
  await rig.reaches(id, 'waiting_input')
  for (let i = 0; i < 5; i++) join()
  await goOn(rig.engine, id)
  await rig.reaches(id, 'completed')
  await settled(rig)
  assert.deepEqual(
    told.map(({ said }) => said.join()),
    [...Array<string>(5).fill('said,decided'), ...Array<string>(5).fill('decided')],
  )
  assert.equal(looks, 0, 'the fold has seen the session from its beginning, and all have it in common')
})

test('a batch looks a session up once, however many of its events it has', async (t) => {
  const rig = await rigFor(t)
  const sessionId = await rig.run('hello')
  await say(rig, sessionId, 'hello again')
  await settled(rig)
  const { engine } = rig.engine
  let looks = 0
  const get: Engine['sessions']['get'] = (id) => (looks++, engine.sessions.get(id))
  const counting: Engine = { ...engine, sessions: { ...engine.sessions, get } }
  const follower = createFollowing(counting).open()
  t.after(follower.close)
  const events = engine.events.read({ sessionId, after: 0, limit: 100 })
  const lines = linesOf(counting, follower, events, wantedTypes([])).toString().split('\n')
  assert.ok(lines.length >= 4, `${lines.length} lines`)
  assert.equal(looks, 1)
})
