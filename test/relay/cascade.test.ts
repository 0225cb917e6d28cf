import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import { after, test } from 'node:test'
import { type Cascade, createCascade } from '../../src/relay/providers/cascade.ts'
import { openaiUpstream } from '../../src/relay/providers/openai.ts'
import type { Provider } from '../../src/relay/providers/provider.ts'
import { aCall, all, anAsk, chunks, sendEvents, sendJson, serve } from './servers.ts'

const GOOD = chunks(
  { choices: [{ delta: { content: 'hello' } }] },
  { choices: [{ delta: {}, finish_reason: 'stop' }] },
  '[DONE]',
)

interface Rig extends Cascade {
  /** By name, in the order in which they were asked. */
  asked: string[]
  clock: { now: number }
  behave: Record<string, RequestListener>
}

const good: RequestListener = (_, res) => sendEvents(res, GOOD)
const refuse =
  (status: number, headers = {}): RequestListener =>
  (_, res) =>
    sendJson(res, status, { error: { message: `status ${status}` } }, headers)

/** Real servers behind real providers; only the clock is ours. */
async function rig(behave: Record<string, RequestListener>, more: Provider[] = []): Promise<Rig> {
  const asked: string[] = []
  const clock = { now: 1_000_000 }
  const providers = await Promise.all(
    Object.keys(behave).map(async (name) => {
      const { url } = await serve((req, res) => {
        asked.push(name)
        behave[name]!(req, res)
      })
      const provider = openaiUpstream({ name, kind: 'openai', baseUrl: url })
      after(() => provider.close())
      return provider
    }),
  )
  const cascade = createCascade({ providers: () => [...more, ...providers], now: () => clock.now })
  return { ...cascade, asked, clock, behave }
}

async function said(cascade: Cascade): Promise<{ by: string; passed: string[]; pieces: number }> {
  const { provider, fallbackChain, pieces } = await cascade.answer(aCall())
  return {
    by: provider,
    passed: fallbackChain.map(({ provider, error }) => `${provider}|${error}`),
    pieces: (await all(pieces)).length,
  }
}

function absent(name: string, why: string): Provider {
  return {
    name,
    unavailable: () => Promise.resolve(why),
    answer: () => assert.fail('it was asked though it is not there'),
  }
}

test('the first that can be asked answers', async () => {
  const t = await rig({ a: good, b: good })
  assert.deepEqual(await said(t), { by: 'a', passed: [], pieces: 2 })
  assert.deepEqual(t.asked, ['a'])
})

test('before the first piece the next one is asked, and the answer says why', async () => {
  const t = await rig({ a: refuse(500), b: refuse(404), c: good }, [absent('agent', 'not installed')])
  assert.deepEqual(await said(t), {
    by: 'c',
    passed: ['agent|not installed', 'a|a: status 500', 'b|b: status 404'],
    pieces: 2,
  })
})

test('after the first piece nobody else is asked', async () => {
  const t = await rig({
    a: (_, res) => {
      res
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .write(GOOD.slice(0, GOOD.indexOf('\n\n') + 2))
      setImmediate(() => res.destroy())
    },
    b: good,
  })
  const { provider, pieces } = await t.answer(aCall())
  assert.equal(provider, 'a')
  await assert.rejects(all(pieces), { name: 'RelayFailure', status: 503 })
  assert.deepEqual(t.asked, ['a'])
})

test('who dies in the middle again and again rests, too', async () => {
  const t = await rig({
    a: (_, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      res.write(GOOD.slice(0, GOOD.indexOf('\n\n') + 2), () => res.destroy())
    },
    b: good,
  })
  for (let i = 0; i < 2; i += 1) {
    t.clock.now += 1
    await assert.rejects(said(t), { status: 503 })
  }
  assert.equal((await t.status())[0]?.status, 'degraded')
  assert.equal((await said(t)).by, 'b')
})

test('the fault of the caller is nobody else’s', async () => {
  const t = await rig({ a: refuse(400), b: good })
  await assert.rejects(t.answer(aCall()), { status: 400, retryAfterMs: null })
  assert.deepEqual(t.asked, ['a'])
  assert.deepEqual(
    (await t.status()).map(({ status }) => status),
    ['ok', 'ok'],
  )
})

test('too large is tried elsewhere, and only told if it is so for all', async () => {
  const t = await rig({ a: refuse(413), b: good })
  assert.equal((await said(t)).by, 'b')
  t.behave['b'] = refuse(413)
  await assert.rejects(t.answer(aCall()), { status: 413 })
  t.behave['a'] = refuse(500)
  await assert.rejects(t.answer(aCall()), { status: 500 })
})

test('who is busy rests as long as it says, or a minute', async () => {
  for (const [headers, restMs] of [
    [{ 'retry-after': '7' }, 7000],
    [{}, 60_000],
  ] as const) {
    const t = await rig({ a: refuse(429, headers), b: good })
    await said(t)
    t.clock.now += restMs - 1
    assert.deepEqual((await said(t)).passed, ['a|it rests after: a: status 429'])
    assert.equal((await t.status())[0]?.retryAt, 1_000_000 + restMs)
    t.clock.now += 1
    t.behave['a'] = good
    assert.deepEqual(await said(t), { by: 'a', passed: [], pieces: 2 })
    assert.deepEqual(t.asked, ['a', 'b', 'b', 'a'])
  }
})

