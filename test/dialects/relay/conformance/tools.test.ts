import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type Anthropic from '@anthropic-ai/sdk'
import type OpenAI from 'openai'
import { calling, callsOf, FUNCTIONS, MODEL, nobodyLeft, PNG, startRelay, textOf, TOOLS } from './rig.ts'

const relay = await startRelay()
/** In a session, so that not every question needs a process of its own; one test does without. */
const client = relay.anthropic({ sticky: 'tools' })
const openai = relay.openai({ sticky: 'functions' })

type Param = Anthropic.MessageParam
type Result = Anthropic.ToolResultBlockParam

const user = (content: Param['content']): Param => ({ role: 'user', content })
const result = (tool_use_id: string, content: NonNullable<Result['content']>, is_error = false): Result => ({
  type: 'tool_result',
  tool_use_id,
  content,
  is_error,
})

function ask(messages: Param[], more: object = {}): Promise<Anthropic.Message> {
  return client.messages.create({ model: MODEL, max_tokens: 1000, tools: TOOLS, messages, ...more })
}

/** The question, the calls that it leads to, and what their results lead to. */
async function round(question: string, results: (calls: Anthropic.ToolUseBlock[]) => Result[]) {
  const first = await ask([user(question)])
  const answer: Param = { role: 'assistant', content: first.content }
  return { first, second: await ask([user(question), answer, user(results(callsOf(first)))]) }
}

