import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPairing, type Pairing } from '../../src/access/pairing.ts'

const TTL = 600_000

function pairing(): { pins: Pairing<string>; wait(ms: number): void } {
  let now = 1_000_000
  return { pins: createPairing({ now: () => now, ttlMs: TTL }), wait: (ms) => void (now += ms) }
}

/** A PIN that is none of these. */
function other(...pins: string[]): string {
  for (let n = 100_000; ; n++) if (!pins.includes(String(n))) return String(n)
}

const verdicts = (pins: Pairing<string>, ...given: string[]): string[] =>
  given.map((pin) => pins.redeem(pin).verdict)

test('a PIN has six digits, does not begin with 0, and lets in once', () => {
  for (let round = 0; round < 500; round++) {
    const { pins } = pairing()
    assert.match(pins.issue('x').pin, /^[1-9]\d{5}$/)
  }
  const { pins } = pairing()
  const { pin, expiresAt } = pins.issue('grant')
  assert.equal(expiresAt, 1_000_000 + TTL)
  const first = pins.redeem(pin)
  assert.equal(first.verdict === 'ok' && first.grant, 'grant')
  assert.deepEqual(verdicts(pins, pin), ['wrong'], 'used')
})

test('what was used in vain can be used again', () => {
  const { pins } = pairing()
  const { pin } = pins.issue('x')
  const first = pins.redeem(pin)
  if (first.verdict === 'ok') first.undo()
  assert.deepEqual(verdicts(pins, pin, pin), ['ok', 'wrong'])
})

test('a PIN that is too old is told apart from a wrong one, for a while', () => {
  const { pins, wait } = pairing()
  const { pin } = pins.issue('x')
  wait(TTL - 1)
  assert.equal(pins.redeem(other(pin)).verdict, 'wrong')
  wait(1)
  assert.deepEqual(verdicts(pins, pin, pin, pin, pin, pin, pin), Array(6).fill('expired'))
  wait(2 * 60 * 60 * 1000)
  assert.equal(pins.redeem(pin).verdict, 'wrong')
})

test('five wrong tries in all, and every PIN is void until a new one is made', () => {
  const { pins } = pairing()
  const [one, two] = [pins.issue('x').pin, pins.issue('x').pin]
  const bad = other(one, two)
  assert.deepEqual(verdicts(pins, bad, '', 'x'.repeat(1000), bad), ['wrong', 'wrong', 'wrong', 'wrong'])
  assert.deepEqual(verdicts(pins, bad, one, two, bad), ['locked', 'locked', 'locked', 'locked'])
  const { pin } = pins.issue('x')
  assert.deepEqual(verdicts(pins, one === pin ? bad : one, pin), ['wrong', 'ok'])
})

test('another PIN gives a guesser no more tries while there is one to be guessed', () => {
  const { pins } = pairing()
  const one = pins.issue('x').pin
  const two = other(one)
  assert.deepEqual(verdicts(pins, two, two, two, two), ['wrong', 'wrong', 'wrong', 'wrong'])
  const more = pins.issue('x').pin
  assert.deepEqual(verdicts(pins, other(one, more), more), ['locked', 'locked'])
})

test('a few hold at a time: the oldest makes room', () => {
  const { pins } = pairing()
  const made = Array.from({ length: 4 }, () => pins.issue('x').pin)
  assert.deepEqual(verdicts(pins, ...made), ['wrong', 'ok', 'ok', 'ok'])
})
