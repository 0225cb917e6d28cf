import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createCascade } from '../../src/relay/providers/cascade.ts'
import { createUpstreams } from '../../src/relay/providers/upstreams.ts'
import { openSettings } from '../../src/relay/settings/settings.ts'
import { aCall, all, chunks, named, scratch, sendEvents, sendJson, serve } from './servers.ts'

test('what the settings name is asked, from the next call on', async () => {
  const busy = await serve((_, res) => sendJson(res, 429, {}, { 'retry-after': '600' }))
  const openai = await serve((_, res) =>
    sendEvents(res, chunks({ choices: [{ delta: { content: 'o' }, finish_reason: 'stop' }] }, '[DONE]')),
  )
  const anthropic = await serve((_, res) =>
    sendEvents(
      res,
      named({ type: 'message_delta', delta: { stop_reason: 'end_turn' } }, { type: 'message_stop' }),
    ),
  )
  const settings = openSettings({ path: join(scratch(), 'relay.json'), env: {} })
  const upstreams = createUpstreams(() => settings.current().upstreams)
  after(() => upstreams.close())
  const cascade = createCascade({ providers: () => upstreams.providers() })
  const answeredBy = async (): Promise<string> => {
    const { provider, pieces } = await cascade.answer(aCall())
    await all(pieces)
    return provider
  }

  await assert.rejects(answeredBy(), { status: 500, retryAfterMs: null })
  const first = { name: 'first', kind: 'openai', baseUrl: busy.url }
  const second = { name: 'second', kind: 'openai', baseUrl: openai.url }
  settings.patch({ upstreams: [first, second] })
  assert.equal(await answeredBy(), 'second')
  const kept = upstreams.providers()
  settings.patch({ poolSize: 4 })
  settings.patch({ upstreams: [first, { name: 'third', kind: 'anthropic', baseUrl: anthropic.url }] })
  assert.equal(upstreams.providers()[0], kept[0])
  assert.equal((await cascade.status())[0]?.status, 'degraded', 'what is known about it stays known')
  assert.equal(await answeredBy(), 'third')
  settings.patch({ upstreams: [{ ...first, baseUrl: openai.url }] })
  assert.equal(await answeredBy(), 'first')
})
