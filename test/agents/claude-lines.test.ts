import assert from 'node:assert/strict'
import { test } from 'node:test'
import { claudeTranslator } from '../../src/agents/claude/translator.ts'
import type { DriverOutput } from '../../src/agents/output.ts'
import { NAMES, only, recorded, story, translate } from './claude-recordings.ts'

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

test('what a sub-agent has used is told with the end of its call: its messages, each once, and the last one', () => {
  const usage = (input: number, output: number) => ({ input_tokens: input, output_tokens: output })
  const said = (id: string, input: number, output: number) => ({
    type: 'assistant',
    parent_tool_use_id: 'task',
    message: { id, content: [{ type: 'text', text: id }], usage: usage(input, output) },
  })
  const done = (id: string, result: object) => ({
    type: 'user',
    parent_tool_use_id: null,
    message: { content: [{ type: 'tool_result', tool_use_id: id, content: 'done' }] },
    tool_use_result: result,
  })
  const used = (...lines: object[]) => {
    const told = only(translate(lines), 'tool.completed')[0]!.usage
    return told && [told.inputTokens, told.outputTokens, told.modelCalls, told.durationMs]
  }
  const end = { agentId: 'a', usage: usage(30, 8), totalDurationMs: 500 }
  const messages = [said('m1', 10, 1), said('m1', 10, 4), said('m2', 20, 2)]
  assert.deepEqual(used(...messages, done('task', end)), [60, 14, 3, 500])
  assert.deepEqual(
    used(...messages, said('m3', 30, 1), done('task', end)),
    [60, 14, 3, 500],
    'an older version',
  )
  assert.deepEqual(used(done('task', end)), [30, 8, 1, 500])
  assert.deepEqual(used(...messages, done('task', {})), [30, 6, 2, 0], 'it was cut off')
  assert.equal(used(done('other', { usage: usage(1, 1) })), undefined, 'no sub-agent')
})

test('a turn that is completed names the line that it ends with, which can be branched off', () => {
  const [ended] = only(translate(recorded('simple-turn')), 'turn.ended')
  const lines = recorded('simple-turn') as { type: string; uuid?: string }[]
  assert.equal(ended!.branch, lines.find(({ type }) => type === 'assistant')!.uuid)
  const below = {
    type: 'assistant',
    uuid: 'x',
    parent_tool_use_id: 'task',
    message: { id: 'm', content: [] },
  }
  const [without] = only(translate([below, { type: 'result', is_error: false, result: '' }]), 'turn.ended')
  assert.equal(without!.branch, undefined)
})

test('a turn that Claude started itself does not end ours', () => {
  const origin = { kind: 'task-notification' }
  const own = { type: 'result', is_error: false, result: 'the task is done', origin }
  assert.deepEqual(story(translate([own])), ['notice background_turn'])
  assert.deepEqual(story(translate([{ ...own, user_message_uuids: ['u'] }])), ['completed'])
})

/** What an older version would have written: nothing that says which message it has. */
function asOlder(lines: unknown[]): unknown[] {
  return (lines as Record<string, unknown>[])
    .filter(({ type }) => type !== 'command_lifecycle')
    .map(({ capabilities: _c, user_message_uuid: _u, user_message_uuids: _us, ...line }) => line)
}

test('an older version proves with its first line of a turn that it has the message, once a turn', () => {
  for (const name of NAMES) {
    const told = translate(recorded(name)).map(({ type }) => type)
    const older = translate(asOlder(recorded(name))).map(({ type }) => type)
    const count = (types: string[], wanted: string) => types.filter((type) => type === wanted).length
    assert.equal(count(older, 'turn.begun'), count(told, 'turn.accepted'), name)
    assert.equal(count(told, 'turn.begun'), 0, `${name}: who says it need not prove it`)
    const words = older.filter((type) => /^(turn\.|message\.|tool\.|approval\.)/.test(type))
    const first = words.filter((_, index) => index === 0 || words[index - 1] === 'turn.ended')
    assert.deepEqual([...new Set(first)], ['turn.begun'], name)
  }
})

