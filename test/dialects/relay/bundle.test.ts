import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { debugBundle } from '../../../src/dialects/relay/bundle.ts'
import { openCallRecords } from '../../../src/relay/records/call-records.ts'
import { noLicense } from '../../../src/relay/license/license.ts'
import { redacted, scrub, scrubAll } from '../../../src/relay/redact.ts'
import { openSettings } from '../../../src/relay/settings/settings.ts'
import { scratch } from '../../relay/servers.ts'

const BULLETS = '•'.repeat(8)

test('what looks like a secret is not in a text any more, and the rest is', () => {
  for (const [text, expected] of [
    ['key sk-ant-api03-abcdefghijkl_mn-op failed', `key ${BULLETS} failed`],
    ['sk-proj-0123456789abcdef', BULLETS],
    ['ir_live_0123456789abcdef!', `${BULLETS}!`],
    ['ghp_0123456789abcdef0123', BULLETS],
    ['xoxb-1234567890-abc', BULLETS],
    ['AKIAIOSFODNN7EXAMPLE.', `${BULLETS}.`],
    ['Authorization: Bearer abc.def-ghi', `Authorization: Bearer ${BULLETS}`],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc', BULLETS],
    ['https://me:hunter2@example.com/x', `https://${BULLETS}@example.com/x`],
    ['{"api_key":"whatever1"}', `{"api_key":"${BULLETS}"}`],
    ['MY_SECRET=abcd1234 next', `MY_SECRET=${BULLETS} next`],
    ['password: "pass word"', `password: "${BULLETS} word"`],
    ['-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----', BULLETS],
    ['-----BEGIN PRIVATE KEY-----\ncut off', BULLETS],
    ['max_tokens: 1000 and risk-free desk-lamps', 'max_tokens: 1000 and risk-free desk-lamps'],
    ['nobody listens at http://127.0.0.1:11434/v1', 'nobody listens at http://127.0.0.1:11434/v1'],
  ] as const) {
    assert.equal(scrub(text), expected)
  }
  assert.equal(
    scrub('a planted-one and planted', ['planted', 'planted-one', '', 'a']),
    `a ${BULLETS} and ${BULLETS}`,
  )
})

test('no text takes long', () => {
  for (const text of ['A', 'a_', 'a-', 'eyJ-', 'api_key ', '://', '-----BEGIN ']) {
    const before = process.cpuUsage()
    scrub(text.repeat(20_000 / text.length))
    // Of work, not of waiting for a processor that others use.
    const tookMs = process.cpuUsage(before).user / 1000
    assert.ok(tookMs < 1000, `${text} took ${tookMs} ms`)
  }
})

test('a key is shown by its last four, a short one not at all', () => {
  assert.equal(redacted('0123456789abcdef'), `${BULLETS}cdef`)
  assert.equal(redacted('short'), BULLETS)
  assert.deepEqual(
    scrubAll({ apiKey: '0123456789abcdef', tokens: 5, list: [{ password: 'x' }], none: null }),
    {
      apiKey: `${BULLETS}cdef`,
      tokens: 5,
      list: [{ password: BULLETS }],
      none: null,
    },
  )
})

test('secrets that are planted everywhere are nowhere in the bundle', async () => {
  const directory = scratch()
  const license = 'PLANTED-license-key-000000000001'
  const upstream = 'PLANTED-upstream-key-000000000002'
  const seen = ['sk-ant-PLANTED0000000003', 'Bearer PLANTED0000000004', 'ghp_PLANTED000000000005']
  const planted = [license, upstream, ...seen].join(' ')
  const settings = openSettings({ path: join(directory, 'relay.json'), env: {} })
  const problem = {
    name: 'up',
    kind: 'openai',
    baseUrl: 'http://127.0.0.1:1',
    apiKey: upstream,
    model: seen[0],
  }
  settings.patch({
    licenseKey: license,
    upstreams: [{ ...problem, models: { [seen[2]!]: upstream } }],
    prices: { [license]: { input: 1, output: 1 } },
  })
  const calls = await openCallRecords({
    path: join(directory, 'calls.jsonl'),
    now: Date.now,
    storePrompts: () => true,
    // As if they had not been known yet when the record was made.
    secrets: () => [],
  })
  const call = {
    id: planted,
    sessionId: planted,
    startedAt: 1,
    completedAt: 2,
    model: planted,
    provider: planted,
    inputTokens: 0,
    outputTokens: 0,
    costAvoidedUsd: 0,
    status: 'error' as const,
    error: planted,
    stopReason: null,
    fallbackChain: [],
    promptPreview: planted,
    rawTranscript: planted,
  }
  for (let i = 0; i < 30; i += 1) calls.add(call)
  calls.add({ ...call, status: 'success' })
  await calls.flushed()
  const off = noLicense({ hasKey: () => false, now: () => 0 }).view()
  const bundle = debugBundle(
    {
      version: { ir: '1', env: { TOKEN: planted }, note: planted },
      settings: settings.view(),
      license: { ...off, license: { ...off.license, tier: planted, features: [planted] } },
      pool: { idle: 2, [planted]: planted },
      providers: [{ provider: 'up', status: 'degraded', reason: planted, retryAt: 1 }],
      calls: calls.list(),
    },
    settings.secrets(),
  ) as Record<string, unknown>
  const text = JSON.stringify(bundle)
  assert.ok(!text.includes('PLANTED'), text)
  assert.ok(!text.includes('promptPreview') && !text.includes('rawTranscript'))
  assert.deepEqual(Object.keys(bundle), [
    'version',
    'settings',
    'license',
    'pool',
    'providers',
    'recent_calls_count',
    'last_errors',
  ])
  assert.equal(bundle['recent_calls_count'], 31)
  assert.equal((bundle['last_errors'] as unknown[]).length, 20)
  assert.equal((bundle['settings'] as { licenseKey: string }).licenseKey, `${BULLETS}0001`)
})
