import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAttempts } from '../../src/access/attempts.ts'
import { createCodes } from '../../src/access/codes.ts'

test('a code is good once, and for a minute', () => {
  const clock = { now: 0 }
  const codes = createCodes({ now: () => clock.now })
  const { code, expiresAt } = codes.issue(null)
  assert.equal(expiresAt, 60_000)
  assert.equal(codes.redeem(`${code}x`), null)
  assert.deepEqual(codes.redeem(code), { device: null })
  assert.equal(codes.redeem(code), null)
  const late = codes.issue(null)
  clock.now = 60_000
  assert.equal(codes.redeem(late.code), null)
})

test('there are sixteen at the most: the oldest makes room', () => {
  const codes = createCodes({ now: () => 0 })
  const made = Array.from({ length: 17 }, () => codes.issue(null).code)
  assert.equal(new Set(made).size, 17)
  assert.equal(codes.redeem(made[0]!), null)
  assert.ok(codes.redeem(made[1]!) && codes.redeem(made[16]!))
})

test('ten wrong tries within a minute are enough, for each address', () => {
  const clock = { now: 0 }
  const attempts = createAttempts({ now: () => clock.now })
  for (let tries = 0; tries < 10; tries++) {
    assert.equal(attempts.waitMs('a'), 0)
    attempts.wrong('a')
    clock.now += 1000
  }
  assert.equal(attempts.waitMs('a'), 50_000)
  assert.equal(attempts.waitMs('b'), 0)
  clock.now += 50_000
  assert.equal(attempts.waitMs('a'), 0)
  attempts.wrong('a')
  assert.equal(attempts.waitMs('a'), 1000, 'the oldest of them counts no more')
})

test('it remembers a thousand addresses, and no more', () => {
  const attempts = createAttempts({ now: () => 0 })
  for (let tries = 0; tries < 10; tries++) attempts.wrong('first')
  for (let other = 0; other < 1000; other++) attempts.wrong(`other ${other}`)
  assert.equal(attempts.waitMs('first'), 0)
})
