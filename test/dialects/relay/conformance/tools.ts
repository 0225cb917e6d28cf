import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type Anthropic from '@anthropic-ai/sdk'
import {
  calling,
  callsOf,
  chatting,
  FUNCTIONS,
  MODEL,
  nobodyLeft,
  PNG,
  sharedRelay,
  textOf,
  TOOLS,
} from './rig.ts'

const relay = await sharedRelay()
/** In a session, so that not every question needs a process of its own; one test does without. */
const client = relay.anthropic({ sticky: 'tools' })

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

describe('tools', () => {
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
    const before = await relay.active()
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
    await nobodyLeft(relay, before)
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

  test('a call of one shape may be answered in the other', async () => {
    const question = calling(['look', {}])
    const openai = relay.openai({ sticky: 'tools' })
    const first = await openai.chat.completions.create({ ...chatting(question), tools: FUNCTIONS })
    const id = first.choices[0]!.message.tool_calls![0]!.id
    const content = [{ type: 'tool_use' as const, id, name: 'look', input: {} }]
    const second = await ask([user(question), { role: 'assistant', content }, user([result(id, 'across')])])
    assert.equal(textOf(second), 'tool said: across')
  })
})
