import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { claudeTranslator } from '../../src/agents/claude/translator.ts'
import type { AgentOutput } from '../../src/core/event.ts'

type Recorded = { proc: number; dir: string; m: unknown }
const FOLDER = new URL('../recordings/claude/', import.meta.url)
const NAMES = readdirSync(FOLDER).map((file) => file.replace('.jsonl', ''))

/** What a recorded process wrote, line by line. */
function recorded(name: string, proc = 1): unknown[] {
  const text = readFileSync(new URL(`${name}.jsonl`, FOLDER), 'utf8')
  const lines = text
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => JSON.parse(line) as Recorded)
  return lines.filter((line) => line.proc === proc && line.dir === 'out').map((line) => line.m)
}

function translate(lines: unknown[], from = claudeTranslator.initial()): AgentOutput[] {
  let state = from
  return lines.flatMap((line) => {
    const step = claudeTranslator.step(state, line)
    state = step.state
    return step.outputs
  })
}

/** One short line for each output, to read a whole turn at a glance. */
function story(outputs: AgentOutput[]): string[] {
  return outputs.map((it) => {
    switch (it.type) {
      case 'turn.accepted':
        return `accepted ${Number(it.turnId.slice(0, 8))}`
      case 'agent.init':
        return `init ${it.model}`
      case 'message.delta':
        return `${it.kind} ${it.messageId} + ${it.text}`
      case 'message.completed':
        return `${it.kind} ${it.messageId} = ${it.text}${it.aborted ? ' (aborted)' : ''}`
      case 'tool.started':
        return `tool ${it.callId} ${it.tool}`
      case 'tool.completed':
        return `${it.isError ? 'error' : 'output'} ${it.callId} ${it.output.slice(0, 32)}`
      case 'approval.asked':
        return `asked ${it.approval.kind} ${it.approval.tool} ${it.approval.callId}`
      case 'approval.withdrawn':
        return 'withdrawn'
      case 'agent.notice':
        return `notice ${it.code}`
      case 'mode.observed':
        return `mode ${it.mode}`
      case 'turn.ended':
        return `${it.outcome}${it.error ? ` ${it.error.code}` : ''}`
      default:
        return it.type
    }
  })
}

const only = <T extends AgentOutput['type']>(outputs: AgentOutput[], type: T) =>
  outputs.filter((it): it is Extract<AgentOutput, { type: T }> => it.type === type)

const INIT = 'init claude-opus-5-5'
const CALL = 'calling a tool'

const STORIES: Record<string, string[]> = {
  'simple-turn': [
    'accepted 1',
    INIT,
    'text msg_fake0001:0 = echo: hello',
    'completed',
    'accepted 8',
    INIT,
    'text msg_fake0003:0 = echo: second turn, same process',
    'completed',
  ],
  'streamed-partials': [
    'accepted 1',
    INIT,
    'text msg_fake0005:0 + chunk0 ',
    'text msg_fake0005:0 + chunk1 ',
    'text msg_fake0005:0 + chunk2 ',
    'text msg_fake0005:0 + chunk3 ',
    'text msg_fake0005:0 = chunk0 chunk1 chunk2 chunk3 ',
    'completed',
    'accepted 18',
    INIT,
    'thinking msg_fake0007:0 + let me ',
    'thinking msg_fake0007:0 + think',
    'thinking msg_fake0007:0 = let me think',
    'text msg_fake0007:1 + thought about it',
    'text msg_fake0007:1 = thought about it',
    'completed',
  ],
  'tool-denied': [
    'accepted 1',
    INIT,
    `text msg_fake0020:0 = ${CALL}`,
    'tool toolu_fake0019 Bash',
    'asked tool Bash toolu_fake0019',
    'error toolu_fake0019 The user said no.',
    'text msg_fake0022:0 = tool said: ERROR The user said no.',
    'completed',
    'accepted 12',
    INIT,
    `text msg_fake0025:0 = ${CALL}`,
    'tool toolu_fake0024 Bash',
    'asked tool Bash toolu_fake0024',
    "error toolu_fake0024 The user doesn't want to proceed ",
    'interrupted',
  ],
  interrupt: [
    'accepted 1',
    INIT,
    'text msg_fake0032:0 + chunk0 ',
    'text msg_fake0032:0 + chunk1 ',
    'text msg_fake0032:0 + chunk2 ',
    'text msg_fake0032:0 = chunk0 chunk1 chunk2  (aborted)',
    'interrupted',
    'accepted 18',
    INIT,
    `text msg_fake0035:0 + ${CALL}`,
    `text msg_fake0035:0 = ${CALL}`,
    'tool toolu_fake0034 Bash',
    'asked tool Bash toolu_fake0034',
    'withdrawn',
    "error toolu_fake0034 The user doesn't want to proceed ",
    'interrupted',
    'accepted 40',
    INIT,
    'text msg_fake0037:0 + echo: ',
    'text msg_fake0037:0 + still there',
    'text msg_fake0037:0 = echo: still there',
    'completed',
  ],
  'queued-messages': [
    'accepted 1',
    INIT,
    'accepted 6',
    'accepted 7',
    'text msg_fake0039:0 = chunk0 chunk1 chunk2 chunk3 chunk4 chunk5 chunk6 chunk7 ',
    'completed',
    INIT,
    'text msg_fake0041:0 = echo: queued A\n\nqueued B',
    'completed',
  ],
  'set-mode-and-model': [
    'accepted 1',
    INIT,
    'text msg_fake0078:0 = echo: hello',
    'completed',
    'mode code',
    'notice request_refused',
    'notice request_refused',
    'accepted 8',
    'init claude-haiku-5-5',
    `text msg_fake0081:0 = ${CALL}`,
    'tool toolu_fake0080 Write',
    'output toolu_fake0080 File created successfully at: /h',
    'text msg_fake0083:0 = tool said: File created successfully at: /home/dev/project/out.txt' +
      ' (file state is current in your context — no need to Read it back)',
    'completed',
  ],
  'prewarm-claim': [
    'accepted 3',
    'init claude-haiku-5-5',
    'text msg_fake0085:0 = echo: hello after claim',
    'completed',
  ],
}

