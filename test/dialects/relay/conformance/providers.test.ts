import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import { after, describe, test } from 'node:test'
import { APIError, InternalServerError } from '@anthropic-ai/sdk'
import { startScriptedModel } from '../../../support/model/server.ts'
import { sendEvents, sendJson, serve } from '../../../relay/servers.ts'
import { calling, callsOf, chatting, FUNCTIONS, type Json, type Relay, saying, startRelay } from './rig.ts'
import { textOf, TOOLS } from './rig.ts'

/** A model that speaks both APIs, as a local one may. */
const model = await startScriptedModel()
after(() => model.close())

/** A relay whose agent is not on the machine. */
const bare = await startRelay({ env: { CORRAL_RELAY_AGENT: 'claude', CORRAL_CLAUDE_BIN: '/no/such/claude' } })

async function use(relay: Relay, upstreams: Json[]): Promise<void> {
  const { status, body } = await relay.send('PATCH', '/v1/settings', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ upstreams }),
  })
  assert.equal(status, 200, JSON.stringify(body))
}

const own = (message: unknown): { provider: string; fallbackChain: { provider: string; error: string }[] } =>
  message as never
const passedBy = (message: unknown): string[] => own(message).fallbackChain.map(({ provider }) => provider)

describe('with no agent and no upstream', () => {
  test('a plain client is told so, and which session it was', async () => {
    const error = 'provider acquire failed: claude binary not found on PATH or known locations'
    const { status, body, headers } = await bare.post('/v1/messages', saying('hello'))
    assert.deepEqual([status, body['error']], [500, error])
    assert.equal(body['session_id'], headers.get('request-id'))
    assert.match(String(body['hint']), /Install an agent, or configure an upstream/)
    assert.equal(headers.get('x-should-retry'), 'false')
    const name = { 'x-ir-session-id': 'planner-1' }
    const named = await bare.post('/v1/messages', saying('hello'), name)
    assert.deepEqual([named.status, named.body['error'], named.body['session_id']], [500, error, 'planner-1'])
    const other = await bare.post('/v1/chat/completions', chatting('hello'), name)
    const { message } = other.body['error'] as { message: string }
    assert.deepEqual([other.status, message, other.body['session_id']], [500, error, 'planner-1'])
  })

  test('SDKs are told not to try again', async () => {
    const before = (await bare.calls()).length
    await assert.rejects(bare.anthropic({ maxRetries: 2 }).messages.create(saying('x')), InternalServerError)
    await assert.rejects(bare.openai({ maxRetries: 2 }).chat.completions.create(chatting('x')), {
      status: 500,
    })
    assert.equal((await bare.calls()).length, before + 2)
  })

  test('availability and version say it', async () => {
    assert.deepEqual((await bare.get('/v1/availability')).body, { ok: false, missing: ['claude'] })
    const { body } = await bare.get('/v1/version')
    assert.deepEqual([body['claudeAvailable'], body['claudeMissing']], [false, ['claude']])
  })
})

for (const kind of ['openai', 'anthropic']) {
  describe(`with no agent and an upstream of the kind ${kind}`, () => {
    test('both SDKs are answered', async () => {
      await use(bare, [{ name: 'local', kind, baseUrl: model.url, apiKey: 'sk-up' }])
      const message = await bare.anthropic().messages.create(saying('[[words 30]]'))
      assert.equal(textOf(message).split(' ').length, 30)
      assert.deepEqual([own(message).provider, passedBy(message)], ['local', ['claude-pty']])
      const completion = await bare.openai().chat.completions.create(chatting('[[say over there]]'))
      assert.equal(completion.choices[0]!.message.content, 'over there')
      assert.equal((await bare.get('/v1/availability')).body['ok'], true)
    })

    test('both SDKs stream', async () => {
      assert.equal(await bare.anthropic().messages.stream(saying('[[say one]]')).finalText(), 'one')
      const stream = bare.openai().chat.completions.stream(chatting('[[say two]]'))
      assert.equal(await stream.finalContent(), 'two')
    })

    test('tools pass through, in either shape', async () => {
      const question = calling(['look', { at: 'it' }])
      const message = await bare.anthropic().messages.create({ ...saying(question), tools: TOOLS })
      assert.deepEqual(callsOf(message)[0]!.input, { at: 'it' })
      const completion = await bare
        .openai()
        .chat.completions.create({ ...chatting(question), tools: FUNCTIONS })
      assert.equal(completion.choices[0]!.finish_reason, 'tool_calls')
    })

    test('its failures keep their status', async () => {
      await assert.rejects(bare.anthropic().messages.create(saying('[[fail 404]]')), { status: 404 })
    })
  })
}