test('who does not let us in rests for five minutes', async () => {
  for (const status of [401, 402, 403]) {
    const t = await rig({ a: refuse(status), b: good })
    await said(t)
    t.clock.now += 299_999
    await said(t)
    t.clock.now += 1
    await said(t)
    assert.deepEqual(t.asked, ['a', 'b', 'b', 'a', 'b'])
  }
})

test('who fails again and again rests for longer and longer, up to five minutes', async () => {
  const t = await rig({ a: refuse(500), b: good })
  const rests: number[] = []
  for (let i = 0; i < 10; i += 1) {
    await said(t)
    const { retryAt } = (await t.status())[0]!
    rests.push(retryAt === null ? 0 : retryAt - t.clock.now)
    t.clock.now = (retryAt ?? t.clock.now) + 1
  }
  assert.deepEqual(rests, [0, 5000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000, 300_000])
  t.behave['a'] = good
  assert.equal((await said(t)).by, 'a')
  t.behave['a'] = refuse(500)
  await said(t)
  assert.equal((await t.status())[0]?.status, 'ok', 'one failure after a success is no row')
})

test('calls that fail together are one failure', async () => {
  const waiting: (() => void)[] = []
  const t = await rig({
    a: (req, res) => {
      waiting.push(() => refuse(500)(req, res))
      if (waiting.length === 5) for (const go of waiting) go()
    },
    b: good,
  })
  const calls = Array.from({ length: 5 }, () => {
    t.clock.now += 1
    return said(t)
  })
  t.clock.now += 10
  await Promise.all(calls)
  assert.equal((await t.status())[0]?.status, 'ok')
})

test('if all rest the caller is told how long', async () => {
  const t = await rig({ a: refuse(429, { 'retry-after': '9' }), b: refuse(529, { 'retry-after': '4' }) })
  await assert.rejects(t.answer(aCall()), { status: 529 })
  t.clock.now += 1000
  await assert.rejects(t.answer(aCall()), { status: 529, kind: 'overloaded_error', retryAfterMs: 3000 })
  assert.equal(t.asked.length, 2)
  const other = await rig({ a: refuse(429), b: refuse(401) })
  await assert.rejects(other.answer(aCall()), { status: 401 })
  await assert.rejects(other.answer(aCall()), { status: 503, retryAfterMs: 60_000 })
})

test('the only one is asked in any case, unless it has said when to come back', async () => {
  const t = await rig({ a: refuse(429) }, [absent('agent', 'not installed')])
  await assert.rejects(t.answer(aCall()), { status: 429, retryAfterMs: 1000 })
  t.behave['a'] = good
  assert.equal((await said(t)).by, 'a')
  t.behave['a'] = refuse(429, { 'retry-after': '20' })
  await assert.rejects(t.answer(aCall()), { status: 429, retryAfterMs: 20_000 })
  t.clock.now += 5000
  await assert.rejects(t.answer(aCall()), { status: 529, retryAfterMs: 15_000 })
  assert.equal(t.asked.length, 3)
  const locked = await rig({ a: refuse(401) })
  await assert.rejects(locked.answer(aCall()), { status: 401, retryAfterMs: null })
  await assert.rejects(locked.answer(aCall()), { status: 401 })
})

test('with nobody there the caller is told what to do, and not to try again', async () => {
  const none = createCascade({ providers: () => [] })
  await assert.rejects(none.answer(aCall()), { status: 500, retryAfterMs: null })
  const t = createCascade({ providers: () => [absent('agent', 'claude is not installed')] })
  await assert.rejects(t.answer(aCall()), {
    status: 500,
    retryAfterMs: null,
    message: 'provider acquire failed: agent: claude is not installed',
  })
  assert.deepEqual(await t.status(), [
    { provider: 'agent', status: 'unavailable', reason: 'claude is not installed', retryAt: null },
  ])
})

test('a client that goes is no failure of anybody, and nobody else is asked', async () => {
  const stop = new AbortController()
  const t = await rig({ a: () => stop.abort(), b: good })
  await assert.rejects(t.answer(aCall(anAsk(), stop.signal)), { status: 499 })
  assert.deepEqual(t.asked, ['a'])
  assert.equal((await t.status())[0]?.status, 'ok')
})

test('a provider that says nothing, or throws what it may not, is passed over', async () => {
  const silent: Provider = { name: 'silent', unavailable: () => Promise.resolve(null), async *answer() {} }
  const broken: Provider = {
    ...silent,
    name: 'broken',
    answer() {
      throw new TypeError('a secret detail')
    },
  }
  const t = await rig({ a: good }, [silent, broken])
  assert.deepEqual((await said(t)).passed, ['silent|silent: it said nothing', 'broken|The provider failed'])
})

test('who stops reading ends the provider', async () => {
  let ended = false
  const provider: Provider = {
    name: 'endless',
    unavailable: () => Promise.resolve(null),
    async *answer() {
      try {
        for (;;) yield { type: 'text', text: 'more' }
      } finally {
        ended = true
      }
    },
  }
  const { pieces } = await createCascade({ providers: () => [provider] }).answer(aCall())
  for await (const piece of pieces) if (piece.type === 'text') break
  assert.equal(ended, true)
})