for (const [name, expected] of Object.entries(STORIES)) {
  test(`the recording ${name} tells its story`, () => {
    assert.deepEqual(story(translate(recorded(name))), expected)
  })
}

test('deltas add up to the completed message of the same id in every recording', () => {
  for (const name of NAMES) {
    const outputs = translate(recorded(name))
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
    for (const [messageId, text] of streamed) {
      assert.equal(completed.find((it) => it.messageId === messageId)?.text, text, `${name} ${messageId}`)
    }
  }
})

test('without a stream the blocks have the same ids', () => {
  for (const name of ['streamed-partials', 'tool-allowed', 'interrupt']) {
    const lines = recorded(name)
    const whole = lines.filter((line) => (line as { type: string }).type !== 'stream_event')
    assert.deepEqual(
      only(translate(whole), 'message.completed'),
      only(translate(lines), 'message.completed'),
      name,
    )
  }
})

test('every tool call that starts is completed once', () => {
  for (const name of NAMES) {
    const outputs = translate(recorded(name))
    const started = only(outputs, 'tool.started').map((it) => it.callId)
    const completed = only(outputs, 'tool.completed').map((it) => it.callId)
    assert.deepEqual(completed, started, name)
  }
})

test('a question for permission carries what is needed to show and to answer it', () => {
  const [asked] = only(translate(recorded('tool-allowed')), 'approval.asked')
  assert.deepEqual(asked!.approval, {
    id: '00000018-0000-4000-8000-000000000000',
    requestId: '00000018-0000-4000-8000-000000000000',
    kind: 'tool',
    tool: 'Bash',
    input: { command: 'touch made.txt', description: 'fake command' },
    callId: 'toolu_fake0009',
    summary: 'fake command',
    suggestions: [
      {
        type: 'addRules',
        rules: [{ toolName: 'Bash', ruleContent: 'touch made.txt' }],
        behavior: 'allow',
        destination: 'localSettings',
      },
      { type: 'addDirectories', directories: ['/home/dev/project'], destination: 'session' },
      { type: 'setMode', mode: 'acceptEdits', destination: 'session' },
    ],
    parent: null,
  })
})

test('AskUserQuestion is a question and its answer a tool output', () => {
  const outputs = translate(recorded('ask-user-question'))
  const [asked] = only(outputs, 'approval.asked')
  assert.equal(asked!.approval.kind, 'question')
  assert.equal(asked!.approval.callId, only(outputs, 'tool.completed')[0]!.callId)
  assert.match(only(outputs, 'tool.completed')[0]!.output, /"Red or blue\?"="Blue"/)
})

