import assert from 'node:assert/strict'
import { test } from 'node:test'
import type OpenAI from 'openai'
import { systemOf } from '../../../src/relay/json/structured.ts'
import { readOpenAi, wantsUsage } from '../../../src/dialects/openai/request.ts'
import { base64, nested, PNG, refuses } from '../../relay/refusing.ts'

const least = { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }] }
const weather = { type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }
const call = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Bern"}' } }
const calling = { role: 'assistant', content: null, tool_calls: [call] }
const result = { role: 'tool', tool_call_id: 'call_1', content: 'sunny' }

function talk(...messages: object[]): object {
  return { ...least, messages }
}

function saying(...content: object[]): object {
  return talk({ role: 'user', content })
}

function no(body: unknown, field: string, words?: RegExp): void {
  refuses(readOpenAi, body, field, words)
}

test('the least that can be asked', () => {
  assert.deepEqual(readOpenAi(least), {
    model: 'gpt-4o',
    maxTokens: 32_000,
    stopSequences: [],
    system: null,
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    tools: [],
    toolChoice: { type: 'auto' },
    stream: false,
    thinking: false,
    json: null,
    body: { shape: 'openai', json: least },
  })
})

test('everything that a client of the SDK may say', () => {
  const body: OpenAI.ChatCompletionCreateParams = {
    model: 'gpt-4o',
    max_completion_tokens: 50,
    max_tokens: 7,
    n: 1,
    logprobs: false,
    modalities: ['text'],
    temperature: 1.5,
    seed: 4,
    user: 'me',
    reasoning_effort: 'low',
    parallel_tool_calls: true,
    stop: ['END', '\n'],
    stream: true,
    stream_options: { include_usage: true },
    tools: [
      { type: 'function', function: { name: 'weather', parameters: { properties: {} }, strict: null } },
      { type: 'function', function: { name: 'time', description: 'The time' } },
    ],
    tool_choice: { type: 'function', function: { name: 'time' } },
    messages: [
      { role: 'system', content: 'Be kind.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look:' },
          { type: 'image_url', image_url: { url: `data:image/jpg;base64,${PNG}`, detail: 'low' } },
          { type: 'file', file: { filename: 'a.txt', file_data: `data:text/plain;base64,${base64('Ü')}` } },
        ],
      },
      { role: 'developer', content: [{ type: 'text', text: 'Be brief.' }] },
      {
        role: 'assistant',
        content: 'I look.',
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Bern"}' } },
          { id: 'call_2', type: 'function', function: { name: 'time', arguments: '' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_2', content: 'noon' },
      { role: 'tool', tool_call_id: 'call_1', content: [{ type: 'text', text: 'sunny' }] },
      { role: 'user', content: 'Well?', name: 'me' },
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
      { role: 'assistant', content: '' },
      { role: 'user', content: 'Please' },
    ],
  }
  const ask = readOpenAi(body)
  assert.equal(ask.maxTokens, 50)
  assert.equal(ask.system, 'Be kind.\n\nBe brief.')
  assert.deepEqual(ask.stopSequences, ['END', '\n'])
  assert.equal(ask.stream, true)
  assert.equal(wantsUsage(ask), true)
  assert.deepEqual(ask.toolChoice, { type: 'tool', name: 'time' })
  assert.deepEqual(ask.tools, [
    { name: 'weather', description: '', inputSchema: { properties: {}, type: 'object' } },
    { name: 'time', description: 'The time', inputSchema: { type: 'object', properties: {} } },
  ])
  const toolResult = (toolUseId: string, text: string): object => {
    return { type: 'tool_result', toolUseId, content: [{ type: 'text', text }], isError: false }
  }
  assert.deepEqual(ask.messages, [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Look:' },
        { type: 'image', mediaType: 'image/jpeg', data: PNG },
        { type: 'document', mediaType: 'text/plain', data: base64('Ü'), title: 'a.txt' },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 'call_1', name: 'weather', input: { city: 'Bern' } },
        { type: 'tool_use', id: 'call_2', name: 'time', input: {} },
      ],
    },
    {
      role: 'user',
      content: [toolResult('call_2', 'noon'), toolResult('call_1', 'sunny'), { type: 'text', text: 'Well?' }],
    },
    { role: 'assistant', content: [{ type: 'text', text: 'No.' }] },
    { role: 'user', content: [{ type: 'text', text: 'Please' }] },
  ])
})

test('how much may be written', () => {
  assert.equal(readOpenAi({ ...least, max_tokens: 9 }).maxTokens, 9)
  assert.equal(readOpenAi({ ...least, max_tokens: null, max_completion_tokens: null }).maxTokens, 32_000)
  no({ ...least, max_tokens: 0 }, 'max_tokens')
  no({ ...least, max_completion_tokens: 'many' }, 'max_completion_tokens')
})

