import { aSession } from '../support/session.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gemini } from '../../src/agents/acp/gemini.ts'
import { acpTranslator } from '../../src/agents/acp/translator.ts'
import type { DriverOutput } from '../../src/agents/output.ts'
import { NAMES, only, recorded, story, translate } from './acp-recordings.ts'

const COMMAND = 'echo hello-from-tool > tool-out.txt; cat tool-out.txt'
const OUTPUT =
  '[{"output":"<untrusted_context>\\nOutput: hello-from-tool\\nProcess Group PGID: 32565\\n</untrusted_context>"}]'

/** The turns without their pieces, and without what is said before the first. */
function turns(name: string): string[] {
  const told = story(translate(name).flat()).filter(
    (line) => !['ready', 'wants over'].includes(line) && !/^\w+ turn\d+:\d+ \+ /.test(line),
  )
  return told.slice(told.indexOf('accepted turn1'))
}

const STORIES: Record<string, string[]> = {
  'gemini-tool-allowed': [
    'accepted turn1',
    'text turn1:0 = I will run it. ',
    `tool run_shell_command__fc_0001 Bash {"command":"${COMMAND}","description":"[current working directory /ws/acp-gemini] (fake)"}`,
    'asked tool Bash run_shell_command__fc_0001',
    'output run_shell_command__fc_0001 hello-from-tool',
    `text turn1:1 = tool said: ${OUTPUT}`,
    'completed',
    'accepted turn2',
    'text turn2:0 = I will write. ',
    'tool write_file__fc_0002 Edit {"path":"/ws/acp-gemini/written.txt","oldText":"","newText":"fresh content\\n"}',
    'asked tool Edit write_file__fc_0002 edits',
    'output write_file__fc_0002 --- /ws/acp-gemini/written.txt\n+++ /ws/acp-gemini/written.tx',
    'text turn2:1 = tool said: [{"output":"Successfully created and wrote to new file: /ws/acp-gemini/written.txt.' +
      ' Here is the updated code:\\nfresh content\\n"}]',
    'completed',
  ],
  'gemini-partials': [
    'accepted turn1',
    'text turn1:0 = tick0 tick1 tick2 tick3 tick4 tick5 ',
    'completed',
    'accepted turn2',
    'thinking turn2:0 = **Pondering**\npondering it',
    'text turn2:1 = echo: think hard',
    'completed',
  ],
  'opencode-tool-denied': [
    'accepted turn1',
    'text turn1:0 = I will run it. ',
    `tool call_0017 Bash {"command":"${COMMAND}","description":"fake command","cwd":"/ws/acp-opencode"}`,
    'asked tool Bash call_0017',
    'error call_0017 The user rejected permission to use this specific tool call.',
    'agent.context',
    'completed',
    'accepted turn2',
    'agent.context',
    'text turn2:0 = echo: hello after deny',
    'completed',
  ],
  'opencode-model-error': [
    'accepted turn1',
    'failed model_error',
    'accepted turn2',
    'failed model_error',
    'accepted turn3',
    'agent.context',
    'text turn3:0 = echo: after error',
    'completed',
    'accepted turn4',
  ],
  'codex-interrupt': [
    'accepted turn1',
    'text turn1:0 = tick0 tick1 tick2  (aborted)',
    'interrupted',
    'accepted turn2',
    'title.told',
    'text turn2:0 = echo: after cancel',
    'completed',
    'accepted turn3',
    'text turn3:0 = I will run it. ',
    `tool call_0043 Bash {"command":"${COMMAND}","cwd":"/ws/acp-codex"}`,
    'asked tool Bash call_0043',
    'withdrawn 0',
    'error call_0043 ',
    'interrupted',
    'accepted turn4',
    'tool call_0048 Bash {"command":"tail -f README.md","cwd":"/ws/acp-codex"}',
    'asked tool Bash call_0048',
    'error call_0048 interrupted',
    'interrupted',
    'accepted turn5',
    'text turn5:0 = echo: after cancel2',
    'completed',
  ],
  'claude-tool-denied': [
    'accepted turn1',
    'text turn1:0 = I will run it. ',
    `tool toolu_0019 Bash {"command":"${COMMAND}","description":"fake command"}`,
    'asked tool Bash toolu_0019',
    'error toolu_0019 User refused permission to run tool',
    'text turn1:1 = tool said: User refused permission to run tool',
    'completed',
    'accepted turn2',
    'text turn2:0 = echo: hello after deny',
    'completed',
  ],
}

for (const [name, expected] of Object.entries(STORIES)) {
  test(`the recording ${name} tells its story`, () => assert.deepEqual(turns(name), expected))
}

test('a conversation is opened step by step', () => {
  const told = story(translate('opencode-simple').flat())
  const opening = ['wants initialized', 'init fake/echo', 'models.told', 'wants opened', 'ready']
  assert.deepEqual(told.slice(0, 5), opening)
})

test('a conversation that cannot be loaded is lost, and another is asked for', () => {
  assert.deepEqual(story(translate('gemini-load-same-minute-bug').flat()), [
    'wants initialized',
    'notice conversation_lost',
    'wants reopen',
  ])
})

