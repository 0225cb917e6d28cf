import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { NotFoundError, type OpenAI } from 'openai'
import { chatting, nobodyLeft, PNG, sharedRelay } from './rig.ts'

const relay = await sharedRelay()
const client = relay.openai({ sticky: 'chat' })
const stateless = relay.openai()

const said = ({ choices }: OpenAI.ChatCompletion): string => choices[0]!.message.content ?? ''

describe('a completion', () => {
  test('has the fields of the API and those of the relay', async () => {
    const before = Math.floor(Date.now() / 1000)
    const completion = await client.chat.completions.create(chatting('[[say OK]]'))
    assert.match(completion.id, /^chatcmpl-[0-9a-f-]{36}$/)
    assert.deepEqual([completion.object, completion.model], ['chat.completion', 'gpt-4o'])
    assert.ok(completion.created >= before && completion.created <= before + 60, 'in seconds')
    assert.equal(completion.choices.length, 1)
    const [choice] = completion.choices
    assert.deepEqual([choice!.index, choice!.finish_reason], [0, 'stop'])
    assert.deepEqual([choice!.message.role, choice!.message.content], ['assistant', 'OK'])
    assert.equal(choice!.message.tool_calls, undefined)
    const usage = completion.usage!
    assert.ok(usage.prompt_tokens > 0 && usage.completion_tokens > 0)
    assert.equal(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens)
    assert.equal((completion as unknown as { provider: string }).provider, 'demo')
  })

  test('has an id that the SDK finds in the headers', async () => {
    const { data, request_id } = await client.chat.completions.create(chatting('[[say x]]')).withResponse()
    assert.equal(data.id, `chatcmpl-${request_id}`)
  })

  test('joins what is said to the model, by the system and by its developer', async () => {
    const completion = await stateless.chat.completions.create({
      ...chatting(''),
      messages: [
        { role: 'system', content: '[[sysword ONE]]' },
        { role: 'developer', content: [{ type: 'text', text: '[[sysword TWO]]' }] },
        { role: 'user', content: '[[system]]' },
      ],
    })
    assert.equal(said(completion), 'system: ONE TWO')
  })

  test('takes content in parts, and images as data', async () => {
    const completion = await stateless.chat.completions.create({
      model: 'gpt-4o',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
            { type: 'text', text: '[[attachments]]' },
          ],
        },
      ],
    })
    assert.equal(said(completion), `attachments: 1 image/png/${Buffer.byteLength(PNG, 'base64')}`)
  })

  test('takes files as data', async () => {
    const data = Buffer.from('%PDF-1.4 a page').toString('base64')
    const file = { filename: 'a.pdf', file_data: `data:application/pdf;base64,${data}` }
    const completion = await stateless.chat.completions.create({
      model: 'gpt-4o',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'file', file },
            { type: 'text', text: '[[attachments]]' },
          ],
        },
      ],
    })
    assert.equal(said(completion), 'attachments: 1 application/pdf/15')
  })

  test('is told the past of the conversation', async () => {
    const before = await relay.active()
    const completion = await stateless.chat.completions.create({
      model: 'gpt-4o',
      messages: [
        { role: 'user', content: 'my word is PLUM' },
        { role: 'assistant', content: 'noted' },
        { role: 'user', content: 'say it' },
      ],
    })
    assert.match(said(completion), /PLUM[^]*noted/)
    await nobodyLeft(relay, before)
  })

  test('keeps to max_tokens, by either name', async () => {
    for (const limit of [{ max_tokens: 5 }, { max_completion_tokens: 5 }]) {
      const completion = await client.chat.completions.create({ ...chatting('[[words 500]]'), ...limit })
      assert.equal(completion.choices[0]!.finish_reason, 'length')
      assert.ok(completion.usage!.completion_tokens <= 5)
    }
  })

  test('stops where it is told to, by one text or several', async () => {
    for (const stop of ['w4', ['nowhere', 'w4']]) {
      const completion = await client.chat.completions.create({ ...chatting('[[words 50]]'), stop })
      assert.deepEqual([said(completion), completion.choices[0]!.finish_reason], ['w1 w2 w3 ', 'stop'])
    }
  })

  test('wants JSON of the model in words', async () => {
    const completion = await stateless.chat.completions.create({
      ...chatting('[[say {"n":1}]]'),
      response_format: { type: 'json_object' },
    })
    assert.deepEqual(JSON.parse(said(completion)), { n: 1 })
  })
})

describe('a stream', () => {
  test('has the role first, then the words, the end last', async () => {
    const deltas: OpenAI.ChatCompletionChunk[] = []
    const stream = await client.chat.completions.create({ ...chatting('[[drip 10 1]]'), stream: true })
    for await (const chunk of stream) deltas.push(chunk)
    assert.ok(deltas.every(({ object }) => object === 'chat.completion.chunk'))
    assert.equal(new Set(deltas.map(({ id }) => id)).size, 1)
    assert.equal(deltas[0]!.choices[0]!.delta.role, 'assistant')
    const words = deltas.map(({ choices }) => choices[0]?.delta.content ?? '').join('')
    assert.equal(words.split(' ').length, 10)
    assert.equal(deltas.at(-1)!.choices[0]!.finish_reason, 'stop')
    assert.ok(deltas.every(({ usage }) => usage === undefined))
  })

  test('says what it took to those who ask for it, in a chunk of its own', async () => {
    const chunks: OpenAI.ChatCompletionChunk[] = []
    const stream = await client.chat.completions.create({
      ...chatting('[[say x]]'),
      stream: true,
      stream_options: { include_usage: true },
    })
    for await (const chunk of stream) chunks.push(chunk)
    const last = chunks.at(-1)!
    assert.deepEqual(last.choices, [])
    assert.ok(last.usage!.total_tokens > 0)
    assert.ok(chunks.slice(0, -1).every(({ usage }) => usage === null))
  })

  test('ends with [DONE]', async () => {
    const response = await fetch(`${relay.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-ir-session-id': 'chat' },
      body: JSON.stringify({ ...chatting('[[say x]]'), stream: true }),
    })
    assert.match(response.headers.get('content-type')!, /^text\/event-stream/)
    assert.ok((await response.text()).endsWith('data: [DONE]\n\n'))
  })

  test('is the same completion for the helper', async () => {
    const stream = client.chat.completions.stream(chatting('[[drip 20 1]]'))
    const heard: string[] = []
    stream.on('content', (piece) => heard.push(piece))
    const completion = await stream.finalChatCompletion()
    assert.equal(heard.join(''), completion.choices[0]!.message.content)
    assert.equal(completion.choices[0]!.finish_reason, 'stop')
  })

  test('ends with `length` at its limit', async () => {
    const stream = client.chat.completions.stream({ ...chatting('[[words 500]]'), max_tokens: 5 })
    await stream.done().catch(() => undefined)
    const { choices } = stream.currentChatCompletionSnapshot ?? (await stream.finalChatCompletion())
    assert.equal(choices[0]!.finish_reason, 'length')
  })
})

describe('models', () => {
  test('are listed, for this SDK as for the other', async () => {
    const models: OpenAI.Model[] = []
    for await (const model of client.models.list()) models.push(model)
    const found = models.find(({ id }) => id === 'gpt-4o')!
    assert.deepEqual([found.object, found.owned_by, typeof found.created], ['model', 'openai', 'number'])
  })

  test('one of them', async () => {
    assert.equal((await client.models.retrieve('claude-sonnet-4-6')).owned_by, 'anthropic')
  })

  test('an unknown one is not found', async () => {
    await assert.rejects(client.models.retrieve('nobody'), NotFoundError)
  })
})
