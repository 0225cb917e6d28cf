import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Asked, type Client, completions, gemini, type Given, responses } from './model/clients.ts'
import { type ScriptedModel, startScriptedModel } from './model/server.ts'

const DIRECTORY = '/home/dev/project'
const FILE = `${DIRECTORY}/a.txt`
const YES_NO = [
  { label: 'Yes', description: 'Agree' },
  { label: 'No', description: 'Disagree' },
]

/** An API, and what the agent that speaks it is like. */
interface Agent {
  client: Client
  tools: { shell: unknown[]; write: unknown[]; edit: unknown[]; ask: unknown[] }
  /** What the agent puts before the user's text; this or its system prompt says where it is. */
  context: string
  system?: string
  /** The stop reasons for text and for calls. */
  stops: [string, string]
  error(status: number): unknown
}

const patch = (...lines: string[]) => ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n')
const TYPES: Record<number, string> = { 400: 'invalid_request_error', 429: 'requests', 500: 'server_error' }
const openaiError = (status: number) => {
  const code = status === 429 ? 'rate_limit_exceeded' : null
  return { error: { message: `scripted ${status}`, type: TYPES[status], param: null, code } }
}
const STATUSES: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
}
const question = { question: 'Shall we?', header: 'Question' }

const AGENTS: Agent[] = [
  {
    client: completions,
    system: `You are…\n<env>\n  Working directory: ${DIRECTORY}\n</env>`,
    context: '<system-reminder>\n[[say wrong]]\n</system-reminder>',
    tools: {
      shell: ['bash', { command: 'ls' }],
      write: ['write', { filePath: FILE, content: 'hi there' }],
      edit: ['edit', { filePath: FILE, oldString: 'a', newString: 'b' }],
      ask: ['question', { questions: [{ ...question, options: YES_NO }] }],
    },
    stops: ['stop', 'tool_calls'],
    error: openaiError,
  },
  {
    client: responses,
    context: [
      '# AGENTS.md instructions for /home/dev\n\n<INSTRUCTIONS>\n[[say wrong]]\n</INSTRUCTIONS>',
      `<environment_context>\n  <cwd>${DIRECTORY}</cwd>\n  <shell>bash</shell>\n</environment_context>`,
    ].join('\n'),
    tools: {
      shell: ['exec_command', { cmd: 'ls' }],
      write: ['apply_patch', patch(`*** Add File: ${FILE}`, '+hi there')],
      edit: ['apply_patch', patch(`*** Update File: ${FILE}`, '@@', '-a', '+b')],
      ask: ['request_user_input', { questions: [{ id: 'question', ...question, options: YES_NO }] }],
    },
    stops: ['completed', 'completed'],
    error: openaiError,
  },
  {
    client: gemini,
    context: `<session_context>\n- **Workspace Directories:**\n  - ${DIRECTORY}\n[[say wrong]]\n</session_context>`,
    tools: {
      shell: ['run_shell_command', { command: 'ls', description: 'Scripted command' }],
      write: ['write_file', { file_path: FILE, content: 'hi there' }],
      edit: ['replace', { file_path: FILE, instruction: 'Scripted edit', old_string: 'a', new_string: 'b' }],
      ask: ['ask_user', { questions: [{ ...question, type: 'choice', options: YES_NO }] }],
    },
    stops: ['STOP', 'STOP'],
    error: (code) => ({ error: { code, message: `scripted ${code}`, status: STATUSES[code] } }),
  },
]

let model: ScriptedModel
before(async () => {
  model = await startScriptedModel()
})
after(() => model.close())

function post(path: string, body: object, signal?: AbortSignal): Promise<Response> {
  const headers = { 'content-type': 'application/json' }
  const init = { method: 'POST', body: JSON.stringify(body), headers, ...(signal && { signal }) }
  return fetch(model.url + path, init)
}

function send(client: Client, asked: Asked, signal?: AbortSignal): Promise<Response> {
  return post(client.path(asked.stream === true), client.request(asked), signal)
}

function framesOf(text: string): unknown[] {
  const data = text.split('\n\n').map((frame) => frame.replace(/^(?:event: .*\n)?data: /, ''))
  return data.filter((one) => one !== '' && one !== '[DONE]').map((one) => JSON.parse(one) as unknown)
}

