import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { calling, callsOf, chatting, FUNCTIONS, MODEL, saying, sharedRelay, textOf, TOOLS } from './rig.ts'

const relay = await sharedRelay()

/** One message of a conversation, in the words of either shape. */
interface Line {
  role: 'user' | 'assistant'
  content: string
}
const user = (content: string): Line => ({ role: 'user', content })
const assistant = (content: string): Line => ({ role: 'assistant', content })

interface Said {
  text: string
  stop: string | null
}

/** A client of either shape that calls a session. */
interface Client {
  ask(
    sticky: string,
    messages: Line[],
    more?: { limit?: number; stop?: string; tools?: boolean },
  ): Promise<Said>
  /** Hangs up as soon as it has heard something; resolves with what that was. */
  hangUp(sticky: string, messages: Line[]): Promise<string>
  ends: { cut: string; stopped: string; called: string }
}

const CLIENTS: Record<string, Client> = {
  anthropic: {
    ends: { cut: 'max_tokens', stopped: 'stop_sequence', called: 'tool_use' },
    async ask(sticky, messages, { limit = 1000, stop, tools } = {}) {
      const { content, stop_reason } = await relay.anthropic({ sticky }).messages.create({
        model: MODEL,
        max_tokens: limit,
        messages,
        ...(stop !== undefined && { stop_sequences: [stop] }),
        ...(tools && { tools: TOOLS }),
      })
      const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('')
      return { text, stop: stop_reason }
    },
    async hangUp(sticky, messages) {
      const asked = { model: MODEL, max_tokens: 1000, messages }
      const stream = relay.anthropic({ sticky }).messages.stream(asked)
      let heard = ''
      for await (const event of stream) {
        if (event.type === 'content_block_delta' && event.delta.type === 'text_delta')
          heard += event.delta.text
        if (heard !== '') break
      }
      stream.abort()
      return heard
    },
  },
  openai: {
    ends: { cut: 'length', stopped: 'stop', called: 'tool_calls' },
    async ask(sticky, messages, { limit = 1000, stop, tools } = {}) {
      const { choices } = await relay.openai({ sticky }).chat.completions.create({
        ...chatting(''),
        messages,
        max_tokens: limit,
        ...(stop !== undefined && { stop }),
        ...(tools && { tools: FUNCTIONS }),
      })
      return { text: choices[0]!.message.content ?? '', stop: choices[0]!.finish_reason }
    },
    async hangUp(sticky, messages) {
      const asked = { ...chatting(''), messages, stream: true as const }
      const stream = await relay.openai({ sticky }).chat.completions.create(asked)
      let heard = ''
      for await (const { choices } of stream) {
        heard += choices[0]?.delta.content ?? ''
        if (heard !== '') break
      }
      stream.controller.abort()
      return heard
    },
  },
}

/** What keeps an answer from its plain end; returns what a client that keeps the conversation adds to it. */
const BREAKS: Record<string, (client: Client, sticky: string, before: Line[]) => Promise<Line[]>> = {
  async 'a cut at max_tokens'(client, sticky, before) {
    const question = user('[[words 50]]')
    const { text, stop } = await client.ask(sticky, [...before, question], { limit: 5 })
    assert.deepEqual([text.length, stop], [20, client.ends.cut])
    return [question, assistant(text)]
  },
  async 'a stop sequence'(client, sticky, before) {
    const question = user('[[words 50]]')
    const { text, stop } = await client.ask(sticky, [...before, question], { stop: ' w4' })
    assert.deepEqual([text, stop], ['w1 w2 w3', client.ends.stopped])
    return [question, assistant(text)]
  },
  async 'a 429 of the model'(client, sticky, before) {
    await assert.rejects(client.ask(sticky, [...before, user('[[fail 429]]')]), { status: 429 })
    return []
  },
  async 'a 500 of the model'(client, sticky, before) {
    await assert.rejects(client.ask(sticky, [...before, user('[[fail 500]]')]), { status: 500 })
    return []
  },
  async 'a client that hangs up'(client, sticky, before) {
    const question = user('[[drip 2000 20]]')
    const heard = await client.hangUp(sticky, [...before, question])
    assert.match(heard, /^w1/)
    return [question, assistant(heard)]
  },
  async 'a tool call that nobody answers'(client, sticky, before) {
    const question = user(calling(['look', {}]))
    const { stop } = await client.ask(sticky, [...before, question], { tools: true })
    assert.equal(stop, client.ends.called)
    return []
  },
}

