import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, test } from 'node:test'
import { CorralError } from '../../src/core/error.ts'
import type { SearchHit } from '../../src/core/search/search.ts'
import { startEngine, type TestEngine } from '../support/engine.ts'
import { goOn, HELD } from '../support/held.ts'
import { randomly } from '../support/random.ts'

let t: TestEngine
beforeEach(async () => {
  t = await startEngine()
})
afterEach(() => t.stop())

async function newSession(...messages: string[]): Promise<string> {
  const { id } = await t.engine.sessions.create({ agent: 'demo', cwd: t.cwd, mode: 'auto' })
  for (const message of messages) await t.turn(id, message)
  return id
}

function find(text: string, sessionId?: string): SearchHit[] {
  return t.engine.search({ text, limit: 50, ...(sessionId && { sessionId }) }).hits
}

const texts = (hits: SearchHit[]): string[] => hits.map(({ text }) => text)

test('what was said by either side is found, with where it stands; what tools say and agents think is not', async () => {
  const id = await newSession(
    '[[think pondering deeply]] [[say The answer is: parseRequest]]',
    '[[shell echo toolwords]]',
  )
  const [hit] = find('answer is')
  const answers = find('answer').filter(({ role }) => role === 'assistant')
  assert.equal(hit!.sessionId, id)
  assert.deepEqual(texts(answers), ['The answer is: parseRequest'])
  assert.deepEqual(answers[0]!.marks, [[4, 10]])
  const event = t.engine.events.read({ after: answers[0]!.seq - 1, sessionId: id, limit: 1 })[0]!.event
  assert.equal(event.type, 'message.completed')
  assert.equal(answers[0]!.turnId, event.turnId)
  for (const text of ['pars', 'PARSE', 'request', 'parserequest', 'parseReq', 'parse_request']) {
    assert.ok(
      find(text).some(({ role }) => role === 'assistant'),
      text,
    )
  }
  assert.deepEqual(
    find('pondering').map(({ role }) => role),
    ['user'],
    'what the user said of it, not what was thought',
  )
  const said = find('toolwords').map(({ role, text }) => `${role}: ${text}`)
  assert.deepEqual(said.toSorted(), [
    'assistant: tool said: (pretend) ran: echo toolwords',
    'user: [[shell echo toolwords]]',
  ])
})

test('a message that is cancelled before its turn is found no more', async () => {
  const id = await newSession()
  await t.engine.turns.send({ sessionId: id, input: [{ type: 'text', text: HELD }] })
  const send = (text: string) => t.engine.turns.send({ sessionId: id, input: [{ type: 'text', text }] })
  const { turnId } = await send('zebrafish')
  await send('otter')
  assert.deepEqual(texts(find('zebrafish')), ['zebrafish'])
  await t.engine.turns.cancel(id, turnId)
  assert.deepEqual(find('zebrafish'), [])
  assert.deepEqual(texts(find('otter')), ['otter'])
  await t.engine.turns.interrupt({ sessionId: id, clearQueue: true })
  assert.deepEqual(find('otter'), [])
})

test('words of languages without spaces, and with accents', async () => {
  await newSession('東京で日本語を勉強します', 'Déjà vu à Zürich', 'สวัสดีครับ')
  const ofUser = (text: string): number => find(text).filter(({ role }) => role === 'user').length
  assert.deepEqual(
    ['日本語', '勉強', '京', 'zurich', 'DEJA', 'ดีครับ', '本日'].map(ofUser),
    [1, 1, 1, 1, 1, 1, 0],
  )
})

test('every word must be there, phrases in a row, and only in the session that was named', async () => {
  const one = await newSession('[[say red green blue]]')
  const two = await newSession('[[say green red blue]]')
  const answers = (text: string, session?: string): string[] =>
    find(text, session).flatMap(({ role, sessionId }) => (role === 'assistant' ? [sessionId] : []))
  assert.deepEqual(answers('blue red '), [two, one], 'the same relevance: the newest first')
  assert.deepEqual(answers('"red green"'), [one])
  assert.deepEqual(answers('red yellow '), [])
  assert.deepEqual(answers('blue', one), [one])
  assert.throws(
    () => find('blue', 'nobody'),
    (error: unknown) => error instanceof CorralError && error.code === 'session_not_found',
  )
})