test('what is left of the turn before proves nothing, nor does a turn that Claude began by itself', () => {
  const begun = (...lines: unknown[]) => only(translate(lines), 'turn.begun').length
  const end = { type: 'result', is_error: false, result: 'fine' }
  const content = [{ type: 'text', text: 'x' }]
  const late = [
    { type: 'assistant', parent_tool_use_id: 'task', message: { id: 'm', content } },
    {
      type: 'user',
      message: { role: 'user', content: '<local-command-stdout>Set model</local-command-stdout>' },
    },
    { type: 'system', subtype: 'status', status: null, permissionMode: 'plan' },
    { type: 'control_response', response: { subtype: 'error', request_id: 'barrier:1', error: 'no' } },
  ]
  assert.equal(begun(end, ...late), 0)
  const init = { type: 'system', subtype: 'init', model: 'm' }
  assert.equal(begun(end, ...late, init, ...late, end, init), 2)
  assert.equal(begun({ type: 'assistant', message: { id: 'm', content } }), 1)
  assert.equal(begun({ ...init, capabilities: ['msg_lifecycle_v1'] }), 0)
  assert.equal(begun({ type: 'command_lifecycle', command_uuid: 'u', state: 'completed' }, init), 0)
})

test('a model that Claude falls back on is told, and the line with it', () => {
  const line = { type: 'system', subtype: 'model_fallback', original_model: 'big', fallback_model: 'small' }
  assert.deepEqual(translate([line]), [
    { type: 'agent.model', model: 'small' },
    { type: 'agent.other', kind: 'system/model_fallback', raw: line },
  ])
  const types = (more: object) => translate([{ ...line, ...more }]).map(({ type }) => type)
  assert.deepEqual(types({ subtype: 'model_refusal_fallback', scope: 'session' }), [
    'agent.model',
    'agent.other',
  ])
  assert.deepEqual(types({ subtype: 'model_refusal_fallback', scope: 'local' }), ['agent.other'])
  assert.deepEqual(types({ fallback_model: 7 }), ['agent.other'])
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
    const before: DriverOutput[] = []
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

const life = (id: number, state: string) => ({
  type: 'command_lifecycle',
  command_uuid: `${String(id).padStart(8, '0')}-0000`,
  state,
})
const RESULT = { type: 'result', is_error: false, result: 'done' }

test('a second message is taken into the turn, or started by itself after it', () => {
  const lines = [life(1, 'queued'), life(1, 'started'), life(2, 'queued'), life(2, 'queued')]
  const arrived = ['accepted 1', 'steer.arrived 2']
  const taken = [life(2, 'started'), life(2, 'completed'), RESULT, life(1, 'completed')]
  assert.deepEqual(story(translate([...lines, ...taken])), [...arrived, 'steer.taken 2', 'completed'])
  const late = [RESULT, life(1, 'completed'), life(2, 'started'), RESULT, life(2, 'completed')]
  const story2 = [...arrived, 'completed', 'accepted 2', 'completed']
  assert.deepEqual(story(translate([...lines, ...late])), story2)
  assert.deepEqual(story(translate(late.slice(1))), ['accepted 2', 'completed'], 'from its first line, too')
  const back = [life(2, 'cancelled'), RESULT, life(3, 'queued'), life(3, 'started')]
  assert.deepEqual(story(translate([...lines, ...back])), [...arrived, 'completed', 'accepted 3'])
})

test('a turn of its own accord does not end the message that waits for it', () => {
  const own = { ...RESULT, origin: { kind: 'task-notification' } }
  const lines = [life(1, 'queued'), own, life(1, 'started'), life(2, 'queued'), life(2, 'started'), RESULT]
  assert.deepEqual(story(translate(lines)), [
    'accepted 1',
    'notice background_turn',
    'steer.arrived 2',
    'steer.taken 2',
    'completed',
  ])
})

test('calls of the client’s tools are told together, when the model has made all of them', () => {
  const call = (id: string) => ({
    type: 'control_request',
    request_id: `r-${id}`,
    request: {
      subtype: 'mcp_message',
      server_name: 'client',
      message: {
        id: 1,
        method: 'tools/call',
        params: { name: 'look', arguments: {}, _meta: { 'claudecode/toolUseId': id } },
      },
    },
  })
  const event = (type: string) => ({ type: 'stream_event', event: { type, message: { id: 'm' } } })
  const told = (...lines: object[]) => only(translate(lines), 'call.asked').map(({ callId }) => callId)
  const begun = [event('message_start'), call('a'), call('b')]
  assert.deepEqual(told(...begun), [], 'there may be more')
  assert.deepEqual(told(...begun, event('message_stop')), ['a', 'b'])
  assert.deepEqual(
    told(...begun, event('message_stop'), call('c')),
    ['a', 'b', 'c'],
    'none can come after it',
  )
  assert.deepEqual(told(...begun, event('message_start')), ['a', 'b'], 'it has begun another message')
  const withdrawn = { type: 'control_cancel_request', request_id: 'r-a' }
  assert.deepEqual(told(...begun, withdrawn, event('message_stop')), ['b'])
  const end = { type: 'result', is_error: false, result: '' }
  assert.deepEqual(told(...begun, end, event('message_start')), [], 'the turn is over')
})
