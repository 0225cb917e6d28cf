import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type OpenAI from 'openai'
import { calling, FUNCTIONS, sharedRelay } from './rig.ts'

const relay = await sharedRelay()
const openai = relay.openai({ sticky: 'functions' })

type Chat = OpenAI.ChatCompletionMessageParam

describe('functions', () => {
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
})