const first = user('[[remember PLUM]] [[say noted]]')

for (const [shape, client] of Object.entries(CLIENTS)) {
  for (const [what, happens] of Object.entries(BREAKS)) {
    describe(`${shape}: after ${what} a session remembers what was said`, () => {
      const name = `${shape} ${what}`

      test('for who sends its last message only', async () => {
        const sticky = `${name}, alone`
        await client.ask(sticky, [first])
        await happens(client, sticky, [])
        assert.equal((await client.ask(sticky, [user('[[recall]]')])).text, 'recall: PLUM')
        assert.equal((await client.ask(sticky, [user('[[recall]]')])).text, 'recall: PLUM')
      })

      test('for who sends the whole conversation', async () => {
        const sticky = `${name}, whole`
        await client.ask(sticky, [first])
        const before = [first, assistant('noted')]
        const more = await happens(client, sticky, before)
        const messages = [...before, ...more, user('[[recall]]')]
        assert.equal((await client.ask(sticky, messages)).text, 'recall: PLUM')
      })
    })
  }
}

test('a cut answer is remembered as far as it was told', async () => {
  const { ask } = CLIENTS['anthropic']!
  await ask('heard', [user('alpha')])
  const { text } = await ask('heard', [user('beta and much more')], { limit: 3 })
  assert.equal(text, 'echo: beta a')
  const told = (await ask('heard', [user('gamma')])).text
  assert.match(told, /<user>\nalpha\n<\/user>\n<assistant>\necho: alpha\n<\/assistant>/)
  assert.match(told, /<user>\nbeta and much more\n<\/user>\n<assistant>\necho: beta a\n<\/assistant>/)
  assert.match(told, /<\/transcript>\n\ngamma$/)
})

test('a session goes on with what its caller heard before it hung up', async () => {
  const { ask, hangUp } = CLIENTS['anthropic']!
  await ask('heard in part', [first])
  await hangUp('heard in part', [user('[[remember NUT]] [[drip 2000 20]]')])
  assert.equal((await ask('heard in part', [user('[[recall]]')])).text, 'recall: NUT')
})

describe('a session knows the calls that a lone result is of', () => {
  const question = calling(['look', {}], ['add', {}])

  test('anthropic', async () => {
    const client = relay.anthropic({ sticky: 'lone results' })
    const first = await client.messages.create({ ...saying(question), tools: TOOLS })
    const results = callsOf(first).map(({ id, name }) => ({
      type: 'tool_result' as const,
      tool_use_id: id,
      content: `${name} is done`,
    }))
    await assert.rejects(client.messages.create(saying(results.slice(1))), {
      status: 400,
      message: /no result of/,
    })
    const unknown = [{ ...results[0]!, tool_use_id: 'toolu_x' }]
    await assert.rejects(client.messages.create(saying(unknown)), { status: 400, message: /toolu_x/ })
    const second = await client.messages.create(saying(results))
    assert.equal(textOf(second), 'tool said: look is done\nadd is done')
    await assert.rejects(client.messages.create(saying(results)), { status: 400, message: /no unanswered/ })
    await assert.rejects(relay.anthropic().messages.create(saying(results)), { status: 400 })
  })

  test('openai', async () => {
    const client = relay.openai({ sticky: 'lone results of functions' })
    const first = await client.chat.completions.create({ ...chatting(question), tools: FUNCTIONS })
    const messages = first.choices[0]!.message.tool_calls!.map(({ id }, at) => ({
      role: 'tool' as const,
      tool_call_id: id,
      content: `${at} is done`,
    }))
    const second = await client.chat.completions.create({ ...chatting(''), messages })
    assert.equal(second.choices[0]!.message.content, 'tool said: 0 is done\n1 is done')
  })
})
