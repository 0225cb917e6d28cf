import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readAnthropic } from '../../../src/dialects/anthropic/request.ts'
import { base64, nested, PNG, refuses } from '../../relay/refusing.ts'

const user = { role: 'user', content: 'Hi' }
const least = { model: 'claude-sonnet-4-6', max_tokens: 100, messages: [user] }
const weather = { name: 'weather', input_schema: { type: 'object' } }
const call = { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Bern' } }
const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'sunny' }

function saying(...content: object[]): object {
  return { ...least, messages: [{ role: 'user', content }] }
}

function talk(...messages: [role: string, content: unknown][]): object {
  return { ...least, messages: messages.map(([role, content]) => ({ role, content })) }
}

function no(body: unknown, field: string, words?: RegExp): void {
  refuses(readAnthropic, body, field, words)
}

test('what is missing is named as in the seed', () => {
  const without = (key: string): object =>
    Object.fromEntries(Object.entries(least).filter(([k]) => k !== key))
  for (const key of ['model', 'max_tokens', 'messages']) no(without(key), key)
  assert.throws(() => readAnthropic(without('messages')), {
    message: 'invalid request body: missing field `messages`',
  })
  no(talk(['user', [{ type: 'text' }]]), 'messages.0.content.0.text', /missing field/)
  no({ ...least, messages: [{ role: 'user' }] }, 'messages.0.content', /missing field/)
  for (const body of [undefined, null, [], 'text', 7]) no(body, '', /must be a JSON object/)
})

test('wrong types and values are named with their place', () => {
  const wrong: [field: string, value: unknown][] = [
    ['model', 7],
    ['model', ''],
    ['max_tokens', '100'],
    ['max_tokens', 0],
    ['max_tokens', 1.5],
    ['max_tokens', null],
    ['messages', {}],
    ['messages', []],
    ['system', 7],
    ['stream', 'yes'],
    ['temperature', 2],
    ['temperature', 'hot'],
    ['top_p', -1],
    ['top_k', 1.5],
    ['metadata', 'me'],
    ['stop_sequences', 'STOP'],
    ['tools', {}],
    ['tool_choice', 'auto'],
    ['thinking', true],
  ]
  for (const [field, value] of wrong) no({ ...least, [field]: value }, field)
  no({ ...least, system: [{ type: 'image' }] }, 'system.0.type')
  no({ ...least, stop_sequences: ['a', ''] }, 'stop_sequences.1')
  no({ ...least, stop_sequences: ['a'.repeat(2_000)] }, 'stop_sequences.0')
  no({ ...least, thinking: { type: 'deep' } }, 'thinking.type')
  no({ ...least, thinking: { type: 'enabled' } }, 'thinking.budget_tokens')
})

test('messages that say nothing, to nobody, or for the model are refused', () => {
  no(talk(['robot', 'Hi']), 'messages.0.role')
  no({ ...least, messages: [7] }, 'messages.0')
  no(talk(['user', '']), 'messages.0.content')
  no(talk(['user', []]), 'messages.0.content')
  no(saying({ type: 'text', text: '' }), 'messages.0.content')
  no(talk(['system', 'alone']), 'messages')
  no(talk(['user', 'Hi'], ['assistant', 'The answer is']), 'messages.1', /cannot be begun/)
  no(saying({ type: 'hologram' }), 'messages.0.content.0.type')
  no(saying(call), 'messages.0.content.0.type')
  no(talk(['user', 'Hi'], ['assistant', [result]], ['user', 'x']), 'messages.1.content.0.type')
})