test('the history that comes with a conversation is not said again', () => {
  const outputs = translate('opencode-resume-load-again').flat()
  const before = outputs.slice(
    0,
    outputs.findIndex((it) => it.type === 'turn.accepted'),
  )
  assert.deepEqual(
    before.filter((it) => ['message.delta', 'tool.started', 'tool.completed'].includes(it.type)),
    [],
  )
})

/** How many prompts were answered before the next was sent; Corral sends none while one is under way. */
function answeredInTurn(name: string): number {
  let running: string | undefined
  let count = 0
  for (const { id } of recorded(name) as { id?: unknown }[]) {
    const [purpose, turn] = String(id).split(':')
    if (purpose === 'begin') running = turn
    if (purpose === 'prompt' && turn === running) count++
  }
  return count
}

test('what is set while it is being opened is followed by the next thing, a refusal ends the matter', () => {
  const opening = [
    { id: 'initialize', result: { protocolVersion: 1 } },
    { id: 'open:new', result: { sessionId: 's' } },
  ]
  const error = { code: -32602, message: 'unknown' }
  const told = (...lines: unknown[]) => story(translate('gemini', [...opening, ...lines]).flat()).slice(3)
  assert.deepEqual(told({ id: 'mode:ask:0', result: {} }, { id: 'model:old:m', result: {} }), [
    'wants opened',
    'agent.model',
    'wants opened',
  ])
  assert.deepEqual(told({ id: 'mode:code:0', error }, { id: 'mode:code:1', error }), [
    'wants mode',
    'notice mode_refused',
    'wants opened',
  ])
  assert.deepEqual(told({ id: 'mode:plan:0', error }), ['not ready: unsupported'])
  assert.deepEqual(told({ id: 'model:old:m', error }), ['not ready: unsupported'])
  assert.deepEqual(told({ id: 'ready' }, { id: 'model:old:m', error }), ['ready', 'notice model_refused'])
})

test('as long as history comes after the opening, messages wait', () => {
  const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'long ago' } }
  const lines = [
    { id: 'initialize', result: { protocolVersion: 1 } },
    { id: 'open:load:s', result: {} },
    { method: 'session/update', params: { update } },
    { id: 'ready' },
    { id: 'ready' },
  ]
  const told = story(translate('gemini', lines).flat())
  assert.deepEqual(told, ['wants initialized', 'init null', 'wants opened', 'wants listen', 'ready'])
})

test('every prompt that is answered ends one turn, with nothing left open', () => {
  for (const name of NAMES) {
    const outputs = translate(name).flat()
    assert.equal(only(outputs, 'turn.ended').length, answeredInTurn(name), name)
    let open = new Set<string>()
    for (const output of outputs) {
      if (output.type === 'tool.started') open.add(output.callId)
      else if (output.type === 'tool.completed')
        assert.ok(open.delete(output.callId), `${name} ${output.callId}`)
      else if (output.type === 'turn.ended') {
        assert.deepEqual([...open], [], name)
        open = new Set()
      }
    }
  }
})

test('every question is about a call that has started, and has an answer of every kind', () => {
  for (const name of NAMES) {
    const started = new Set<string>()
    for (const output of translate(name).flat()) {
      if (output.type === 'tool.started') started.add(output.callId)
      if (output.type !== 'approval.asked') continue
      assert.ok(started.has(output.approval.callId!), name)
      const kinds = (output.approval.suggestions as { kind: string }[]).map(({ kind }) => kind)
      assert.ok(kinds.includes('allow_once') && kinds.includes('reject_once'), name)
    }
  }
})

test('deltas add up to the completed message of the same id in every recording', () => {
  for (const name of NAMES) {
    const outputs = translate(name).flat()
    const streamed = new Map<string, string>()
    for (const { messageId, text } of only(outputs, 'message.delta')) {
      streamed.set(messageId, (streamed.get(messageId) ?? '') + text)
    }
    const completed = only(outputs, 'message.completed')
    assert.equal(
      new Set(completed.map((it) => it.messageId)).size,
      completed.length,
      `${name}: ids are unique`,
    )
    for (const { messageId, text } of completed) assert.equal(streamed.get(messageId), text, name)
  }
})

test('read again from the first line of a turn, it makes the same outputs', () => {
  for (const name of NAMES) {
    const lines = recorded(name)
    const outputs = translate(name)
    const ends = outputs.flatMap((made, line) =>
      made.some(({ type }) => type === 'turn.ended') ? [line + 1] : [],
    )
    for (const from of ends) {
      const again = translate(name, lines.slice(from)).flat()
      assert.deepEqual(
        again.flatMap(ofTheTurn),
        outputs.slice(from).flat().flatMap(ofTheTurn),
        `${name} from ${from}`,
      )
    }
  }
})