test('a denial without a host is a notice, and the turn completes', () => {
  const outputs = translate(recorded('tool-auto-denied-no-host'))
  const [notice] = only(outputs, 'agent.notice')
  assert.equal(notice!.code, 'permission_denied')
  assert.deepEqual(notice!.data, { tool: 'Bash', callId: 'toolu_fake0027' })
  assert.equal(only(outputs, 'turn.ended')[0]!.outcome, 'completed')
})

test('a turn says what it used, and its cost is its own', () => {
  const ends = only(translate(recorded('tool-allowed')), 'turn.ended')
  const usage = {
    inputTokens: 22,
    outputTokens: 8,
    cacheReadTokens: 14,
    cacheWriteTokens: 0,
    costUsd: 0.0002508,
    modelCalls: 2,
  }
  assert.deepEqual(
    ends.map((it) => it.usage),
    [
      { ...usage, durationMs: 366 },
      { ...usage, durationMs: 201 },
    ],
  )
})

test('after a resume the cost is that of the turn, not of the conversation', () => {
  for (const proc of [1, 2, 3]) {
    const [end] = only(translate(recorded('resume', proc)), 'turn.ended')
    assert.equal(end!.usage.costUsd, 0.00008539999999999999)
  }
})

test('without usage since the last result the cost is the growth of the total', () => {
  const costs = [0.5, 0.75].map((total_cost_usd) => ({ type: 'result', total_cost_usd }))
  assert.deepEqual(
    only(translate(costs), 'turn.ended').map((it) => it.usage.costUsd),
    [0.5, 0.25],
  )
})

test('a fork is a new conversation, a resume the same', () => {
  const ids = [1, 2, 3].map((proc) => only(translate(recorded('resume', proc)), 'agent.init')[0]!.nativeId)
  assert.equal(ids[0], ids[1])
  assert.notEqual(ids[0], ids[2])
})

test('an error of the model fails the turn with its status and in Claude’s own words', () => {
  const failures = [1, 2, 3, 4].map((proc) => {
    const outputs = translate(recorded('model-error', proc))
    assert.equal(only(outputs, 'message.completed').length, 0)
    const [end] = only(outputs, 'turn.ended')
    assert.equal(end!.outcome, 'failed')
    return [end!.error?.code, end!.error?.detail?.status, end!.error?.message.slice(0, 21)]
  })
  assert.deepEqual(failures, [
    ['model_error', 429, 'API Error: Request re'],
    ['model_error', 500, 'API Error: 500 fake 5'],
    ['model_error', 529, 'API Error: 529 fake 5'],
    ['model_error', 400, 'API Error: 400 fake 4'],
  ])
})

test('a retry is a warning that names attempt and status', () => {
  const [notice] = only(translate(recorded('model-error', 1)), 'agent.notice')
  assert.equal(notice!.code, 'model_retry')
  assert.equal(notice!.message, 'The model answered with status 429 (rate_limit); attempt 1 of 1 in 1.0 s.')
  assert.deepEqual(notice!.data, {
    attempt: 1,
    maxRetries: 1,
    delayMs: 1000,
    status: 429,
    error: 'rate_limit',
  })
})

const failed = (line: object, ...before: unknown[]) =>
  only(translate([...before, { type: 'result', is_error: true, ...line }]), 'turn.ended')[0]!.error

test('failures have stable codes', () => {
  const lost = 'No conversation found with session ID: 6c4b054f'
  assert.deepEqual(failed({ subtype: 'error_during_execution', errors: [lost] }), {
    code: 'conversation_lost',
    message: lost,
  })
  assert.equal(failed({ subtype: 'error_max_turns', errors: ['Reached maximum'] })?.code, 'limit')
  assert.equal(failed({ subtype: 'error_max_budget_usd' })?.code, 'limit')
  assert.equal(failed({ terminal_reason: 'api_error', api_error_status: null })?.code, 'model_error')
  assert.equal(failed({ startup_failure_reason: 'bypass_root' })?.detail?.reason, 'bypass_root')
  assert.equal(failed({})?.code, 'agent_error')
  assert.ok(failed({})?.message)
})

