import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { attentionOf, attentionUntil, type Attended, type Attention } from '../../src/core/attention.ts'
import { NO_MARKS, type Marks } from '../../src/core/marks.ts'
import { apply, type Session } from '../../src/core/session.ts'
import { NO_USAGE } from '../../src/core/usage.ts'
import { after, aQuestion, aSession, running } from '../support/session.ts'

const NOW = 1000

type Open = Attended['approvals'][number]

const open = (patch: Partial<Open> = {}): Open => ({
  decision: null,
  external: false,
  turnId: 't1',
  ...patch,
})
const decided: Open = open({ decision: { behavior: 'allow' } })
const later = open({ deferredUntil: NOW + 1 })
const outside = open({ external: true, turnId: null, deferredUntil: NOW + 1 })

const with_ = (patch: Partial<Attended>, marks: Partial<Marks> = {}): Attended => ({
  ...aSession(),
  ...patch,
  marks: { ...NO_MARKS, ...marks },
})
const works = (patch: Partial<Attended> = {}): Partial<Attended> => ({ turn: running().turn, ...patch })
const over = (lastOutcome: Session['lastOutcome'] = 'completed', endedSeq = 10): Partial<Attended> => ({
  lastOutcome,
  endedSeq,
})

const TABLE: [what: string, wants: Attention, session: Attended][] = [
  ['a new session', 'quiet', aSession()],
  ['a turn runs', 'working', with_(works())],
  ['a message waits', 'working', with_({ queue: ['t2'] })],
  ['a turn has ended', 'done', with_(over())],
  ['a turn was interrupted', 'done', with_(over('interrupted'))],
  ['a turn has ended and was read', 'quiet', with_(over(), { readSeq: 10 })],
  ['a turn has ended since it was read', 'done', with_(over(), { readSeq: 9 })],
  ['a turn has ended, and it is settled', 'quiet', with_(over(), { settled: true })],
  ['a turn has ended in an older log', 'quiet', with_({ lastOutcome: 'completed' })],
  ['a turn has failed', 'needs_you', with_(over('failed'))],
  ['a turn has failed, and was read', 'quiet', with_(over('failed'), { readSeq: 10 })],
  ['a turn has failed, and it is settled', 'quiet', with_(over('failed'), { settled: true })],
  ['a turn has failed, and the next one runs', 'working', with_(works(over('failed')))],
  ['what the relay was asked has ended', 'quiet', with_({ ...over(), origin: 'relay' })],
  ['what the relay was asked has failed', 'quiet', with_({ ...over('failed'), origin: 'relay' })],
  ['an approval is open', 'needs_you', with_(works({ approvals: [open()] }))],
  [
    'an approval is open in a settled session',
    'needs_you',
    with_({ approvals: [open()] }, { settled: true }),
  ],
  ['an approval is decided and not delivered', 'working', with_(works({ approvals: [decided] }))],
  ['the only approval is put off', 'snoozed', with_(works({ approvals: [later] }))],
  ['one of two approvals is put off', 'needs_you', with_(works({ approvals: [later, open()] }))],
  [
    'an approval was put off until now',
    'needs_you',
    with_(works({ approvals: [open({ deferredUntil: NOW })] })),
  ],
  [
    'an approval is not put off any more',
    'needs_you',
    with_(works({ approvals: [open({ deferredUntil: null })] })),
  ],
  ['a question from outside is put off', 'snoozed', with_({ approvals: [outside] })],
  ['a question from outside is put off while a turn runs', 'working', with_(works({ approvals: [outside] }))],
  [
    'a question from outside, of the turn itself, is put off',
    'snoozed',
    with_(works({ approvals: [{ ...outside, turnId: 't1' }] })),
  ],
  ['snoozed, nothing going on', 'snoozed', with_({}, { snoozedUntil: NOW + 1 })],
  ['snoozed, a turn runs', 'snoozed', with_(works(), { snoozedUntil: NOW + 1 })],
  ['snoozed, a turn has failed', 'snoozed', with_(over('failed'), { snoozedUntil: NOW + 1 })],
  ['a snooze is over', 'done', with_(over(), { snoozedUntil: NOW, readSeq: 10 })],
  ['a snooze is over, and a turn has failed', 'needs_you', with_(over('failed'), { snoozedUntil: NOW })],
  ['a snooze is over, and a turn runs', 'working', with_(works(), { snoozedUntil: NOW })],
  ['a snooze is over, and it is settled', 'quiet', with_({}, { snoozedUntil: NOW, settled: true })],
]

describe('attention', () => {
  for (const [what, wants, session] of TABLE) {
    test(`${what}: ${wants}`, () => assert.equal(attentionOf(session, NOW), wants))
  }
})

test('it changes by itself when a snooze ends, or what was put off comes back: whichever is first', () => {
  const until = (session: Attended): number | null => attentionUntil(session, NOW)
  assert.equal(until(with_({})), null)
  assert.equal(until(with_({}, { snoozedUntil: NOW })), null)
  assert.equal(until(with_({}, { snoozedUntil: NOW + 5 })), NOW + 5)
  const approvals = [
    open({ deferredUntil: NOW + 3 }),
    open({ deferredUntil: NOW + 2, decision: decided.decision }),
  ]
  assert.equal(until(with_({ approvals }, { snoozedUntil: NOW + 5 })), NOW + 3)
  assert.equal(until(with_({ approvals: [open({ deferredUntil: null })] })), null)
})

test('a session goes through it: it works, asks, works, is done', () => {
  const wants = (session: Session): Attention => attentionOf(session, NOW)
  const works = running()
  assert.equal(wants(works), 'working')
  const asking = { open: true, external: false, timeoutAt: null, turnId: 't1' }
  const asks = after(works, [{ type: 'approval.requested', approval: aQuestion('a'), ...asking }])
  assert.equal(wants(asks), 'needs_you')
  const allow = { behavior: 'allow' } as const
  const goesOn = after(asks, [{ type: 'approval.resolved', approvalId: 'a', decision: allow, by: 'me' }])
  assert.equal(wants(goesOn), 'working')
  const end = { type: 'turn.completed', turnId: 't1', usage: NO_USAGE, text: null } as const
  const done = apply(goesOn, { ...end, seq: 77, at: 5, sessionId: 's1' })
  assert.equal(wants(done), 'done')
  assert.deepEqual([done.endedSeq, done.endedAt], [77, 5])
  assert.equal(wants(after(done, [{ type: 'session.marked', readSeq: 77 }])), 'quiet')
})

test('a browser can have it: neither it nor what it imports needs anything but types and itself', () => {
  const imported = (file: string): string[] => {
    const text = readFileSync(new URL(`../../src/core/${file}`, import.meta.url), 'utf8')
    return [...text.matchAll(/^import (?!type).* from '(.*)'/gm)].map(([, from]) => from!)
  }
  assert.deepEqual(imported('attention.ts'), ['./marks.ts'])
  assert.deepEqual(imported('marks.ts'), [])
})
