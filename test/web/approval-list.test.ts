import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commonClass, divided, nextReturn } from '../../web/state/approval-list.ts'
import { someApproval } from './some-approval.ts'

const named = (list: readonly { id: string }[]): string[] => list.map(({ id }) => id)

test('The oldest comes first, and what was put off is apart until its time', () => {
  const all = [
    someApproval('young', { requestedAt: 3 }),
    someApproval('old', { requestedAt: 1 }),
    someApproval('later', { deferredUntil: 300 }),
    someApproval('sooner', { deferredUntil: 200 }),
    someApproval('back', { requestedAt: 2, deferredUntil: 100 }),
  ]
  const { open, deferred } = divided(all, 100)
  assert.deepEqual(named(open), ['old', 'back', 'young'])
  assert.deepEqual(named(deferred), ['sooner', 'later'])
  assert.equal(nextReturn(all, 100), 200)
  assert.equal(nextReturn(all, 300), null)
})

test('Only tools of one class have an answer in common', () => {
  const edit = someApproval('e', { about: { class: 'edit', subjects: ['a'] } })
  assert.equal(commonClass([someApproval('1'), someApproval('2')]), 'shell')
  assert.equal(commonClass([someApproval('1'), edit]), null)
  assert.equal(commonClass([someApproval('1', { kind: 'question' })]), null)
  assert.equal(commonClass([]), null)
})