test('what is not supported is named', () => {
  const wrong: [field: string, value: unknown][] = [
    ['n', 2],
    ['n', 0],
    ['functions', [{ name: 'f' }]],
    ['function_call', 'auto'],
    ['audio', { voice: 'alloy', format: 'mp3' }],
    ['logprobs', true],
    ['top_logprobs', 3],
    ['messages', []],
    ['messages', 'Hi'],
    ['model', null],
    ['stop', ''],
    ['stop', 7],
    ['stream', 1],
    ['stream_options', true],
    ['temperature', 3],
    ['tools', {}],
    ['tool_choice', 'always'],
    ['tool_choice', 'required'],
    ['response_format', 'json'],
  ]
  for (const [field, value] of wrong) no({ ...least, [field]: value }, field)
  no({ ...least, modalities: ['text', 'audio'] }, 'modalities.1')
  no({ ...least, stop: ['a', ''] }, 'stop.1')
  no({ ...least, response_format: { type: 'xml' } }, 'response_format.type')
  no({ model: 'gpt-4o' }, 'messages', /missing field `messages`/)
  no({ messages: least.messages }, 'model', /missing field `model`/)
  no([], '', /must be a JSON object/)
})

test('messages: roles, contents and who speaks last', () => {
  no(talk({ role: 'function', name: 'f', content: 'x' }), 'messages.0.role')
  no(talk({ role: 'system', content: 'alone' }), 'messages')
  no(talk({ role: 'user', content: '' }), 'messages.0.content')
  no(talk({ role: 'user', content: null }), 'messages.0.content')
  no(talk({ role: 'user', content: 'Hi' }, { role: 'assistant', content: 'Yes' }), 'messages.1')
  no(saying({ type: 'input_audio', input_audio: {} }), 'messages.0.content.0.type')
  no(
    talk({ role: 'user', content: 'x' }, { role: 'assistant', function_call: {} }),
    'messages.1.function_call',
  )
})

test('images and files come with the request', () => {
  const url = 'messages.0.content.0.image_url.url'
  const image = (at: string): object => saying({ type: 'image_url', image_url: { url: at } })
  no(image('https://example.com/a.png'), url, /nothing is fetched/)
  no(image('http://169.254.169.254/'), url)
  no(image('file:///etc/passwd'), url)
  no(image('data:image/png,raw'), url)
  no(image('data:image/png;base64,???'), url, /base64/)
  no(image(`data:image/tiff;base64,${PNG}`), url)
  no(saying({ type: 'image_url' }), url, /missing field/)
  no(saying({ type: 'file', file: { file_id: 'file-1' } }), 'messages.0.content.0.file.file_id')
})

test('every call has its result, and every result its call', () => {
  const user = { role: 'user', content: 'Hi' }
  readOpenAi(talk(user, calling, result))
  no(talk(user, result), 'messages.1.tool_call_id', /no unanswered tool call/)
  no(talk(user, calling, { ...result, tool_call_id: 'call_9' }), 'messages.2.tool_call_id')
  no(talk(user, calling, { ...result, tool_call_id: undefined }), 'messages.2.tool_call_id', /missing field/)
  no(talk(user, calling, user), 'messages.1.tool_calls.0', /without a result/)
  const arguing = (given: unknown): object => {
    return talk(
      user,
      { ...calling, tool_calls: [{ ...call, function: { name: 'f', arguments: given } }] },
      result,
    )
  }
  const place = 'messages.1.tool_calls.0.function.arguments'
  no(arguing('{"a":'), place)
  no(arguing('[]'), place)
  no(arguing({}), place)
  no(arguing(JSON.stringify(nested(200))), place, /nested/)
})

test('tools and the choice of one', () => {
  const tools = [weather]
  const chosen = (choice: unknown): unknown => readOpenAi({ ...least, tools, tool_choice: choice }).toolChoice
  assert.deepEqual(chosen('auto'), { type: 'auto' })
  assert.deepEqual(chosen('none'), { type: 'none' })
  assert.deepEqual(chosen('required'), { type: 'any' })
  no({ ...least, tools, tool_choice: { type: 'function', function: { name: 'x' } } }, 'tool_choice')
  no({ ...least, tools, tool_choice: { type: 'allowed_tools' } }, 'tool_choice.allowed_tools.tools')
  no({ ...least, tools: [weather, weather] }, 'tools.1')
  no({ ...least, tools: [{ type: 'web_search' }] }, 'tools.0.type')
  no({ ...least, tools: [{ type: 'custom', custom: { name: '' } }] }, 'tools.0.custom.name')
  no({ ...least, tools: [{ type: 'function', function: { name: 'a b' } }] }, 'tools.0.function.name')
  no(
    { ...least, tools: [{ type: 'function', function: { name: 'a', parameters: { type: 'array' } } }] },
    'tools.0.function.parameters.type',
  )
})

test('a wish for JSON is told to the model', () => {
  const system = (format: object): string => systemOf(readOpenAi({ ...least, response_format: format })) ?? ''
  assert.equal(system({ type: 'text' }), '')
  assert.match(system({ type: 'json_object' }), /single JSON object/)
  const schema = { type: 'object', properties: { a: { type: 'number' } } }
  assert.ok(
    system({ type: 'json_schema', json_schema: { name: 'x', schema } }).includes(JSON.stringify(schema)),
  )
})

test('usage in the stream only when it was asked for', () => {
  for (const options of [undefined, null, {}, { include_usage: false }]) {
    assert.equal(wantsUsage(readOpenAi({ ...least, stream: true, stream_options: options })), false)
  }
})
