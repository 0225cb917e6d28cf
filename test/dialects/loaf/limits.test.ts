import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KnownLimits } from '../../../src/core/limits.ts'
import { limitsOf } from '../../../src/dialects/loaf/methods/limits.ts'

const HOUR = 3_600_000
const WINDOWS = [
  { name: 'primary', usedPercent: 63, lengthMs: 5 * HOUR, resetsAt: 1_794_825_720_000 },
  { name: 'secondary', usedPercent: 21, lengthMs: null, resetsAt: null },
]

const view = (name: string, limits: KnownLimits | null) => {
  return { name, installed: true, signedIn: true, limits, capabilities: { compact: true } }
}
const signedIn = (...who: string[]) => ({
  openai: who.includes('openai'),
  antigravity: who.includes('antigravity'),
  anthropic: who.includes('anthropic'),
})

test('what Codex and Claude have told is what there is', () => {
  const codex = view('codex', { plan: 'plus', windows: WINDOWS, at: 1 })
  const claude = view('claude', { windows: [{ ...WINDOWS[0]!, name: 'seven_day' }], at: 1 })
  const primary = {
    usedPercent: 63,
    remainingPercent: 37,
    limitWindowSeconds: 18_000,
    resetAtEpochSeconds: 1_794_825_720,
  }
  const secondary = {
    usedPercent: 21,
    remainingPercent: 79,
    limitWindowSeconds: null,
    resetAtEpochSeconds: null,
  }
  assert.deepEqual(limitsOf(signedIn('openai', 'anthropic'), [codex, claude]), {
    openai: { ok: true, snapshot: { planType: 'plus', primary, secondary } },
    antigravity: null,
    anthropic: { ok: true, snapshot: { planType: null, primary: null, secondary: primary } },
  })
})

test('nobody signed in is an error, and only who is signed in is there', () => {
  assert.throws(() => limitsOf(signedIn(), []), /limits requires at least one oauth provider/)
  const { openai, antigravity, anthropic } = limitsOf(signedIn('antigravity'), [])
  assert.deepEqual([openai, antigravity?.ok, anthropic], [null, false, undefined])
  assert.match(antigravity!.message, /Gemini CLI does not tell/)
})

test('nothing told yet, and what has begun anew since, is said in words', () => {
  const message = (limits: KnownLimits | null): string => {
    const { openai } = limitsOf(signedIn('openai'), [view('codex', limits)])
    assert.ok(openai && !openai.ok)
    return openai.message
  }
  assert.match(message(null), /Codex has not told yet/)
  assert.match(message({ windows: [], at: 0 }), /told last at 1970-01-01T.*begun anew since/)
})
