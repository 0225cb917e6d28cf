import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EventBody } from '../../src/core/event.ts'
import { LoggedEvent, type Event } from '../../src/core/event.ts'
import { mark, takenBack } from '../../src/core/marking.ts'
import type { Marks } from '../../src/core/marks.ts'
import type { Session } from '../../src/core/session.ts'
import { after, aQuestion, aSession } from '../support/session.ts'

const NOW = 1000
const AROUND = { now: NOW, head: 50 }

const wish = (state: Session, wanted: Partial<Marks>): EventBody[] => mark(state, wanted, AROUND)
const marked = (marks: Partial<Marks>): Session => after(aSession(), [{ type: 'session.marked', ...marks }])
const event = (changes: Partial<Marks>): EventBody[] => [{ type: 'session.marked', ...changes }]

test('a mark says what it changes, and nothing when that is nothing', () => {
  assert.deepEqual(wish(aSession(), { pinned: true, settled: false }), event({ pinned: true }))
  assert.deepEqual(wish(marked({ pinned: true }), { pinned: true }), [])
  assert.deepEqual(wish(aSession(), {}), [])
  assert.deepEqual(wish(marked({ pinned: true }), { pinned: false }), event({ pinned: false }))
})

test('what was read stays read, and nobody has read what is not there', () => {
  assert.deepEqual(wish(aSession(), { readSeq: 20 }), event({ readSeq: 20 }))
  assert.deepEqual(wish(marked({ readSeq: 20 }), { readSeq: 19 }), [])
  assert.deepEqual(wish(marked({ readSeq: 20 }), { readSeq: 9_000_000 }), event({ readSeq: 50 }))
})

test('a snooze takes it back that a session is settled; to settle it ends a snooze', () => {
  const snoozedUntil = NOW + 10
  assert.deepEqual(wish(marked({ settled: true }), { snoozedUntil }), event({ snoozedUntil, settled: false }))
  assert.deepEqual(
    wish(marked({ snoozedUntil }), { settled: true }),
    event({ snoozedUntil: null, settled: true }),
  )
  assert.deepEqual(wish(marked({ snoozedUntil }), { snoozedUntil: null }), event({ snoozedUntil: null }))
})

test('a time that has passed is no snooze', () => {
  assert.deepEqual(wish(aSession(), { snoozedUntil: NOW }), [])
  assert.deepEqual(
    wish(marked({ snoozedUntil: NOW + 10 }), { snoozedUntil: 3 }),
    event({ snoozedUntil: null }),
  )
  assert.deepEqual(wish(marked({ settled: true }), { snoozedUntil: NOW - 1 }), [])
})

test('to look at a session whose snooze is over ends that; while it lasts it stays', () => {
  assert.deepEqual(
    wish(marked({ snoozedUntil: NOW, readSeq: 50 }), { readSeq: 50 }),
    event({ snoozedUntil: null }),
  )
  assert.deepEqual(wish(marked({ snoozedUntil: NOW + 1 }), { readSeq: 5 }), event({ readSeq: 5 }))
})

test('flags are words on one line, each once, and not many', () => {
  assert.deepEqual(wish(aSession(), { flags: [' red ', 'blue', 'red'] }), event({ flags: ['red', 'blue'] }))
  assert.deepEqual(wish(marked({ flags: ['red'] }), { flags: ['red'] }), [])
  assert.deepEqual(wish(marked({ flags: ['red'] }), { flags: [] }), event({ flags: [] }))
  const nine = Array.from({ length: 9 }, (_, index) => `f${index}`)
  for (const flags of [nine, [' '], ['a\nb'], ['x'.repeat(33)], ['\u001b[2J'], ['\ud800']]) {
    assert.throws(() => wish(aSession(), { flags }), { code: 'invalid', data: { field: 'flags' } })
  }
})

test('marks of a session add up', () => {
  const state = after(marked({ pinned: true, readSeq: 4 }), event({ readSeq: 7, flags: ['red'] }))
  assert.deepEqual(state.marks, {
    readSeq: 7,
    pinned: true,
    snoozedUntil: null,
    settled: false,
    flags: ['red'],
  })
})

const logged = (body: EventBody): LoggedEvent =>
  LoggedEvent.of({ seq: 1, at: 0, sessionId: 's1', ...body } as Event)
const asking = { turnId: null, external: false, timeoutAt: null, approval: aQuestion('a') }
const SENT = logged({ type: 'turn.queued', turnId: 't', input: [], key: null, origin: null, position: 0 })
const ASKED = logged({ type: 'approval.requested', ...asking, open: true })
const PASSED = logged({ type: 'approval.requested', ...asking, open: false })

test('a new message takes back that a session is settled, and its snooze', () => {
  const snoozedUntil = NOW + 10
  const pinned = { pinned: true, readSeq: 3 }
  assert.deepEqual(takenBack(marked({ settled: true, ...pinned }), [SENT]), event({ settled: false }))
  assert.deepEqual(takenBack(marked({ snoozedUntil }), [SENT]), event({ snoozedUntil: null }))
  assert.deepEqual(takenBack(marked(pinned), [SENT, ASKED]), [])
  assert.deepEqual(takenBack(aSession(), [SENT, ASKED]), [])
  const gone = after(marked({ settled: true }), [{ type: 'session.destroyed' }])
  assert.deepEqual(takenBack(gone, [SENT]), [])
})

test('a question that a human is asked ends a snooze, one that a rule answers does not', () => {
  const state = marked({ snoozedUntil: NOW + 10, pinned: true })
  assert.deepEqual(takenBack(state, [ASKED]), event({ snoozedUntil: null }))
  assert.deepEqual(takenBack(state, [PASSED]), [])
  assert.deepEqual(
    takenBack(marked({ settled: true }), [ASKED]),
    [],
    'settled it stays: a question shows anyway',
  )
})
