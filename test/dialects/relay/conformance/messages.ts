import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Anthropic, NotFoundError } from '@anthropic-ai/sdk'
import { MODEL, nobodyLeft, PNG, saying, sharedRelay, textOf } from './rig.ts'

const relay = await sharedRelay()
/** Most of this is the same in a session, where no process has to be started for each call. */
const client = relay.anthropic({ sticky: 'messages' })
const stateless = relay.anthropic()

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const image = {
  type: 'image' as const,
  source: { type: 'base64' as const, media_type: 'image/png' as const, data: PNG },
}
const pdf = {
  type: 'document' as const,
  source: {
    type: 'base64' as const,
    media_type: 'application/pdf' as const,
    data: base64('%PDF-1.4 a page'),
  },
}
const text = (said: string) => ({ type: 'text' as const, text: said })

describe('a message', () => {
  test('has the fields of the API and those of the relay', async () => {
    const message = await client.messages.create(saying('[[say hello there]]'))
    assert.match(message.id, /^msg_[0-9a-f]{32}$/)
    assert.deepEqual(
      [message.type, message.role, message.model, message.stop_reason, message.stop_sequence],
      ['message', 'assistant', MODEL, 'end_turn', null],
    )
    assert.deepEqual(message.content, [{ type: 'text', text: 'hello there' }])
    assert.ok(message.usage.input_tokens > 0 && message.usage.output_tokens > 0)
    const own = message as unknown as Record<string, unknown>
    assert.deepEqual(
      [own['provider'], own['raw_transcript'], own['fallbackChain']],
      ['demo', 'hello there', []],
    )
    assert.equal(typeof own['durationMs'], 'number')
  })

  test('has an id that the SDK finds in the headers', async () => {
    const { data, request_id, response } = await client.messages.create(saying('[[say x]]')).withResponse()
    assert.ok(request_id)
    assert.equal(data.id, `msg_${request_id.replaceAll('-', '')}`)
    assert.equal(response.headers.get('x-request-id'), request_id)
    assert.match(response.headers.get('content-type')!, /^application\/json/)
  })

  test('may be given in blocks', async () => {
    const message = await client.messages.create(saying([text('one'), text('[[say two]]')]))
    assert.equal(textOf(message), 'two')
  })

  test('keeps letters of every language', async () => {
    const said = 'Grüße, 世界, 👩‍👩‍👧 \u2028 "quoted" \\ \t end'
    assert.equal(textOf(await client.messages.create(saying(`[[say64 ${base64(said)}]]`))), said)
    const stream = await client.messages.stream(saying(`[[say64 ${base64(said)}]]`)).finalText()
    assert.equal(stream, said)
  })

  test('carries a conversation whose past the agent is told', async () => {
    const message = await stateless.messages.create({
      ...saying(''),
      messages: [
        { role: 'user', content: 'my word is PLUM' },
        { role: 'assistant', content: 'noted' },
        { role: 'user', content: 'say it' },
      ],
    })
    assert.match(textOf(message), /my word is PLUM[^]*noted[^]*say it/)
  })

  test('is forgotten when it stands for itself', async () => {
    const before = await relay.active()
    await stateless.messages.create(saying('[[remember FIG]] [[say ok]]'))
    assert.equal(textOf(await stateless.messages.create(saying('[[recall]]'))), 'recall: none')
    await nobodyLeft(relay, before)
  })

  test('thinks for those who ask for it, and for nobody else', async () => {
    const asked = saying('[[think hmm]] [[say done]]')
    const plain = await client.messages.create(asked)
    assert.deepEqual(
      plain.content.map(({ type }) => type),
      ['text'],
    )
    const thinking = { type: 'enabled' as const, budget_tokens: 1024 }
    const told = await client.messages.create({ ...asked, max_tokens: 2000, thinking })
    assert.deepEqual(told.content[0], { type: 'thinking', thinking: 'hmm', signature: '' })
    assert.equal(textOf(told), 'done')
  })

  test('is answered also to plain clients', async () => {
    const { status, body } = await relay.post('/v1/messages', saying('[[say plain]]'))
    assert.equal(status, 200)
    assert.deepEqual(body['content'], [{ type: 'text', text: 'plain' }])
  })
})

