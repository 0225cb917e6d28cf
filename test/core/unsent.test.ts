import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { LoggedEvent } from '../../src/core/event.ts'
import { CorralError } from '../../src/core/error.ts'
import { startEngine, type TestEngine } from '../support/engine.ts'

let t: TestEngine
before(async () => {
  t = await startEngine()
})
after(() => t.stop())

async function newSession(): Promise<string> {
  return (await t.engine.sessions.create({ agent: 'demo', cwd: t.cwd })).id
}

function drafted(sessionId: string): LoggedEvent[] {
  return t.engine.events.read({ sessionId, after: 0, types: ['session.drafted'], limit: 100 })
}

const text = (sessionId: string): string => t.engine.unsent.get(sessionId).text

test('what was typed is there for everybody, each time under the next number', async () => {
  const sessionId = await newSession()
  assert.deepEqual(t.engine.unsent.get(sessionId), { text: '', revision: 0, updatedAt: null })
  const first = await t.engine.unsent.set({ sessionId, text: 'hello' })
  assert.equal(first.revision, 1)
  assert.deepEqual(t.engine.unsent.get(sessionId), { text: 'hello', ...first })
  const second = await t.engine.unsent.set({ sessionId, text: 'hello there', revision: 1 })
  assert.deepEqual(t.engine.unsent.get(sessionId), {
    text: 'hello there',
    revision: 2,
    updatedAt: second.updatedAt,
  })
  const empty = await t.engine.unsent.set({ sessionId, text: '', revision: 2 })
  assert.deepEqual(t.engine.unsent.get(sessionId), { text: '', ...empty })
})

test('the log has the newest only, also when many come at once', async () => {
  const sessionId = await newSession()
  const all = Array.from({ length: 50 }, (_, index) => t.engine.unsent.set({ sessionId, text: `n${index}` }))
  assert.deepEqual(
    (await Promise.all(all)).map(({ revision }) => revision),
    Array.from({ length: 50 }, (_, index) => index + 1),
  )
  assert.deepEqual(
    drafted(sessionId).map(({ event }) => event.type === 'session.drafted' && event.text),
    ['n49'],
  )
  assert.equal(text(sessionId), 'n49')
})

test('who has changed an older one hears what is there now', async () => {
  const sessionId = await newSession()
  const [one, two] = await Promise.allSettled([
    t.engine.unsent.set({ sessionId, text: 'phone', revision: 0 }),
    t.engine.unsent.set({ sessionId, text: 'desk', revision: 0 }),
  ])
  assert.equal(one.status, 'fulfilled')
  assert.ok(two.status === 'rejected' && two.reason instanceof CorralError)
  assert.equal(two.reason.code, 'conflict')
  assert.deepEqual(two.reason.data, t.engine.unsent.get(sessionId))
  assert.equal(two.reason.data['text'], 'phone')
})

test('the same text twice is no conflict: the answer may have been lost', async () => {
  const sessionId = await newSession()
  const wish = { sessionId, text: 'once', revision: 0 }
  const [one, two] = await Promise.all([t.engine.unsent.set(wish), t.engine.unsent.set(wish)])
  assert.deepEqual(two, one)
  await assert.rejects(t.engine.unsent.set({ sessionId: await newSession(), text: '', revision: 3 }), {
    code: 'conflict',
  })
})

test('it is nothing to the conversation, is not found, and leaves with the session', async () => {
  const sessionId = await newSession()
  await t.turn(sessionId, '[[say fine]]')
  const { seq, at } = t.engine.events.read({ sessionId, before: t.engine.events.head + 1, limit: 1 })[0]!
    .event
  const before = t.engine.sessions.get(sessionId)
  await t.engine.unsent.set({ sessionId, text: 'secretword' })
  assert.equal(t.engine.sessions.get(sessionId).activeAt, before.activeAt)
  assert.deepEqual(
    t.engine.sessions.conversationAt(sessionId, { seq: t.engine.events.head, at: Date.now() }),
    t.engine.sessions.conversationAt(sessionId, { seq, at }),
  )
  assert.deepEqual(t.engine.search({ text: 'secretword', limit: 5 }).hits, [])
  const { text: document } = t.engine.sessions.exportPage({ sessionId, format: 'json' })
  assert.ok(!document.includes('secretword'), 'what was not sent is in no document')
  assert.equal(drafted(sessionId).length, 1)
  await t.engine.sessions.destroy(sessionId)
  assert.deepEqual(drafted(sessionId), [])
  await assert.rejects(t.engine.unsent.set({ sessionId, text: 'x' }), { code: 'session_not_found' })
  assert.throws(() => t.engine.unsent.get(sessionId), { code: 'session_not_found' })
})

test('an export with a draft in it is still JSON', async () => {
  const sessionId = await newSession()
  await t.engine.unsent.set({ sessionId, text: 'x'.repeat(100_000) })
  await t.turn(sessionId, '[[say fine]]')
  let document = ''
  let cursor: string | null = null
  do {
    const page = t.engine.sessions.exportPage({
      sessionId,
      format: 'json',
      ...(cursor !== null && { cursor }),
    })
    document += page.text
    cursor = page.next
  } while (cursor !== null)
  const { events } = JSON.parse(document) as { events: { type: string }[] }
  assert.equal(events[0]?.type, 'session.created')
  assert.ok(events.every(({ type }) => type !== 'session.drafted'))
})

test('when retention has removed its event, the text is gone and the numbers go on', async () => {
  const sessionId = await newSession()
  await t.engine.unsent.set({ sessionId, text: 'old' })
  await t.log.retain({ eventsBefore: Date.now() + 1, destroyedBefore: null, limit: 100_000 })
  assert.equal(text(sessionId), '')
  assert.equal((await t.engine.unsent.set({ sessionId, text: 'new', revision: 1 })).revision, 2)
  assert.equal(text(sessionId), 'new')
})