describe('tools, in the shape of the one API', () => {
  test('a call ends the message, its result goes on with it', async () => {
    const { first, second } = await round(calling(['look', { at: 'the sky' }]), ([call]) => [
      result(call!.id, 'blue'),
    ])
    assert.equal(first.stop_reason, 'tool_use')
    const [call] = callsOf(first)
    assert.deepEqual([call!.name, call!.input], ['look', { at: 'the sky' }])
    assert.deepEqual([textOf(second), second.stop_reason], ['tool said: blue', 'end_turn'])
  })

  test('so it is without a session', async () => {
    const stateless = relay.anthropic()
    const asked = { model: MODEL, max_tokens: 1000, tools: TOOLS, messages: [user(calling(['look', {}]))] }
    const first = await stateless.messages.create(asked)
    const second = await stateless.messages.create({
      ...asked,
      messages: [
        ...asked.messages,
        { role: 'assistant', content: first.content },
        user([result(callsOf(first)[0]!.id, 'blue')]),
      ],
    })
    assert.equal(textOf(second), 'tool said: blue')
    await nobodyLeft(relay, 1)
  })

  test('what was said before the call comes before it', async () => {
    const said = Buffer.from('let me look').toString('base64')
    const input = Buffer.from('{}').toString('base64')
    const { content } = await ask([user(`[[saycall ${said} look ${input}]]`)])
    assert.deepEqual(
      content.map(({ type }) => type),
      ['text', 'tool_use'],
    )
  })

  test('several calls come together', async () => {
    const { first, second } = await round(calling(['look', { n: 1 }], ['add', { n: 2 }]), (calls) =>
      calls.map(({ id, name }) => result(id, `${name} is done`)),
    )
    const calls = callsOf(first)
    assert.deepEqual(
      calls.map(({ name, input }) => [name, input]),
      [
        ['look', { n: 1 }],
        ['add', { n: 2 }],
      ],
    )
    assert.equal(new Set(calls.map(({ id }) => id)).size, 2)
    assert.equal(textOf(second), 'tool said: look is done\nadd is done')
  })

  test('results may come in another order than the calls', async () => {
    const { second } = await round(calling(['look', {}], ['add', {}]), (calls) =>
      calls.toReversed().map(({ id, name }) => result(id, name)),
    )
    assert.equal(textOf(second), 'tool said: look\nadd')
  })

  test('a result may lead to another call', async () => {
    const { second } = await round(calling(['look', {}]), ([call]) => [
      result(call!.id, calling(['add', { n: 3 }])),
    ])
    assert.equal(second.stop_reason, 'tool_use')
    assert.deepEqual(callsOf(second)[0]!.input, { n: 3 })
  })

  test('a result may be an error, and empty', async () => {
    const failed = await round(calling(['look', {}]), ([call]) => [result(call!.id, 'no such place', true)])
    assert.equal(textOf(failed.second), 'tool said: no such place')
    const empty = await round(calling(['look', {}]), ([call]) => [
      { type: 'tool_result', tool_use_id: call!.id },
    ])
    assert.match(textOf(empty.second), /^tool said: ?$/)
  })

  test('a result may have texts and images', async () => {
    const source = { type: 'base64' as const, media_type: 'image/png' as const, data: PNG }
    const { second } = await round(calling(['look', {}]), ([call]) => [
      result(call!.id, [
        { type: 'text', text: 'a picture' },
        { type: 'image', source },
      ]),
    ])
    assert.match(textOf(second), /^tool said: a picture/)
  })

  test('an image of a result that nobody waits for is shown with the rest', async () => {
    const source = { type: 'base64' as const, media_type: 'image/png' as const, data: PNG }
    const message = await ask([
      user('look'),
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_lost', name: 'look', input: {} }] },
      user([result('toolu_lost', [{ type: 'image', source }]), { type: 'text', text: '[[attachments]]' }]),
    ])
    assert.match(textOf(message), /^attachments: 1 image\/png/)
  })

  test('what the user says beside the results is heard', async () => {
    const question = calling(['look', {}])
    const first = await ask([user(question)])
    const [call] = callsOf(first)
    const second = await ask([
      user(question),
      { role: 'assistant', content: first.content },
      user([result(call!.id, 'blue'), { type: 'text', text: 'and hurry' }]),
    ])
    assert.equal(textOf(second), 'tool said: blue\nand hurry')
  })

  test('a hold that is lost is rebuilt from the conversation', async () => {
    const message = await ask([
      user('look it up'),
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_gone', name: 'look', input: {} }] },
      user([result('toolu_gone', '[[say found]]')]),
    ])
    assert.equal(textOf(message), 'found')
  })

  test('arguments are streamed', async () => {
    const input = { text: 'Ünïcode "quoted" '.repeat(20), list: [1, { two: 2 }] }
    const stream = client.messages.stream({
      model: MODEL,
      max_tokens: 1000,
      tools: TOOLS,
      messages: [user(calling(['look', input]))],
    })
    let pieces = 0
    stream.on('inputJson', () => pieces++)
    const message = await stream.finalMessage()
    assert.deepEqual(callsOf(message)[0]!.input, input)
    assert.equal(message.stop_reason, 'tool_use')
    assert.ok(pieces > 2, 'in pieces')
  })

  test('tool_choice none hides them', async () => {
    const message = await ask([user(calling(['look', {}]))], { tool_choice: { type: 'none' } })
    assert.equal(callsOf(message).length, 0)
  })

  test('tool_choice any, auto and one by name are taken', async () => {
    for (const tool_choice of [{ type: 'any' }, { type: 'auto' }, { type: 'tool', name: 'look' }]) {
      const message = await ask([user(calling(['look', {}]))], { tool_choice })
      assert.equal(callsOf(message).length, 1)
    }
  })

  test('the SDK’s own loop comes to its end', async () => {
    const seen: unknown[] = []
    const runner = client.beta.messages.toolRunner({
      model: MODEL,
      max_tokens: 1000,
      messages: [{ role: 'user', content: calling(['look', { at: 'it' }]) }],
      tools: [
        {
          name: 'look',
          description: 'looks',
          input_schema: { type: 'object' as const },
          parse: (input: unknown) => input,
          run: (input: unknown) => {
            seen.push(input)
            return '[[say all done]]'
          },
        },
      ],
    })
    const message = await runner
    assert.deepEqual(seen, [{ at: 'it' }])
    assert.equal(
      message.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
      'all done',
    )
  })
})

type Chat = OpenAI.ChatCompletionMessageParam

