import assert from 'node:assert/strict'
import { test } from 'node:test'
import type Anthropic from '@anthropic-ai/sdk'
import { systemOf } from '../../../src/relay/json/structured.ts'
import { readAnthropic, readForCounting } from '../../../src/dialects/anthropic/request.ts'
import { base64, PNG, refuses } from '../../relay/refusing.ts'

const user = { role: 'user', content: 'Hi' }
const least = { model: 'claude-sonnet-4-6', max_tokens: 100, messages: [user] }
const weather = { name: 'weather', input_schema: { type: 'object' as const } }

test('the least that can be asked', () => {
  assert.deepEqual(readAnthropic(least), {
    model: 'claude-sonnet-4-6',
    maxTokens: 100,
    stopSequences: [],
    system: null,
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    tools: [],
    toolChoice: { type: 'auto' },
    stream: false,
    thinking: false,
    json: null,
    body: { shape: 'anthropic', json: least },
  })
})

test('everything that a client of the SDK may say', () => {
  const body: Anthropic.MessageCreateParams = {
    model: 'claude-opus-4-6',
    max_tokens: 5_000,
    system: [
      { type: 'text', text: 'Be kind.', cache_control: { type: 'ephemeral' } },
      { type: 'text', text: 'Be brief.' },
    ],
    stop_sequences: ['\n\nHuman:'],
    stream: true,
    metadata: { user_id: 'me' },
    service_tier: 'auto',
    thinking: { type: 'enabled', budget_tokens: 2_000 },
    tools: [
      {
        ...weather,
        input_schema: { type: 'object', properties: { city: { type: 'string' } } },
        strict: true,
      },
      { type: 'custom', name: 'time', description: 'The time', input_schema: { type: 'object' } },
    ],
    tool_choice: { type: 'tool', name: 'time', disable_parallel_tool_use: true },
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'It is early.' }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look:', citations: null },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
          {
            type: 'document',
            title: 'Paper',
            source: { type: 'base64', media_type: 'application/pdf', data: base64('%PDF-1.7') },
            citations: { enabled: true },
          },
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Zürich' } },
          { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'a chunk' }] } },
          {
            type: 'search_result',
            title: 'Found',
            source: 'https://example.com',
            content: [{ type: 'text', text: 'words' }],
          },
        ],
      },
      { role: 'system', content: 'It is late.' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm.', signature: 'abc' },
          { type: 'redacted_thinking', data: 'abc' },
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Bern' } },
          { type: 'tool_use', id: 'toolu_2', name: 'time', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'toolu_1',
            content: [
              { type: 'text', text: 'sunny' },
              { type: 'image', source: { type: 'base64', media_type: 'image/webp', data: PNG } },
              { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'report' } },
            ],
          },
          { type: 'tool_result', tool_use_id: 'toolu_2', is_error: true },
        ],
      },
      { role: 'user', content: 'Well?' },
    ],
  }
  const ask = readAnthropic(body)
  assert.equal(ask.system, 'Be kind.\n\nBe brief.\n\nIt is early.')
  assert.deepEqual(ask.stopSequences, ['\n\nHuman:'])
  assert.equal(ask.stream, true)
  assert.equal(ask.thinking, true)
  assert.deepEqual(ask.toolChoice, { type: 'tool', name: 'time' })
  assert.deepEqual(ask.tools, [
    {
      name: 'weather',
      description: '',
      inputSchema: { type: 'object', properties: { city: { type: 'string' } } },
    },
    { name: 'time', description: 'The time', inputSchema: { type: 'object' } },
  ])
  assert.deepEqual(ask.messages, [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Look:' },
        { type: 'image', mediaType: 'image/png', data: PNG },
        { type: 'document', mediaType: 'application/pdf', data: base64('%PDF-1.7'), title: 'Paper' },
        { type: 'document', mediaType: 'text/plain', data: base64('Zürich'), title: null },
        { type: 'text', text: 'a chunk' },
        { type: 'text', text: 'Found\nhttps://example.com\nwords' },
        { type: 'text', text: '<system-reminder>\nIt is late.\n</system-reminder>' },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', text: 'Hm.' },
        { type: 'thinking', text: '' },
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Bern' } },
        { type: 'tool_use', id: 'toolu_2', name: 'time', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          toolUseId: 'toolu_1',
          content: [
            { type: 'text', text: 'sunny' },
            { type: 'image', mediaType: 'image/webp', data: PNG },
            { type: 'text', text: 'report' },
          ],
          isError: false,
        },
        { type: 'tool_result', toolUseId: 'toolu_2', content: [], isError: true },
        { type: 'text', text: 'Well?' },
      ],
    },
  ])
})

test('an image of 30 MB is read as it is', () => {
  const data = Buffer.alloc(22 * 1024 * 1024).toString('base64')
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data } }
  const { messages } = readAnthropic({ ...least, messages: [{ role: 'user', content: [image] }] })
  const [read] = messages[0]!.content
  assert.ok(read?.type === 'image' && read.data === data)
})

test('a wish for JSON is told to the model', () => {
  const schema = { type: 'object', properties: { a: { type: 'number' } } }
  const ask = readAnthropic({
    ...least,
    system: 'Hm.',
    output_config: { format: { type: 'json_schema', schema } },
  })
  assert.equal(ask.system, 'Hm.', 'the caller’s own words')
  assert.match(systemOf(ask) ?? '', /^Hm\.\n\nAnswer with a single JSON value/)
  assert.ok(systemOf(ask)?.includes(JSON.stringify(schema)))
})

test('thinking is in the answer when it is wanted there', () => {
  const thinking = (config: object): boolean => readAnthropic({ ...least, thinking: config }).thinking
  assert.equal(thinking({ type: 'adaptive' }), true)
  assert.equal(thinking({ type: 'disabled' }), false)
  assert.equal(thinking({ type: 'adaptive', display: 'omitted' }), false)
})

test('counting needs no max_tokens', () => {
  const { model, messages } = least
  assert.equal(readForCounting({ model, messages }).messages.length, 1)
  refuses(readForCounting, { model }, 'messages')
})

test('a document that a tool has found comes after its result', () => {
  const data = base64('%PDF-1.7')
  const paper = { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data } }
  const call = { type: 'tool_use', id: 'toolu_1', name: 'read', input: {} }
  const result = {
    type: 'tool_result',
    tool_use_id: 'toolu_1',
    content: [{ type: 'text', text: 'Read:' }, paper],
  }
  const messages = [user, { role: 'assistant', content: [call] }, { role: 'user', content: [result] }]
  const { content } = readAnthropic({ ...least, messages }).messages[2]!
  assert.deepEqual(content, [
    {
      type: 'tool_result',
      toolUseId: 'toolu_1',
      content: [
        { type: 'text', text: 'Read:' },
        { type: 'text', text: '(a document, see below)' },
      ],
      isError: false,
    },
    { type: 'document', mediaType: 'application/pdf', data, title: null },
  ])
})
