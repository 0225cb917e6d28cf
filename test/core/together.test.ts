import assert from 'node:assert/strict'
import { test } from 'node:test'
import { together } from '../../src/core/together.ts'

test('who comes while it is done gets the same, who comes later gets it done again, also after a failure', async () => {
  let times = 0
  const { promise, resolve } = Promise.withResolvers<void>()
  const ask = together(async () => {
    times += 1
    await promise
    if (times === 2) throw new Error('the second time')
    return times
  })
  const both = [ask(), ask()]
  resolve()
  assert.deepEqual(await Promise.all(both), [1, 1])
  await assert.rejects(ask(), /the second time/)
  assert.equal(await ask(), 3)
})