/** Prices are told for the whole conversation: what it had cost before is not known after a restart, nor which commands were told. */
function ofTheTurn(output: DriverOutput): DriverOutput[] {
  if (output.type === 'agent.commands') return []
  return [output.type === 'turn.ended' ? { ...output, usage: { ...output.usage, costUsd: null } } : output]
}

test('usage is found wherever the agent puts it, and a price is that of the turn', () => {
  const usages = (name: string) =>
    only(translate(name).flat(), 'turn.ended').map(({ usage: { inputTokens, outputTokens, costUsd } }) => [
      inputTokens,
      outputTokens,
      costUsd === null ? null : Number(costUsd.toFixed(5)),
    ])
  assert.deepEqual(usages('gemini-tool-allowed')[0], [2000, 20, null])
  assert.deepEqual(usages('opencode-tool-allowed'), [
    [1000, 10, 0.00204],
    [1000, 10, 0.00204],
  ])
  assert.deepEqual(usages('claude-tool-allowed'), [
    [2000, 20, 0.0084],
    [2000, 20, 0.0126],
  ])
})

test('errors of a model keep their status and lose their wrapping', () => {
  const errors = (name: string) =>
    only(translate(name).flat(), 'turn.ended').flatMap(({ error }) => error ?? [])
  assert.deepEqual(
    errors('gemini-model-error').map(({ message, detail }) => [message, detail?.['status']]),
    [
      ['fake model error 400', 400],
      ['fake model error 401', 401],
      ['fake model error 500', 500],
    ],
  )
  assert.equal(errors('opencode-model-error')[0]!.message, 'fake model error 400')
  assert.equal(errors('codex-model-error')[0]!.code, 'not_signed_in')
})

test('no line makes it stumble', () => {
  const translator = acpTranslator(gemini)
  const strange = [
    null,
    1,
    'x',
    [],
    {},
    { id: 7 },
    { id: null, error: {} },
    { method: 5 },
    { id: {}, method: 'x' },
  ]
  const updates = [
    null,
    {},
    { sessionUpdate: 'agent_message_chunk' },
    { sessionUpdate: 'tool_call' },
    { sessionUpdate: 'tool_call', toolCallId: 'c', content: 'x', locations: 5, rawInput: [] },
    { sessionUpdate: 'usage_update', cost: 5 },
    { sessionUpdate: 'current_mode_update' },
    { sessionUpdate: 'new' },
  ]
  const ids = [
    'initialize',
    'open:',
    'open:new',
    'prompt:',
    'mode:',
    'mode:plan:9',
    'model:',
    'cancel',
    'begin:t',
    'ready',
  ]
  const lines = [
    ...strange,
    ...updates.map((update) => ({ method: 'session/update', params: { update } })),
    ...ids.flatMap((id) => [{ id }, { id, result: 5 }, { id, error: 'x' }, { id, error: { code: 'x' } }]),
    { id: 1, method: 'session/request_permission' },
    {
      id: 1,
      method: 'session/request_permission',
      params: { toolCall: { toolCallId: 'c' }, options: [null] },
    },
    { method: '$/cancel_request' },
  ]
  for (const first of [{ id: 'begin:turn', error: {} }, {}]) {
    for (const line of lines) {
      const { state } = translator.step(translator.initial(aSession()), first)
      assert.doesNotThrow(
        () => translator.step(translator.step(state, line).state, line),
        JSON.stringify(line),
      )
    }
  }
})

test('Gemini tells its mode in its answer: its own change is one, ours is not', () => {
  const mode = (text: string) => ({
    method: 'session/update',
    params: { update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } } },
  })
  const told = (...lines: unknown[]) =>
    story(translate('gemini', [{ id: 'begin:t' }, ...lines]).flat()).slice(1)
  assert.deepEqual(told(mode('[MODE_UPDATE] plan'), { id: 'accepted:t' }), [
    'mode plan',
    'wants moved',
    'accepted t',
  ])
  assert.deepEqual(told(mode('[MODE_UPDATE] plan'), { id: 'mode:plan:0' }), [])
})

test('between two turns: what is left of the one before is passed over, what is early is of the next', () => {
  const update = (text: string) => ({
    method: 'session/update',
    params: { update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } } },
  })
  const turn = (id: string) => [{ id: `begin:${id}` }, { id: `accepted:${id}` }]
  const end = (id: string) => ({ id: `prompt:${id}`, result: {} })
  const lines = [
    ...turn('a'),
    end('a'),
    update('late'),
    { id: 'over' },
    update('early'),
    ...turn('b'),
    end('b'),
  ]
  const texts = only(translate('gemini', lines).flat(), 'message.completed').map(({ text }) => text)
  assert.deepEqual(texts, ['early'])
})

test('marks and answers of a turn that has ended change nothing', () => {
  const lines = [{ id: 'begin:a' }, { id: 'prompt:a', result: {} }, { id: 'begin:a' }, { id: 'accepted:a' }]
  const told = story(translate('gemini', [...lines, { id: 'prompt:a', result: {} }]).flat())
  assert.deepEqual(told, ['ready', 'accepted a', 'completed', 'wants over', 'other answer'])
})