test('not being signed in is told apart from a model that refuses the key', () => {
  const text = 'Not logged in · Please run /login'
  const message = { model: '<synthetic>', content: [{ type: 'text', text }] }
  const synthetic = { type: 'assistant', error: 'authentication_failed', message }
  const end = { terminal_reason: 'api_error', api_error_status: null, result: text }
  assert.deepEqual(failed(end, synthetic), { code: 'not_signed_in', message: text })
  assert.equal(failed({ ...end, api_error_status: 401 }, synthetic)?.code, 'model_error')
})

test('a turn that Claude started itself does not end ours', () => {
  const origin = { kind: 'task-notification' }
  const own = { type: 'result', is_error: false, result: 'the task is done', origin }
  assert.deepEqual(story(translate([own])), ['notice background_turn'])
  assert.deepEqual(story(translate([{ ...own, user_message_uuids: ['u'] }])), ['completed'])
})

test('what a sub-agent does names the tool call it belongs to', () => {
  const from = { parent_tool_use_id: 'toolu_task', agent_id: 'agent1' }
  const block = { type: 'tool_use', id: 'toolu_sub', name: 'Bash', input: {} }
  const outputs = translate([
    { type: 'assistant', ...from, message: { id: 'm', content: [block] } },
    {
      type: 'control_request',
      request_id: 'r',
      request: { subtype: 'can_use_tool', tool_name: 'Bash', tool_use_id: 'toolu_sub', agent_id: 'agent1' },
    },
    {
      type: 'user',
      ...from,
      message: { content: [{ type: 'tool_result', tool_use_id: 'toolu_sub', content: 'done' }] },
    },
  ])
  assert.equal(only(outputs, 'tool.started')[0]!.parent, 'toolu_task')
  assert.equal(only(outputs, 'approval.asked')[0]!.approval.parent, 'toolu_task')
  assert.equal(only(outputs, 'tool.completed')[0]!.parent, 'toolu_task')
})

test('a mode that Claude takes by itself is observed, one that we set is not', () => {
  const init = { type: 'system', subtype: 'init', permissionMode: 'plan' }
  const status = { type: 'system', subtype: 'status', status: null, permissionMode: 'default' }
  const answer = { subtype: 'success', request_id: 'mode:1', response: { mode: 'default' } }
  assert.deepEqual(only(translate([init, status]), 'mode.observed'), [{ type: 'mode.observed', mode: 'ask' }])
  assert.deepEqual(only(translate([init, status, status]), 'mode.observed').length, 1)
  assert.deepEqual(
    only(translate([init, { type: 'control_response', response: answer }, status]), 'mode.observed'),
    [],
  )
  assert.deepEqual(only(translate([status]), 'mode.observed'), [])
})

test('answers to our own requests say what matters', () => {
  const answer = (response: object) => translate([{ type: 'control_response', response }])
  assert.deepEqual(answer({ subtype: 'success', request_id: 'barrier:b:1' }), [
    { type: 'barrier.reached', id: 'b:1' },
  ])
  for (const id of ['interrupt:1', 'mode:1', 'model:1', 'claim:1', 'initialize:1', 'end:1', 'mcp:1']) {
    assert.deepEqual(answer({ subtype: 'success', request_id: id, response: {} }), [])
  }
  const refused = answer({ subtype: 'error', request_id: 'claim:1', error: 'cwd_not_found: no' })
  assert.equal(only(refused, 'agent.notice')[0]!.code, 'claim_failed')
  const errors = { files: 'spawn ENOENT' }
  const servers = answer({ subtype: 'success', request_id: 'mcp:1', response: { errors } })
  assert.equal(only(servers, 'agent.notice')[0]!.code, 'mcp_failed')
})

test('tool output of many forms is text', () => {
  const output = (content: unknown) => {
    const block = { type: 'tool_result', tool_use_id: 't', content }
    return only(translate([{ type: 'user', message: { content: [block] } }]), 'tool.completed')[0]!.output
  }
  assert.equal(output('plain'), 'plain')
  assert.equal(
    output([
      { type: 'text', text: 'a' },
      { type: 'image', source: {} },
    ]),
    'a\n[image]',
  )
  assert.equal(output(undefined), '')
})

test('tool output is cut at 256 KiB, between characters', () => {
  const block = { type: 'tool_result', tool_use_id: 't', content: `x${'é'.repeat(140_000)}` }
  const [done] = only(translate([{ type: 'user', message: { content: [block] } }]), 'tool.completed')
  assert.equal(Buffer.byteLength(done!.output), 256 * 1024 - 1)
  assert.equal(done!.cut, 280_001 - (256 * 1024 - 1))
  assert.ok(done!.output.endsWith('é'))
})