test('the better fit comes first, also when it is older', async () => {
  await newSession(`[[say needle]]`)
  await newSession(`[[say ${'hay '.repeat(200)} needle]]`)
  const [first] = find('needle ').filter(({ role }) => role === 'assistant')
  assert.equal(first!.text, 'needle')
})

test('pages: each hit once, whatever is said meanwhile', async () => {
  const id = await newSession(...Array.from({ length: 7 }, (_, i) => `[[say pages ${i}]]`))
  const seen: number[] = []
  let cursor: string | undefined
  do {
    const page = t.engine.search({ text: 'pages', limit: 4, ...(cursor && { cursor }) })
    seen.push(...page.hits.map(({ seq }) => seq))
    cursor = page.next ?? undefined
    await t.turn(id, '[[say more pages]]')
  } while (cursor)
  assert.equal(seen.length, 14)
  assert.equal(new Set(seen).size, 14)
  for (const bad of ['', 'x', '1', '1-x', '99999999999999999999-1']) {
    assert.throws(
      () => t.engine.search({ text: 'pages', limit: 4, cursor: bad }),
      (error: unknown) => error instanceof CorralError && error.code === 'invalid',
    )
  }
})

test('a removed session is not found any more, nor what retention has removed', async () => {
  const gone = await newSession('[[say ephemeral one]]')
  const kept = await newSession('[[say ephemeral two]]')
  const sessions = (): string[] => [...new Set(find('ephemeral').map(({ sessionId }) => sessionId))]
  assert.equal(sessions().length, 2)
  await t.engine.sessions.destroy(gone)
  assert.deepEqual(sessions(), [kept])
  const removed = await t.log.retain({
    eventsBefore: Date.now() + 1000,
    destroyedBefore: null,
    limit: 10_000,
  })
  assert.ok(removed > 0)
  assert.deepEqual(sessions(), [])
  const db = new DatabaseSync(join(t.home, 'corral.db'))
  assert.equal(db.prepare('SELECT count(*) AS n FROM search').get()?.['n'], 0)
  db.close()
})

test('a steer is found once, whether it was taken or came too late', async () => {
  const say = (text: string) => ({ sessionId: id, input: [{ type: 'text' as const, text }] })
  const { id } = await t.engine.sessions.create({ agent: 'demo', cwd: t.cwd, mode: 'auto' })
  const { seq } = await t.engine.turns.send(say(HELD))
  await t.engine.turns.steer(say('intime please'))
  await goOn(t, id)
  const end = await t.event('turn.completed', { sessionId: id, after: seq })
  await t.engine.turns.send(say('[[drip 30 100]]'))
  await t.event('message.delta', { sessionId: id, after: end.seq })
  const { steerId } = await t.engine.turns.steer(say('toolate please'))
  for (let turnId: string | null = null, after: number = end.seq; turnId !== steerId;) {
    ;({ turnId, seq: after } = await t.event('turn.completed', { sessionId: id, after }))
  }
  for (const word of ['intime ', 'toolate ']) {
    assert.equal(find(word).filter(({ role }) => role === 'user').length, 1, word)
  }
})

test('nothing that anybody types is an error', async () => {
  await newSession('[[say hello "quoted" world]]')
  const random = randomly(5)
  const pieces = [
    '"',
    '*',
    '(',
    ')',
    'OR',
    'AND',
    'NOT',
    'NEAR',
    '{',
    '}',
    ':',
    '^',
    '-',
    '+',
    "'",
    ';',
    '\0',
  ]
  pieces.push(
    'hello',
    'session',
    'words:',
    ' ',
    ' ',
    '\n',
    '漢',
    '😀',
    '\ud800',
    '%',
    '_',
    '\\',
    'x'.repeat(600),
  )
  for (let round = 0; round < 2000; round++) {
    const text = Array.from({ length: random(12) }, () => pieces[random(pieces.length)]).join('')
    assert.ok(Array.isArray(find(text)), JSON.stringify(text))
  }
  assert.ok(find('hello OR').length === 0)
  assert.ok(find('session').length === 0, 'the id is not among what is searched')
})
