import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contextPercent, costText, newsOf, questionOf, tokensText } from '../../web/state/row-words.ts'
import { iconWith, titleWith } from '../../web/state/sign-words.ts'
import { visible, visibleLine } from '../../web/state/visible-text.ts'
import { outcomeOf, subjectOf, whoAnswered } from '../../web/state/who.ts'
import { someApproval } from './some-approval.ts'
import { someRow } from './some-row.ts'

test('A row tells what it does, what went wrong, or what was said last', () => {
  const turn = { id: 't', startedAt: 1 }
  assert.equal(newsOf(someRow('a', { turn, doing: 'npm test', lastLine: 'x' })), 'npm test')
  assert.equal(newsOf(someRow('a', { turn, lastLine: '## **So** `far`' })), 'So far')
  assert.equal(newsOf(someRow('a', { turn })), 'Starting')
  assert.equal(newsOf(someRow('a', { queued: 1 })), 'Waiting to start')
  assert.equal(newsOf(someRow('a')), 'Nothing said yet')
  const failed = {
    attention: 'needs_you',
    lastOutcome: 'failed',
    lastError: { code: 'x', message: 'no credit' },
  } as const
  assert.equal(newsOf(someRow('a', failed)), 'Failed: no credit')
})

test('What is asked is told first, with paths as seen from the directory', () => {
  const row = someRow('a', { cwd: '/home/me/shop' })
  const edit = someApproval('1', {
    tool: 'Edit',
    about: { class: 'edit', subjects: ['/home/me/shop/src/a.ts'] },
  })
  assert.equal(questionOf(row, [edit]), 'Asks: Edit: src/a.ts')
  assert.equal(questionOf(row, [someApproval('1'), edit]), 'Asks: ls (and 1 more)')
  assert.equal(questionOf(row, []), null)
})

test('Costs and tokens are short, and nothing is made up', () => {
  assert.deepEqual([null, 0, 0.001, 0.5, 12.345, 1234.5].map(costText), [
    null,
    null,
    '<$0.01',
    '$0.50',
    '$12.35',
    '$1235',
  ])
  assert.deepEqual([5, 999, 1500, 999_499, 1_234_567].map(tokensText), ['5', '999', '2k', '999k', '1.2M'])
  assert.equal(contextPercent({ tokens: { used: 50_000, window: 200_000 } }), 25)
  assert.equal(contextPercent({ tokens: { used: 500_000, window: 200_000 } }), 100)
  assert.equal(contextPercent({ tokens: { used: 5, window: null } }), null)
})

test('The window and its icon say how many need you', () => {
  assert.equal(titleWith('Now', 0), 'Now · Corral')
  assert.equal(titleWith('Inbox', 3), '(3) Inbox · Corral')
  assert.equal(titleWith('', 0), 'Corral')
  assert.equal(iconWith(0), '/icons/mark.svg')
  assert.match(decodeURIComponent(iconWith(7)), />7<\/text>/)
  assert.match(decodeURIComponent(iconWith(70)), />9\+<\/text>/)
})

test('Who has answered is said in words', () => {
  assert.equal(whoAnswered('cli'), 'the command line')
  assert.equal(whoAnswered('mode:auto'), 'the mode auto')
  assert.equal(whoAnswered('my-bot'), 'my-bot')
  assert.equal(whoAnswered('dashboard', "Ada's phone"), "Ada's phone")
  assert.equal(outcomeOf({ behavior: 'cancelled', reason: '' }), 'withdrawn')
})

test('What is asked fits one line, whatever it is about', () => {
  assert.equal(subjectOf(someApproval('1')), 'ls')
  assert.equal(subjectOf(someApproval('1', { kind: 'question', summary: 'Which one?' })), 'Which one?')
  const input = { questions: [{ question: 'Which version?', options: [] }] }
  assert.equal(subjectOf(someApproval('1', { kind: 'question', tool: 'AskUserQuestion', input })), 'Which version?')
  assert.equal(subjectOf(someApproval('1', { kind: 'plan', summary: null })), 'a plan')
  assert.equal(subjectOf(someApproval('1', { about: { class: 'mcp', subjects: [] }, summary: null })), 'Bash')
})

test('What hides in a text is shown, and what a terminal would obey is gone', () => {
  assert.equal(visibleLine('rm \u001b[31m-rf\u001b[0m\n  /tmp'), 'rm -rf /tmp')
  assert.match(visibleLine('allow \u202egnihtyreve'), /⟨U\+202E⟩/)
  assert.equal(visibleLine('a\u200bb\u0007'), 'ab')
  assert.equal(visible('one\ntwo'), 'one\ntwo')
})