async function ask(client: Client, asked: Asked): Promise<Given> {
  const response = await send(client, asked)
  assert.equal(response.status, 200)
  return asked.stream ? client.streamed(framesOf(await response.text())) : client.whole(await response.json())
}

const base64 = (value: string | object) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64')

for (const { client, tools, system, context, stops, error } of AGENTS) {
  describe(`the scripted model as ${client.name}`, () => {
    const offered = Object.values(tools).map(([name]) => String(name))
    const both = async (text: string, more: Partial<Asked> = {}): Promise<Given> => {
      const turns = [{ by: 'user' as const, text: `${context}\n${text}` }]
      const asked = { turns, tools: offered, ...(system && { system }), ...more }
      const whole = await ask(client, asked)
      const streamed = await ask(client, { ...asked, stream: true })
      assert.deepEqual({ ...streamed, pieces: [] }, { ...whole, pieces: [] })
      return streamed
    }
    const said = async (...turns: Asked['turns']) => (await ask(client, { turns })).text

    test('says, thinks, echoes, whole and streamed alike', async () => {
      const given = await both('[[think hm, well]] [[say one two]]')
      assert.deepEqual([given.thinking, given.text, given.pieces], ['hm, well', 'one two', ['one', ' two']])
      assert.deepEqual([given.stop, given.tokens], [stops[0], 4])
      assert.equal((await both('hello')).text, 'echo: hello')
      assert.equal((await both('[[words 3]]')).text, 'w1 w2 w3')
      assert.equal((await both(`[[say64 ${base64('grüße')}]]`)).text, 'grüße')
    })

    test('streams every delta of a burst, and words as they come', async () => {
      assert.equal((await both('[[burst 500 8]]')).pieces.length, 500)
      const stop = new AbortController()
      const turns = [{ by: 'user' as const, text: '[[drip 2 3600000]]' }]
      const response = await send(client, { turns, stream: true }, stop.signal)
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
      let seen = ''
      while (!seen.includes('w1')) seen += (await reader.read()).value ?? assert.fail(`only ${seen}`)
      stop.abort()
      assert.ok(!seen.includes('w2'))
    })

    test('calls the tools that the agent offers', async () => {
      const use = async (script: string) => {
        const { calls, stop } = await both(script)
        assert.equal(stop, stops[1])
        return calls.map((call) => [call.name, call.input])
      }
      assert.deepEqual(await use('[[shell ls]]'), [tools.shell])
      assert.deepEqual(await use('[[write a.txt hi there]]'), [tools.write])
      assert.deepEqual(await use('[[edit a.txt a b]]'), [tools.edit])
      assert.deepEqual(await use('[[ask Shall we?]]'), [tools.ask])
      const [one, two] = [{ n: 1 }, { n: 2 }]
      assert.deepEqual(await use(`[[call any ${base64(one)} other ${base64(two)}]]`), [
        ['any', one],
        ['other', two],
      ])
    })

    test('says something and then calls a tool', async () => {
      const { text, calls } = await both(`[[saycall ${base64('here goes')} any ${base64({})}]]`)
      assert.deepEqual([text, calls], ['here goes', [{ name: 'any', input: {} }]])
    })

    test('refuses what is not offered, what is outside, and any path when it knows no directory', async () => {
      assert.match((await both('[[shell ls]]', { tools: [] })).text, /^refused: shell: no tool/)
      assert.match((await both('[[write ../a.txt hi]]')).text, /^refused: write: \.\.\/a\.txt is not inside/)
      const lost = { turns: [{ by: 'user' as const, text: '[[write a.txt hi]]' }], tools: offered }
      assert.match((await ask(client, lost)).text, /^refused: write: the session's directory is not known/)
    })

    test('answers what a tool said, unless the user said more', async () => {
      const [user, call, tool] = [
        { by: 'user', text: '[[shell ls]]' },
        { by: 'call', name: 'any' },
        { by: 'tool', text: 'a.txt' },
      ] as const
      assert.equal(await said(user, call, tool), 'tool said: a.txt')
      assert.equal(await said(user, call, { by: 'tool', text: '[[say so]]' }), 'so')
      assert.equal(await said(user, call, tool, { by: 'user', text: 'go on' }), 'echo: go on')
    })

    test('knows the conversation: what to remember, the system prompt, pictures', async () => {
      const first = { by: 'user', text: '[[remember plum]] [[say ok]]', image: Buffer.alloc(10) } as const
      const answered = { by: 'model', text: 'ok' } as const
      const now = (text: string, image?: Buffer) =>
        said(first, answered, { by: 'user', text, ...(image && { image }) })
      assert.equal(await now('[[recall]]'), 'recall: plum')
      assert.equal(await now('[[attachments]]', Buffer.alloc(11)), 'attachments: 2 image/png/10 image/png/11')
      const turns = [{ by: 'user' as const, text: '[[system]]' }]
      assert.equal((await ask(client, { turns, system: '[[sysword zebra]]' })).text, 'system: zebra')
      assert.equal((await ask(client, { turns })).text, 'system: none')
    })

    test('fails in the words of the API, before and in the middle of a stream', async () => {
      for (const status of [400, 429, 500]) {
        const turns = [{ by: 'user' as const, text: `[[fail ${status}]]` }]
        for (const stream of [false, true]) {
          const response = await send(client, { turns, stream })
          assert.equal(response.status, status)
          assert.deepEqual(await response.json(), error(status))
        }
      }
      const turns = [{ by: 'user' as const, text: '[[sayfail 500 half]]' }]
      const frames = framesOf(await (await send(client, { turns, stream: true })).text())
      assert.deepEqual(client.streamed(frames).pieces, ['half'])
      assert.match(JSON.stringify(frames.at(-1)), /scripted 500/)
      assert.notEqual(client.streamed(frames).stop, stops[0])
    })

    test('never answers when it is to hang', async () => {
      const stop = new AbortController()
      const requested = model.next()
      const answer = send(client, { turns: [{ by: 'user', text: '[[hang]]' }] }, stop.signal)
      await requested
      stop.abort()
      await assert.rejects(answer, { name: 'AbortError' })
    })
  })
}

describe('what only one API has', () => {
  const user = (text: string) => ({ by: 'user' as const, text })

  test('codex and opencode keep a message that was given up: the next one counts', async () => {
    for (const client of [completions, responses]) {
      assert.equal((await ask(client, { turns: [user('[[hang]]'), user('hello')] })).text, 'echo: hello')
    }
    const aborted = user('<turn_aborted>\nThe user interrupted the previous turn.\n</turn_aborted>')
    assert.equal((await ask(responses, { turns: [user('[[hang]]'), aborted] })).text, 'echo: ')
  })

  test('responses: the events of an answer in their order', async () => {
    const request = responses.request({ turns: [user('[[think hm]] [[say so]]')], stream: true })
    const frames = framesOf(await (await post('/v1/responses', request)).text()) as { type: string }[]
    const block = (part: string, text: string) => [
      'output_item.added',
      `${part}.added`,
      `${text}.delta`,
      `${text}.done`,
      `${part}.done`,
      'output_item.done',
    ]
    const expected = [
      'created',
      ...block('reasoning_summary_part', 'reasoning_summary_text'),
      ...block('content_part', 'output_text'),
      'completed',
    ]
    assert.deepEqual(
      frames.map((frame) => frame.type),
      expected.map((type) => `response.${type}`),
    )
  })

  test('chat completions: usage only when it is asked for, and a title without the script', async () => {
    const plain = { model: 'm', stream: true, messages: [{ role: 'user', content: '[[say so]]' }] }
    const text = await (await post('/v1/chat/completions', plain)).text()
    assert.ok(text.endsWith('data: [DONE]\n\n'))
    assert.ok(framesOf(text).every((frame) => !('usage' in (frame as object))))
    const title = { turns: [user('[[fail 500]]')], system: 'You are a title generator. You…' }
    assert.equal((await ask(completions, title)).text, 'A scripted title')
  })

  test('Gemini: tokens are counted', async () => {
    const counted = await post('/v1beta/models/m:countTokens', gemini.request({ turns: [user('eight ch')] }))
    assert.deepEqual(await counted.json(), { totalTokens: 2 })
  })

  test('there is one model', async () => {
    const listed = (await (await fetch(`${model.url}/v1/models`)).json()) as { data: { id: string }[] }
    assert.deepEqual(
      listed.data.map((one) => one.id),
      ['scripted'],
    )
  })
})