/** Upstreams by name: who was asked, and how each one answers. */
const seen: string[] = []
const behave: Record<string, RequestListener> = {}
const upstreams = await Promise.all(
  ['one', 'two', 'three'].map(async (name) => {
    const { url } = await serve((req, res) => {
      seen.push(name)
      req.resume().on('end', () => behave[name]!(req, res))
    })
    return { name, kind: 'openai', baseUrl: url }
  }),
)
const chunk = (delta: Json, finish: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
const says =
  (content: string): RequestListener =>
  (_, res) =>
    sendEvents(res, `${chunk({ content })}${chunk({}, 'stop')}data: [DONE]\n\n`)

describe('in order', () => {
  test('the agent is first, the next one answers when it cannot', async () => {
    const relay = await startRelay()
    await use(relay, [{ name: 'next', kind: 'openai', baseUrl: model.url }])
    const first = await relay.anthropic().messages.create(saying('[[say x]]'))
    assert.deepEqual([own(first).provider, passedBy(first)], ['demo', []])
    // The agent fails at once; the model behind the upstream is told the same and says why.
    const failing = relay.anthropic().messages.create(saying('[[fail 401]]'))
    await assert.rejects(failing, (error) => {
      assert.ok(error instanceof APIError)
      const chain = (error.error as { error: { fallbackChain: Json[] } }).error.fallbackChain
      assert.deepEqual(
        chain.map(({ provider }) => provider),
        ['demo', 'next'],
      )
      return true
    })
  })

  test('one that is busy is passed over, and rests as long as it said', async () => {
    behave['one'] = (_, res) =>
      sendJson(res, 429, { error: { message: 'too many' } }, { 'retry-after': '60' })
    behave['two'] = says('ok')
    await use(bare, upstreams.slice(0, 2))
    const first = await bare.anthropic().messages.create(saying('x'))
    assert.deepEqual([own(first).provider, passedBy(first)], ['two', ['claude-pty', 'one']])
    assert.match(own(first).fallbackChain[1]!.error, /too many/)
    const second = await bare.anthropic().messages.create(saying('x'))
    assert.deepEqual(passedBy(second), ['claude-pty', 'one'])
    assert.deepEqual(seen, ['one', 'two', 'two'], 'it was left alone')
    const { providers } = (await bare.get('/v1/debug-bundle')).body as { providers: Json[] }
    const resting = providers.find(({ provider }) => provider === 'one')!
    assert.ok(resting['status'] !== 'ok' && Number(resting['retryAt']) > Date.now())
  })

  test('after the first byte nobody else is asked', async () => {
    seen.length = 0
    behave['two'] = (_, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      res.write(chunk({ content: 'so far' }), () => res.destroy())
    }
    behave['three'] = says('no')
    await use(bare, upstreams)
    const heard: string[] = []
    const stream = bare.anthropic().messages.stream(saying('x'))
    stream.on('text', (text) => heard.push(text))
    await assert.rejects(stream.finalMessage(), APIError)
    assert.deepEqual([heard.join(''), seen], ['so far', ['two']])
  })

  test('what is wrong with the request is asked of nobody else', async () => {
    seen.length = 0
    behave['two'] = (_, res) => sendJson(res, 400, { error: { message: 'no such knob' } })
    await assert.rejects(bare.anthropic().messages.create(saying('x')), { status: 400 })
    assert.deepEqual(seen, ['two'])
  })

  test('a client that goes takes its call along', async () => {
    const gone = Promise.withResolvers<void>()
    behave['two'] = (_, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      res.write(chunk({ content: 'so far' }))
      res.on('close', () => gone.resolve())
    }
    const stream = bare.anthropic().messages.stream(saying('x'))
    for await (const event of stream) if (event.type === 'content_block_delta') break
    stream.abort()
    await gone.promise
  })

  test('one that is not there is passed over', async () => {
    behave['three'] = says('yes')
    await use(bare, [{ name: 'dead', kind: 'anthropic', baseUrl: 'http://127.0.0.1:1' }, upstreams[2]!])
    const message = await bare.anthropic().messages.create(saying('x'))
    assert.deepEqual([textOf(message), passedBy(message)], ['yes', ['claude-pty', 'dead']])
  })
})
