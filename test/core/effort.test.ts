import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Effort, nearestEffort } from '../../src/core/effort.ts'

test('what is not offered is replaced by what comes closest, rather more than less', () => {
  const near = (wanted: Effort, ...offered: Effort[]) => nearestEffort(wanted, offered)
  assert.equal(near('high', 'low', 'high', 'max'), 'high')
  assert.equal(near('minimal', 'off', 'low'), 'low')
  assert.equal(near('medium', 'high', 'low'), 'high')
  assert.equal(near('off', 'medium', 'low'), 'low')
  assert.equal(near('max', 'low', 'xhigh'), 'xhigh')
  assert.equal(near('max'), null)
})
