import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type ScriptedModel, startScriptedModel } from './model/server.ts'

const SYSTEM = [
  { type: 'text', text: 'You are…\n - Primary working directory: /home/dev/project\n - Shell: bash' },
]
const TOOLS = ['Bash', 'Write', 'Edit', 'AskUserQuestion'].map((name) => ({ name }))

describe('the scripted model', () => {
  let model: ScriptedModel

  before(async () => {
    model = await startScriptedModel()
  })
  after(() => model.close())

  const post = (path: string, body: object, signal?: AbortSignal) => {
    const init = {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    }
    return fetch(model.url + path, { ...init, ...(signal && { signal }) })
  }
  const ask = async (content: unknown, rest: object = {}) => {
    const messages = [{ role: 'user', content }]
    const response = await post('/v1/messages', {
      model: 'm',
      messages,
      system: SYSTEM,
      tools: TOOLS,
      ...rest,
    })
    return (await response.json()) as {
      content: Record<string, unknown>[]
      stop_reason: string
      usage: object
    }
  }
  const events = async (content: string) => {
    const messages = [{ role: 'user', content }]
    const response = await post('/v1/messages?beta=true', {
      model: 'm',
      stream: true,
      messages,
      system: SYSTEM,
    })
    const frames = (await response.text()).split('\n\n').filter((frame) => frame !== '')
    return frames.map(
      (frame) => JSON.parse(frame.split('\ndata: ')[1]!) as { type: string } & Record<string, unknown>,
    )
  }

  test('answers a whole message', async () => {
    const message = await ask('[[think hm]] [[say so]]')
    assert.deepEqual(
      message.content.map((block) => block['thinking'] ?? block['text']),
      ['hm', 'so'],
    )
    assert.equal(message.stop_reason, 'end_turn')
  })

  test('streams the events of the API in their order', async () => {
    const types = (await events('[[say one two]]')).map((event) => event.type)
    const block = ['content_block_start', 'content_block_delta', 'content_block_delta', 'content_block_stop']
    assert.deepEqual(types, ['message_start', ...block, 'message_delta', 'message_stop'])
  })

  test('streams every delta of a burst', async () => {
    const deltas = (await events('[[burst 1500 8]]')).filter((event) => event.type === 'content_block_delta')
    assert.equal(deltas.length, 1500)
  })

  test('calls tools by the names that claude has for them, with absolute paths', async () => {
    const use = async (script: string) => {
      const message = await ask(script)
      assert.equal(message.stop_reason, 'tool_use')
      return [message.content[0]?.['name'], message.content[0]?.['input']]
    }
    assert.deepEqual(await use('[[write a.txt hi]]'), [
      'Write',
      { file_path: '/home/dev/project/a.txt', content: 'hi' },
    ])
    const edit = { file_path: '/home/dev/project/a.txt', old_string: 'a', new_string: 'b' }
    assert.deepEqual(await use('[[edit a.txt a b]]'), ['Edit', edit])
    assert.deepEqual(await use('[[shell ls]]'), ['Bash', { command: 'ls', description: 'Scripted command' }])
    const [name] = await use('[[ask Shall we?]]')
    assert.equal(name, 'AskUserQuestion')
  })

  test('refuses a path when no directory was stated', async () => {
    const message = await ask('[[write a.txt hi]]', { system: 'none' })
    assert.match(String(message.content[0]?.['text']), /^refused: write/)
  })

  test('refuses a tool that is not offered', async () => {
    const message = await ask('[[shell ls]]', { tools: [] })
    assert.equal(message.content[0]?.['text'], 'refused: shell: no tool for that is offered')
  })

  test('looks past reminders and a system message after the user', async () => {
    const reminder = { type: 'text', text: '<system-reminder>\n[[say wrong]]\n</system-reminder>\n' }
    const messages = [
      { role: 'user', content: [reminder, { type: 'text', text: 'hello' }] },
      { role: 'system', content: 'Note: [[say wrong too]]' },
    ]
    const message = await ask('', { messages })
    assert.equal(message.content[0]?.['text'], 'echo: hello')
  })

  test('forgets what was interrupted', async () => {
    const messages = ['[[hang]]', '[Request interrupted by user]', 'hello'].map((content) => ({
      role: 'user',
      content,
    }))
    assert.equal((await ask('', { messages })).content[0]?.['text'], 'echo: hello')
  })

  test('answers about attachments of the whole conversation', async () => {
    const image = (bytes: number) => {
      const data = Buffer.alloc(bytes).toString('base64')
      return { type: 'image', source: { type: 'base64', media_type: 'image/png', data } }
    }
    const messages = [
      { role: 'user', content: [image(10)] },
      { role: 'assistant', content: 'ok' },
      { role: 'user', content: [{ type: 'tool_result', content: [image(11)] }, image(12)] },
      { role: 'user', content: '[[attachments]]' },
    ]
    const text = (await ask('', { messages })).content[0]?.['text']
    assert.equal(text, 'attachments: 3 image/png/10 image/png/11 image/png/12')
  })

  test('fails with the status of the script, and lets 429 be tried again at once', async () => {
    const messages = [{ role: 'user', content: '[[fail 429]]' }]
    const response = await post('/v1/messages', { model: 'm', stream: true, messages })
    assert.equal(response.status, 429)
    assert.equal(response.headers.get('retry-after'), '0')
    const { error } = (await response.json()) as { error: { type: string } }
    assert.equal(error.type, 'rate_limit_error')
  })

  test('fails in the middle of a stream', async () => {
    const seen = await events('[[sayfail 529 half]]')
    assert.equal(seen.at(-1)?.type, 'error')
    assert.ok(seen.some((event) => event.type === 'content_block_delta'))
  })

  test('never answers when it is to hang', async () => {
    const stop = new AbortController()
    const requested = model.next()
    const answer = post('/v1/messages', { messages: [{ role: 'user', content: '[[hang]]' }] }, stop.signal)
    await requested
    stop.abort()
    await assert.rejects(answer, { name: 'AbortError' })
  })

  test('counts tokens, and knows no other path', async () => {
    const counted = await post('/v1/messages/count_tokens', {
      messages: [{ role: 'user', content: 'eight ch' }],
    })
    assert.deepEqual(await counted.json(), { input_tokens: 2 })
    const missing = await fetch(`${model.url}/api/hello`)
    assert.equal(missing.status, 404)
    assert.equal(((await missing.json()) as { type: string }).type, 'error')
    assert.equal((await fetch(model.url, { method: 'HEAD' })).status, 404)
  })
})