describe('the system prompt', () => {
  test('may be a text', async () => {
    const message = await client.messages.create({ ...saying('[[system]]'), system: 'be [[sysword TERSE]]' })
    assert.equal(textOf(message), 'system: TERSE')
  })

  test('may be given in blocks, cached or not', async () => {
    const system = [
      text('[[sysword ONE]]'),
      { ...text('[[sysword TWO]]'), cache_control: { type: 'ephemeral' as const } },
    ]
    const message = await client.messages.create({ ...saying('[[system]]'), system })
    assert.equal(textOf(message), 'system: ONE TWO')
  })

  test('is not needed', async () => {
    assert.equal(textOf(await stateless.messages.create(saying('[[system]]'))), 'system: none')
  })
})

describe('attachments', () => {
  const attached = async (...blocks: Anthropic.ContentBlockParam[]): Promise<string> =>
    textOf(await stateless.messages.create(saying([...blocks, text('[[attachments]]')])))

  test('an image', async () => {
    assert.equal(await attached(image), `attachments: 1 image/png/${Buffer.byteLength(PNG, 'base64')}`)
  })

  test('a PDF', async () => {
    assert.equal(await attached(pdf), 'attachments: 1 application/pdf/15')
  })

  test('several, in order', async () => {
    const size = Buffer.byteLength(PNG, 'base64')
    const said = await attached(image, text('between'), pdf)
    assert.equal(said, `attachments: 2 image/png/${size} application/pdf/15`)
  })

  test('a document that is text is read as text', async () => {
    const source = { type: 'text' as const, media_type: 'text/plain' as const, data: 'the note says PEAR' }
    const document = { type: 'document' as const, title: 'note.txt', source }
    const message = await client.messages.create(saying([document, text('read it')]))
    assert.match(textOf(message), /note\.txt[^]*the note says PEAR/)
  })

  test('a document in base64 that is Markdown', async () => {
    const source = { type: 'base64', media_type: 'text/markdown', data: base64('# PEAR') }
    const { body } = await relay.post('/v1/messages', saying([{ type: 'document', source } as never]))
    assert.match(JSON.stringify(body['content']), /# PEAR/)
  })
})

describe('a stream', () => {
  test('has the events of the API, in their order', async () => {
    const seen: string[] = []
    const stream = await client.messages.create({ ...saying('[[drip 3 1]]'), stream: true })
    for await (const event of stream) if (seen.at(-1) !== event.type) seen.push(event.type)
    assert.deepEqual(seen, [
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
  })

  test('is the same message for the helper', async () => {
    const stream = client.messages.stream(saying('[[drip 20 1]]'))
    const heard: string[] = []
    stream.on('text', (piece) => heard.push(piece))
    const message = await stream.finalMessage()
    assert.equal(heard.join(''), textOf(message))
    assert.equal(textOf(message).split(' ').length, 20)
    assert.deepEqual([message.stop_reason, message.role, message.model], ['end_turn', 'assistant', MODEL])
    assert.ok(message.usage.output_tokens > 0 && message.usage.input_tokens > 0)
  })

  test('brings words while the agent speaks', async () => {
    const before = await relay.active()
    const stream = stateless.messages.stream(saying('[[drip 2000 20]]'))
    for await (const event of stream) if (event.type === 'content_block_delta') break
    stream.abort()
    await nobodyLeft(relay, before)
  })

  test('has thoughts in blocks of their own', async () => {
    const stream = client.messages.stream({
      ...saying('[[think hmm]] [[say done]]'),
      max_tokens: 2000,
      thinking: { type: 'enabled', budget_tokens: 1024 },
    })
    const { content } = await stream.finalMessage()
    assert.deepEqual(
      content.map(({ type }) => type),
      ['thinking', 'text'],
    )
  })

  test('takes answers that only a stream may have', async () => {
    const asked = { ...saying('[[words 100]]'), max_tokens: 60_000 }
    await assert.rejects(async () => client.messages.create(asked), /[Ss]treaming is required/)
    const said = await client.messages.stream(asked).finalText()
    assert.equal(said.split(' ').length, 100)
  })

  test('says who answered', async () => {
    const response = await fetch(`${relay.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...saying('[[say x]]'), stream: true }),
    })
    assert.match(response.headers.get('content-type')!, /^text\/event-stream/)
    assert.match(await response.text(), /event: message_delta\ndata: .*"provider":"demo"/)
  })
})

describe('limits', () => {
  test('max_tokens ends the answer and its agent', async () => {
    const before = await relay.active()
    const message = await stateless.messages.create({ ...saying('[[drip 2000 5]]'), max_tokens: 5 })
    assert.equal(message.stop_reason, 'max_tokens')
    assert.ok(message.usage.output_tokens <= 5)
    assert.match(textOf(message), /^w1 w2/)
    await nobodyLeft(relay, before)
  })

  test('max_tokens holds for streams', async () => {
    const message = await client.messages.stream({ ...saying('[[words 500]]'), max_tokens: 7 }).finalMessage()
    assert.deepEqual([message.stop_reason, message.usage.output_tokens <= 7], ['max_tokens', true])
  })

  test('a stop sequence ends it, and is not part of it', async () => {
    const asked = { ...saying('[[words 50]]'), stop_sequences: ['nowhere', 'w4 w5'] }
    const message = await client.messages.create(asked)
    assert.deepEqual(
      [textOf(message), message.stop_reason, message.stop_sequence],
      ['w1 w2 w3 ', 'stop_sequence', 'w4 w5'],
    )
    const streamed = await client.messages.stream(asked).finalMessage()
    assert.deepEqual([textOf(streamed), streamed.stop_sequence], ['w1 w2 w3 ', 'w4 w5'])
  })
})

describe('counting and models', () => {
  test('count_tokens counts about four bytes to a token, and asks nobody', async () => {
    const before = (await relay.calls()).length
    const asked = { model: MODEL, messages: [{ role: 'user' as const, content: 'x'.repeat(400) }] }
    const { input_tokens } = await client.messages.countTokens(asked)
    assert.ok(input_tokens >= 100 && input_tokens <= 110, String(input_tokens))
    const more = await client.messages.countTokens({ ...asked, system: 'y'.repeat(400) })
    assert.ok(more.input_tokens >= 200)
    const seen = await client.messages.countTokens({
      ...asked,
      messages: [{ role: 'user', content: [image, text('x')] }],
    })
    assert.ok(seen.input_tokens > 1000, 'an image counts')
    assert.equal((await relay.calls()).length, before)
  })

  test('the models are listed', async () => {
    const ids: string[] = []
    for await (const model of client.models.list()) ids.push(model.id)
    for (const id of ['claude-sonnet-4-6', 'claude-opus-4-6', 'claude-haiku-4-5'])
      assert.ok(ids.includes(id), id)
  })

  test('one of them', async () => {
    const model = await client.models.retrieve(MODEL)
    assert.deepEqual([model.id, model.type, typeof model.display_name], [MODEL, 'model', 'string'])
    assert.ok(!Number.isNaN(Date.parse(model.created_at)))
  })

  test('an unknown one is not found', async () => {
    await assert.rejects(client.models.retrieve('nobody'), NotFoundError)
  })

  test('any name is answered to', async () => {
    for (const model of ['claude-sonnet-4-20250514', 'some-other-model']) {
      assert.equal((await client.messages.create({ ...saying('[[say x]]'), model })).model, model)
    }
  })
})