test('what nobody knows is passed on, up to a bound', () => {
  assert.deepEqual(translate([{ type: 'news', a: 1 }]), [
    { type: 'agent.other', kind: 'news', raw: { type: 'news', a: 1 } },
  ])
  const [task] = only(translate([{ type: 'system', subtype: 'task_started' }]), 'agent.other')
  assert.equal(task!.kind, 'system/task_started')
  const request = { type: 'control_request', request_id: 'r', request: { subtype: 'mcp_message' } }
  assert.equal(only(translate([request]), 'agent.other')[0]!.kind, 'control_request/mcp_message')
  const [long] = only(translate([{ type: 'news', text: 'x'.repeat(100_000) }]), 'agent.other')
  assert.equal((long!.raw as string).length, 64 * 1024 + 1)
})

test('the init line is kept, without its longest lists when it is too long', () => {
  const line = {
    type: 'system',
    subtype: 'init',
    session_id: 's',
    tools: ['Bash'],
    skills: ['x'.repeat(20_000)],
  }
  const [init] = only(translate([line]), 'agent.init')
  assert.deepEqual(init!.raw, { type: 'system', subtype: 'init', session_id: 's', tools: ['Bash'] })
})

test('chatter makes no output', () => {
  const chatter = [
    { type: 'system', subtype: 'status', status: 'requesting' },
    { type: 'system', subtype: 'thinking_tokens' },
    { type: 'system', subtype: 'session_state_changed', state: 'idle' },
    { type: 'user', message: { content: [{ type: 'text', text: '[Request interrupted by user]' }] } },
    { type: 'user', isReplay: true, message: { content: '<local-command-stdout>x</local-command-stdout>' } },
    { type: 'command_lifecycle', command_uuid: 'u', state: 'completed' },
  ]
  assert.deepEqual(translate(chatter), [])
})

test('a recording read again from the start, or from a state that was stored, gives the same outputs', () => {
  for (const name of NAMES) {
    const lines = recorded(name)
    const whole = translate(lines)
    let state = claudeTranslator.initial()
    const before: AgentOutput[] = []
    for (const [index, line] of lines.entries()) {
      const stored = JSON.parse(JSON.stringify(state)) as typeof state
      assert.deepEqual([...before, ...translate(lines.slice(index), stored)], whole, `${name} at ${index}`)
      const step = claudeTranslator.step(Object.freeze(state), line)
      state = step.state
      before.push(...step.outputs)
    }
  }
})

/** Small, fast, the same on every machine. */
function random(seed: number): () => number {
  let a = seed
  return () => {
    a = (a + 0x6d2b79f5) | 0
    let t = Math.imul(a ^ (a >>> 15), 1 | a)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

const ODD: unknown[] = [
  null,
  0,
  -1,
  1e308,
  '',
  'x',
  true,
  [],
  {},
  [null],
  { toString: 1 },
  [[{}]],
  '__proto__',
]

function mutate(value: unknown, next: () => number): unknown {
  if (next() < 0.08) return ODD[Math.floor(next() * ODD.length)]
  if (Array.isArray(value)) return value.map((item) => mutate(item, next))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(() => next() > 0.04)
  return Object.fromEntries(entries.map(([key, item]) => [key, mutate(item, next)]))
}

test('no line, however odd, makes the translator throw', () => {
  const next = random(42)
  const lines = NAMES.flatMap((name) => recorded(name))
  let state = claudeTranslator.initial()
  for (let i = 0; i < 2000; i++) {
    const line = mutate(lines[Math.floor(next() * lines.length)], next)
    const step = claudeTranslator.step(state, line)
    assert.ok(Array.isArray(step.outputs))
    state = step.state
  }
  for (const odd of ODD) claudeTranslator.step(state, odd)
  const types = [
    'stream_event',
    'assistant',
    'user',
    'system',
    'result',
    'control_request',
    'control_response',
  ]
  for (const type of types) claudeTranslator.step(state, { type })
  const deep = JSON.parse('['.repeat(50_000) + ']'.repeat(50_000)) as unknown
  claudeTranslator.step(state, { type: 'news', deep })
  assert.ok(JSON.stringify(state).length < 100_000)
})
