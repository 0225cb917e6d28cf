import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import type { Engine } from '../../../src/core/api.ts'
import type { LoggedEvent } from '../../../src/core/event.ts'
import type { Push } from '../../../src/dialects/clawde/pushes.ts'
import { createTeller, type Teller } from '../../../src/dialects/clawde/teller.ts'
import { startEngine, type TestEngine } from '../../support/engine.ts'
import { goOn, HELD } from '../../support/held.ts'
import { rigFor, type Json } from './support.ts'

/*
 * What clients are told of a session is the same however they are told it: live, from any place in the log, in pages, by another
 * daemon, or in a history.
 */

const b64 = (text: string): string => Buffer.from(text).toString('base64')
const text = (words: string) => [{ type: 'text' as const, text: words }]

/** What a client makes of its pushes: everything has the place where it was created, and what was told of it last. */
function story(pushes: readonly Push[]): string[] {
  const told = new Map<string, string[]>()
  const note = (id: unknown, word: unknown): void => {
    const words = told.get(id as string) ?? []
    if (words.at(-1) !== word) words.push(word as string)
    told.set(id as string, words)
  }
  for (const { method, params } of pushes) {
    const { message, toolCall, toolCallId, status } = params as Record<string, Json>
    if (method === 'session.messageCreated' && message!['role'] === 'user')
      note(message!['id'], message!['content'])
    else if (method === 'session.messageCreated') told.set(message!['id'] as string, [])
    else if (method === 'session.messageUpdated') {
      assert.ok(told.has(params['messageId'] as string), 'a message is created before it is updated')
      told.set(params['messageId'] as string, [params['content'] as string, status as unknown as string])
    } else if (method === 'session.toolCallCreated') note(toolCall!['id'], toolCall!['status'])
    else if (method === 'session.toolCallUpdated') note(toolCallId, status)
  }
  return [...told.values()].map((words) => words.join(' '))
}

const newTeller = (engine: Engine): Teller => createTeller(engine, { silentMs: 3_600_000, tell() {} })

/** What a client is told that comes back with this number, in pages of this size. */
function replayed(engine: Engine, after: number, size = 1000): Push[] {
  const teller = newTeller(engine)
  const pushes: Push[] = []
  for (let page: LoggedEvent[]; (page = engine.events.read({ after, limit: size })).length > 0;) {
    pushes.push(...teller.tell(page))
    after = page.at(-1)!.seq
  }
  teller.close()
  return pushes
}

/** An engine that is given up as in a crash when the test says so, or at its end. */
async function engineToLeave(t: TestContext): Promise<TestEngine> {
  const engine = await startEngine()
  let isLeft = false
  const abandon = async (): Promise<void> => {
    if (isLeft) return
    isLeft = true
    await engine.abandon()
  }
  t.after(() => (isLeft ? undefined : engine.stop()))
  return { ...engine, abandon }
}

/** A call that is allowed, with a message that waits meanwhile and one that is taken back; a call that is refused; an interrupt. */
async function play(t: TestEngine, sessionId: string): Promise<void> {
  const { engine } = t
  const send = (words: string) => engine.turns.send({ sessionId, input: text(words) })
  const first = await send(`[[saycall ${b64('let me see')} Bash ${b64('{"command":"ls"}')}]]`)
  const one = await t.event('approval.requested', { sessionId, after: first.seq })
  const second = await send('[[shell rm -r]]')
  await engine.turns.cancel(sessionId, (await send('taken back')).turnId)
  await engine.approvals.decide({ approvalId: one.approval.id, decision: { behavior: 'allow' }, by: 'test' })
  const two = await t.event('approval.requested', { sessionId, after: second.seq })
  await engine.approvals.decide({
    approvalId: two.approval.id,
    decision: { behavior: 'deny', comment: 'no' },
    by: 'test',
  })
  await t.event('turn.completed', { sessionId, after: two.seq })
  const third = await send('[[hang]]')
  await send('dropped')
  await t.event('turn.accepted', { sessionId, after: third.seq })
  await engine.turns.interrupt({ sessionId, clearQueue: true })
  await t.event('turn.interrupted', { sessionId, after: third.seq })
}