describe('tools, in the shape of the other', () => {
  const complete = (messages: Chat[], more: object = {}): Promise<OpenAI.ChatCompletion> =>
    openai.chat.completions.create({ model: 'gpt-4o', messages, tools: FUNCTIONS, ...more })
  const chosen = ({ choices }: OpenAI.ChatCompletion) => choices[0]!
  const functionCalls = (completion: OpenAI.ChatCompletion) =>
    (chosen(completion).message.tool_calls ?? []).filter((call) => call.type === 'function')

  test('calls and the messages of the tools', async () => {
    const question: Chat = { role: 'user', content: calling(['look', { n: 1 }], ['add', { n: 2 }]) }
    const first = await complete([question])
    assert.equal(chosen(first).finish_reason, 'tool_calls')
    assert.equal(chosen(first).message.content, null)
    const calls = functionCalls(first)
    assert.deepEqual(
      calls.map(({ function: { name, arguments: input } }) => [name, JSON.parse(input)]),
      [
        ['look', { n: 1 }],
        ['add', { n: 2 }],
      ],
    )
    const results = calls.map(({ id, function: { name } }): Chat => ({
      role: 'tool',
      tool_call_id: id,
      content: `${name} done`,
    }))
    const second = await complete([question, chosen(first).message, ...results])
    assert.equal(chosen(second).message.content, 'tool said: look done\nadd done')
    assert.equal(chosen(second).finish_reason, 'stop')
  })

  test('arguments are streamed, with the id and the name in the first piece only', async () => {
    const input = { text: 'words '.repeat(40) }
    const stream = await openai.chat.completions.create({
      model: 'gpt-4o',
      messages: [{ role: 'user', content: calling(['look', input], ['add', {}]) }],
      tools: FUNCTIONS,
      stream: true,
    })
    const pieces: OpenAI.ChatCompletionChunk.Choice.Delta.ToolCall[] = []
    for await (const { choices } of stream) pieces.push(...(choices[0]?.delta.tool_calls ?? []))
    const first = pieces.filter(({ index }) => index === 0)
    assert.ok(first.length > 2)
    assert.ok(first[0]!.id && first[0]!.function?.name === 'look')
    assert.ok(first.slice(1).every(({ id }) => id === undefined))
    const whole = first.map((piece) => piece.function?.arguments ?? '').join('')
    assert.deepEqual(JSON.parse(whole), input)
    assert.equal(pieces.findLast(({ id }) => id !== undefined)!.index, 1)
  })

  test('the helper puts them together', async () => {
    const stream = openai.chat.completions.stream({
      model: 'gpt-4o',
      messages: [{ role: 'user', content: calling(['look', { n: 1 }]) }],
      tools: FUNCTIONS,
    })
    const completion = await stream.finalChatCompletion()
    const [call] = completion.choices[0]!.message.tool_calls!
    assert.ok(call?.type === 'function')
    assert.deepEqual(JSON.parse(call.function.arguments), { n: 1 })
  })

  test('the SDK’s own loop comes to its end', async () => {
    const runner = openai.chat.completions.runTools({
      model: 'gpt-4o',
      messages: [{ role: 'user', content: calling(['look', { n: 1 }]) }],
      tools: [
        {
          type: 'function',
          function: {
            name: 'look',
            description: 'looks',
            parameters: { type: 'object' },
            parse: JSON.parse,
            function: () => '[[say all done]]',
          },
        },
      ],
    })
    assert.equal(await runner.finalContent(), 'all done')
  })

  test('tool_choice', async () => {
    const question: Chat = { role: 'user', content: calling(['look', {}]) }
    const none = await complete([question], { tool_choice: 'none' })
    assert.equal(functionCalls(none).length, 0)
    for (const tool_choice of ['required', { type: 'function', function: { name: 'look' } }]) {
      assert.equal(functionCalls(await complete([question], { tool_choice })).length, 1)
    }
  })

  test('a call of one shape may be answered in the other', async () => {
    const question = calling(['look', {}])
    const first = await complete([{ role: 'user', content: question }])
    const [call] = functionCalls(first)
    const content = [{ type: 'tool_use' as const, id: call!.id, name: 'look', input: {} }]
    const second = await ask([
      user(question),
      { role: 'assistant', content },
      user([result(call!.id, 'across')]),
    ])
    assert.equal(textOf(second), 'tool said: across')
  })
})
