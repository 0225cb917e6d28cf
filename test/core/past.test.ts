import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PastMessage } from '../../src/core/adoption.ts'
import { MAX_TURNS, pastEvents } from '../../src/core/past.ts'

let ids = 0
const past = (messages: PastMessage[], isCut = false) =>
  pastEvents({ messages, isCut }, () => `t${++ids}`, 1000)
const user = (text: string, at: number | null = null): PastMessage => ({ by: 'user', text, at })
const agent = (text: string, at: number | null = null): PastMessage => ({ by: 'agent', text, at })

test('each message of the user is a turn, with the answers to it', () => {
  const { events, turns, isCut } = past([
    user('one', 5),
    agent('a', 6),
    agent('b', 7),
    user('two', 8),
    agent('c'),
  ])
  assert.deepEqual([turns, isCut], [2, false])
  assert.deepEqual(
    events.map((event) => [event.type, 'pastAt' in event ? event.pastAt : null]),
    [
      ['turn.queued', 5],
      ['turn.started', 5],
      ['message.completed', 6],
      ['message.completed', 7],
      ['turn.completed', 7],
      ['turn.queued', 8],
      ['turn.started', 8],
      ['message.completed', 8],
      ['turn.completed', 8],
    ],
  )
})

test('one without an answer was interrupted; an answer without a question belongs to nothing; what is empty was not said', () => {
  const { events } = past([agent('lost'), user('  '), user('one'), agent(''), user('two'), agent('b')])
  assert.deepEqual(
    events.map(({ type }) => type),
    [
      'turn.queued',
      'turn.started',
      'turn.interrupted',
      'turn.queued',
      'turn.started',
      'message.completed',
      'turn.completed',
    ],
  )
  assert.deepEqual(past([]).events, [])
})

test('of a long one the newest turns are taken, and of an enormous message the beginning', () => {
  const long = Array.from({ length: MAX_TURNS + 5 }, (_, n) => [user(`m${n}`), agent('yes')]).flat()
  const taken = past(long)
  assert.deepEqual([taken.turns, taken.isCut], [MAX_TURNS, true])
  const [first] = taken.events
  assert.equal(first?.type === 'turn.queued' && first.input[0]?.type === 'text' && first.input[0].text, 'm5')
  const [huge] = past([user('😀'.repeat(500_000))]).events
  const text = huge?.type === 'turn.queued' && huge.input[0]?.type === 'text' ? huge.input[0].text : ''
  assert.ok(text.length < 201_000 && text.isWellFormed() && text.endsWith('… (cut)'))
  const many = past(Array.from({ length: 100 }, () => user('x'.repeat(200_000))))
  assert.deepEqual([many.turns, many.isCut], [20, true])
  assert.equal(past([user('one')], true).isCut, true)
})

test('a turn that is too much by itself is there with its last answers', () => {
  const answers = Array.from({ length: 30 }, (_, at) => agent(`${at} ${'x'.repeat(199_000)}`))
  const { events, turns, isCut } = past([user('one'), ...answers])
  assert.deepEqual([turns, isCut], [1, true])
  const said = events.flatMap((event) => (event.type === 'message.completed' ? [event.text.slice(0, 2)] : []))
  assert.deepEqual(said, ['20', '21', '22', '23', '24', '25', '26', '27', '28', '29'])
})