test('live, from any place, in pages and after a restart', async (t) => {
  const before = await engineToLeave(t)
  const { engine, home, cwd } = before
  const { id: sessionId } = await engine.sessions.create({ agent: 'demo', cwd, mode: 'ask' })
  const teller = newTeller(engine)
  const live: Push[] = []
  const subscription = engine.events.subscribe(
    { after: engine.events.head },
    (events) => void live.push(...teller.tell(events)),
  )
  await play(before, sessionId)
  subscription.close()
  teller.close()

  const told = story(live)
  assert.deepEqual(
    told.filter((one) => !/^\[\[|done$|^pending/.test(one)),
    [],
    'nothing else is told',
  )
  assert.deepEqual(
    told.map((one) => /^\[\[(\w+)|^pending.*|^let me see done/.exec(one)?.[0] ?? 'an answer'),
    [
      '[[saycall',
      'let me see done',
      'pending running done',
      'an answer',
      '[[shell',
      'pending rejected',
      'an answer',
      '[[hang',
    ],
  )
  for (const size of [1, 3, 1000])
    assert.deepEqual(story(replayed(engine, 0, size)), told, `pages of ${size}`)
  for (const [index, { seq }] of live.entries()) {
    const rest = replayed(engine, seq, 7)
    assert.deepEqual(story([...live.slice(0, index + 1), ...rest]), told, `from ${seq}`)
  }

  await before.abandon()
  const rig = await rigFor(t, { home })
  assert.deepEqual(story(replayed(rig.engine, 0, 5)), told)
  const client = await rig.client()
  const messages = await client.call<Json[]>('session.getMessages', { sessionId })
  const listed = messages.map(({ role, content, toolCall }) =>
    role === 'tool' ? ((toolCall as Json)['status'] as string) : (content as string),
  )
  assert.equal(listed.length, told.length)
  for (const [index, one] of listed.entries()) assert.ok(told[index]!.includes(one), `${told[index]}: ${one}`)
  const { messageCount } = await client.call('session.get', { sessionId })
  assert.equal(messageCount, messages.length)
})

test('what waits is no message yet; it comes after the answer that it waits for', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  const sessionId = await rig.session(client)
  const contents = async (): Promise<unknown[]> =>
    (await client.call<Json[]>('session.getMessages', { sessionId })).map(({ role, content }) =>
      role === 'tool' ? 'a call' : content,
    )
  const created = (): unknown[] =>
    client.pushes.flatMap(({ params }) => {
      const message = params['message'] as Json | undefined
      return message?.['role'] === 'user' ? [message['content']] : []
    })
  const first = await client.call('session.sendMessage', { sessionId, content: HELD })
  await client.push('session.toolCallCreated')
  const second = await client.call('session.sendMessage', { sessionId, content: '[[say two]]', queue: true })
  const never = await client.call('session.sendMessage', { sessionId, content: 'never', queue: true })
  assert.deepEqual([first['queued'], second['position'], never['position']], [false, 1, 2])
  assert.deepEqual(await contents(), [HELD, 'a call'])
  assert.equal((await client.call('session.get', { sessionId }))['messageCount'], 2)
  await rig.engine.turns.cancel(sessionId, never['id'] as string)
  await goOn(rig, sessionId)
  await client.push('session.messageUpdated', ({ content }) => content === 'two')
  await client.until(() => client.pushes.at(-1)?.params['status'] === 'idle')
  assert.deepEqual(created(), [HELD, '[[say two]]'])
  const { message } = await client.push('session.messageCreated')
  const { queued: _, position: __, ...answer } = first
  assert.deepEqual(message, answer, 'it is told as it was answered')
  assert.deepEqual(await contents(), [HELD, 'a call', 'gone on', '[[say two]]', 'two'])
})

test('ids that a model has used twice are two messages, also in a log of an older version', async (t) => {
  const before = await engineToLeave(t)
  const { id: sessionId } = await before.engine.sessions.create({ agent: 'demo', cwd: before.cwd })
  for (const word of ['one', 'two', 'three']) await before.turn(sessionId, `[[say ${word}]]`)
  await before.abandon()
  const db = new DatabaseSync(join(before.home, 'corral.db'))
  const renamed = db.prepare(
    `UPDATE events SET body = json_set(body, '$.messageId', 'msg_1') WHERE type = 'message.completed'`,
  )
  assert.equal(renamed.run().changes, 3)
  db.close()
  const rig = await rigFor(t, { home: before.home })
  const client = await rig.client()
  const messages = await client.call<Json[]>('session.getMessages', { sessionId })
  assert.deepEqual(
    messages.filter(({ role }) => role === 'assistant').map(({ content }) => content),
    ['one', 'two', 'three'],
  )
  assert.equal((await client.call('session.get', { sessionId }))['messageCount'], 6)
})