test('attachments: only whole base64 of known types, and nothing from elsewhere', () => {
  const image = (source: object): object => saying({ type: 'text', text: 'x' }, { type: 'image', source })
  const paper = (source: object): object => saying({ type: 'document', source })
  const at = 'messages.0.content.1.source'
  no(image({ type: 'base64', media_type: 'image/png', data: 'not base64' }), `${at}.data`)
  no(image({ type: 'base64', media_type: 'image/png', data: PNG.slice(0, -1) }), `${at}.data`)
  no(image({ type: 'base64', media_type: 'image/png', data: '' }), `${at}.data`)
  no(image({ type: 'base64', media_type: 'image/png' }), `${at}.data`, /missing field/)
  no(image({ type: 'base64', media_type: 'image/tiff', data: PNG }), `${at}.media_type`)
  no(image({ type: 'url', url: 'http://169.254.169.254/' }), `${at}.type`, /nothing is fetched/)
  no(image({ type: 'file', file_id: 'file_1' }), `${at}.type`, /nothing is fetched/)
  no(paper({ type: 'url', url: 'http://localhost/' }), 'messages.0.content.0.source.type')
  no(paper({ type: 'base64', media_type: 'text/html', data: PNG }), 'messages.0.content.0.source.media_type')
  no(paper({ type: 'base64', media_type: 'text/plain', data: '/w==' }), 'messages.0.content.0.source.data')
  const markdown = readAnthropic(paper({ type: 'base64', media_type: 'text/markdown', data: base64('# Ü') }))
  assert.deepEqual(markdown.messages[0]!.content, [
    { type: 'document', mediaType: 'text/markdown', data: base64('# Ü'), title: null },
  ])
})

test('every call has its result, and every result its call', () => {
  readAnthropic(talk(['user', 'Hi'], ['assistant', [call]], ['user', [result]]))
  readAnthropic(talk(['user', 'Hi'], ['assistant', [call]], ['user', 'So:'], ['user', [result]]))
  const id = 'messages.0.content.0.tool_use_id'
  no(talk(['user', [result]]), id, /no unanswered tool call/)
  no(
    talk(['user', 'Hi'], ['assistant', [call]], ['user', [{ ...result, tool_use_id: 'toolu_9' }]]),
    'messages.2.content.0.tool_use_id',
    /toolu_9/,
  )
  no(
    talk(['user', 'Hi'], ['assistant', [call]], ['user', [result, result]]),
    'messages.2.content.1.tool_use_id',
  )
  no(
    talk(['user', 'Hi'], ['assistant', [call]], ['user', 'never mind']),
    'messages.1.content.0',
    /without a result/,
  )
  no(
    talk(['user', 'Hi'], ['assistant', [call]], ['user', 'x'], ['assistant', 'y'], ['user', [result]]),
    'messages.1.content.0',
  )
  no(
    talk(['user', 'Hi'], ['assistant', [call]], ['user', [result]], ['assistant', 'y'], ['user', [result]]),
    'messages.4.content.0.tool_use_id',
  )
  no(
    talk(['user', 'Hi'], ['assistant', [call, call]], ['user', [result]]),
    'messages.1.content.1',
    /another call/,
  )
  no(
    talk(['user', 'Hi'], ['assistant', [{ ...call, input: '{}' }]], ['user', [result]]),
    'messages.1.content.0.input',
  )
})

test('tools have a name of their own and a schema, and a choice is one of them', () => {
  const tools = (...list: unknown[]): object => ({ ...least, tools: list })
  no(tools({ ...weather, name: 'no spaces' }), 'tools.0.name')
  no(tools({ ...weather, name: 'x'.repeat(129) }), 'tools.0.name')
  no(tools({ name: 'weather' }), 'tools.0.input_schema', /missing field/)
  no(tools({ ...weather, input_schema: { type: 'string' } }), 'tools.0.input_schema.type')
  no(tools(weather, weather), 'tools.1', /another tool/)
  no(tools({ type: 'web_search_20250305', name: 'web_search' }), 'tools.0.type', /not offered/)
  no({ ...tools(weather), tool_choice: { type: 'tool', name: 'time' } }, 'tool_choice')
  no({ ...least, tool_choice: { type: 'any' } }, 'tool_choice')
  assert.deepEqual(readAnthropic({ ...least, tool_choice: { type: 'none' } }).toolChoice, { type: 'none' })
})

test('neither a deep nor a long body is let in', () => {
  no({ ...least, metadata: nested(200) }, '', /nested/)
  no({ ...least, metadata: nested(100_000) }, '', /nested/)
  readAnthropic({ ...least, metadata: nested(90) })
  no({ ...least, messages: Array.from({ length: 10_001 }, () => user) }, 'messages')
  no({ ...least, tools: Array.from({ length: 1_001 }, () => weather) }, 'tools')
})
