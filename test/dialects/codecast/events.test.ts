import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptyConversation, step } from '../../../src/core/conversation/conversation.ts'
import { type EventBody, LoggedEvent } from '../../../src/core/event.ts'
import { NO_USAGE } from '../../../src/core/usage.ts'
import { createTurnMapper } from '../../../src/dialects/codecast/events.ts'
import type { WireEvent } from '../../../src/dialects/codecast/wire.ts'

const TURN = 'turn-1'

function logged(bodies: EventBody[], turnId: string | null = TURN): LoggedEvent[] {
  return bodies.map((body, at) => LoggedEvent.of({ seq: at + 1, at: 0, sessionId: 's', turnId, ...body }))
}

/** A mapper of all that follows these events. */
function mapper(...before: EventBody[]) {
  const conversation = emptyConversation()
  for (const { event } of logged(before)) step(conversation, event)
  return createTurnMapper({
    turnId: TURN,
    conversation: () => conversation,
    nativeId: () => 'native',
    isOpen: (id) => id !== 'decided',
  })
}

function mapped(...bodies: EventBody[]): WireEvent[] {
  return mapper()
    .map(logged(bodies))
    .flatMap((one) => one.events)
}

const approval = {
  id: 'a1',
  requestId: 'r1',
  kind: 'tool' as const,
  tool: 'Bash',
  input: { command: 'ls' },
  edits: false,
  callId: null,
  summary: 'Bash: ls',
  suggestions: null,
  parent: null,
}
const usage = {
  ...NO_USAGE,
  inputTokens: 1,
  outputTokens: 2,
  cacheReadTokens: 3,
  cacheWriteTokens: 4,
  modelCalls: 5,
  durationMs: 6,
  costUsd: 0.5,
}

test('the first line of an agent is a system init with what is known', () => {
  assert.deepEqual(mapped({ type: 'agent.init', nativeId: 'n', model: 'm', version: '1', raw: { a: 1 } }), [
    { type: 'system', subtype: 'init', session_id: 'n', model: 'm', raw: { a: 1 } },
  ])
  assert.deepEqual(mapped({ type: 'agent.init', nativeId: null, model: null, version: null, raw: 1 }), [
    { type: 'system', subtype: 'init', raw: 1 },
  ])
})

test('other system lines pass with their subtype, unknown lines do not', () => {
  assert.deepEqual(
    mapped(
      { type: 'agent.other', kind: 'system/compact_boundary', raw: { b: 2 } },
      { type: 'agent.other', kind: 'whatever', raw: {} },
    ),
    [{ type: 'system', subtype: 'compact_boundary', raw: { b: 2 } }],
  )
})

test('a notice is a system event under its code', () => {
  assert.deepEqual(
    mapped({ type: 'agent.notice', level: 'warning', code: 'retry', message: 'again', data: null }),
    [{ type: 'system', subtype: 'retry', raw: { level: 'warning', message: 'again', data: null } }],
  )
})

test('text is partial while it streams and text when it is complete', () => {
  assert.deepEqual(
    mapped(
      { type: 'message.delta', messageId: 'm', kind: 'text', text: 'He', parent: null },
      {
        type: 'message.completed',
        messageId: 'm',
        kind: 'text',
        text: 'Hello',
        parent: null,
        aborted: false,
      },
    ),
    [
      { type: 'partial', content: 'He' },
      { type: 'text', content: 'Hello' },
    ],
  )
})

test('thinking and the text of sub-agents are not mixed into the answer', () => {
  assert.deepEqual(
    mapped(
      { type: 'message.delta', messageId: 'm', kind: 'thinking', text: 'hm', parent: null },
      {
        type: 'message.completed',
        messageId: 'm',
        kind: 'thinking',
        text: 'hm',
        parent: null,
        aborted: false,
      },
      { type: 'message.delta', messageId: 'n', kind: 'text', text: 'sub', parent: 'call' },
      {
        type: 'message.completed',
        messageId: 'n',
        kind: 'text',
        text: 'sub',
        parent: 'call',
        aborted: false,
      },
    ),
    [],
  )
})

test('a tool is shown with its input, then by name with its output', () => {
  assert.deepEqual(
    mapped(
      { type: 'tool.started', callId: 'c', tool: 'Bash', input: { command: 'ls' }, parent: null },
      { type: 'tool.completed', callId: 'c', output: 'a\nb', isError: false, parent: null, cut: 0 },
      { type: 'tool.completed', callId: 'lost', output: 'y', isError: false, parent: null, cut: 0 },
    ),
    [
      { type: 'tool_use', tool: 'Bash', input: { command: 'ls' } },
      { type: 'tool_use', tool: 'Bash', message: 'a\nb' },
      { type: 'tool_use', message: 'y' },
    ],
  )
})

test('the result of a call that began before has its name too', () => {
  const later = mapper({ type: 'tool.started', callId: 'old', tool: 'Old', input: {}, parent: null }).map(
    logged([{ type: 'tool.completed', callId: 'old', output: 'x', isError: true, parent: null, cut: 0 }]),
  )
  assert.deepEqual(
    later.flatMap(({ events }) => events),
    [{ type: 'tool_use', tool: 'Old', message: 'x', is_error: true }],
  )
})

const ASKING = { external: false, timeoutAt: null }

test('an open approval is told, and so is its decision', () => {
  const m = mapper()
  const events = [
    ...m.map(logged([{ type: 'approval.requested', turnId: TURN, approval, open: true, ...ASKING }])),
    ...m.map(
      logged([{ type: 'approval.resolved', approvalId: 'a1', decision: { behavior: 'allow' }, by: 'x' }]),
    ),
  ].flatMap((one) => one.events)
  assert.deepEqual(events, [
    {
      type: 'system',
      subtype: 'approval_requested',
      raw: { approvalId: 'a1', kind: 'tool', tool: 'Bash', input: { command: 'ls' }, summary: 'Bash: ls' },
    },
    {
      type: 'error',
      code: 'approval_waiting',
      message:
        'Not an error: the agent waits for you to allow Bash: ls\n' +
        'Say yes with `corral approve a1`, no with `corral deny a1`, or answer in any other client of this daemon. ' +
        'Mode auto lets it and all that follows pass. To give up, interrupt the turn.',
    },
    { type: 'system', subtype: 'approval_resolved', raw: { approvalId: 'a1', behavior: 'allow', by: 'x' } },
  ])
})

test('what waits is told in words: a command as it is, a question, a plan; what has been decided since is not', () => {
  const words = (patch: object): string[] =>
    mapped({
      type: 'approval.requested',
      turnId: TURN,
      approval: { ...approval, ...patch },
      open: true,
      ...ASKING,
    })
      .flatMap((event) => (event.type === 'error' ? [event.message] : []))
      .map((message) => message.split('\n')[0]!)
  assert.deepEqual(words({ input: { command: 'a\n\tb' }, summary: 'harmless' }), [
    'Not an error: the agent waits for you to allow Bash: a b',
  ])
  assert.deepEqual(words({ tool: 'Odd', input: { x: 1 } }), [
    'Not an error: the agent waits for you to allow Odd: {"x":1}',
  ])
  assert.ok(words({ input: { command: 'x'.repeat(1e6) } })[0]!.length < 400)
  const questions = [{ question: 'Red?' }, { question: 'Why?' }]
  assert.deepEqual(words({ kind: 'question', input: { questions } }), [
    'Not an error: the agent asks a question and waits: Red? Why?',
  ])
  assert.deepEqual(words({ kind: 'plan' }), ['Not an error: the agent waits for you to agree to its plan'])
  assert.deepEqual(words({ id: 'decided' }), [])
})

const resolved = { type: 'approval.resolved', approvalId: 'a1', decision: { behavior: 'allow' } } as const

test('whether an approval is told does not depend on where a batch ends', () => {
  const subtypes = (asked: boolean, ...batches: number[]): unknown[] => {
    const m = mapper()
    const all = logged([
      { type: 'approval.requested', turnId: TURN, approval, open: asked, ...ASKING },
      { ...resolved, by: asked ? 'cli' : 'mode:auto', asked },
    ])
    return batches
      .flatMap((size) => m.map(all.splice(0, size)))
      .flatMap(({ events }) => events)
      .flatMap((event) => (event.type === 'system' ? [event.subtype] : []))
  }
  for (const batches of [[2], [1, 1]]) {
    assert.deepEqual(subtypes(true, ...batches), ['approval_requested', 'approval_resolved'])
    assert.deepEqual(subtypes(false, ...batches), [])
  }
})

test('the answer to a question that was not asked in this turn is not told in it', () => {
  const outside: EventBody = {
    type: 'approval.requested',
    turnId: null,
    approval,
    open: true,
    external: true,
    timeoutAt: null,
  }
  assert.deepEqual(mapper(outside).map(logged([{ ...resolved, by: 'cli', asked: true }])), [])
})

test('a completed turn is a result with the conversation, the usage and the cost', () => {
  assert.deepEqual(mapped({ type: 'turn.completed', turnId: TURN, usage, text: 'Hi' }), [
    {
      type: 'result',
      session_id: 'native',
      raw: {
        type: 'result',
        subtype: 'success',
        is_error: false,
        duration_ms: 6,
        num_turns: 5,
        total_cost_usd: 0.5,
        usage: {
          input_tokens: 1,
          output_tokens: 2,
          cache_read_input_tokens: 3,
          cache_creation_input_tokens: 4,
        },
        session_id: 'native',
        result: 'Hi',
      },
    },
  ])
})

test('a failed turn is an error that says why', () => {
  const error = { code: 'agent_exited', message: 'Demo exited with code 3', detail: { stderr: 'no disk\n' } }
  assert.deepEqual(mapped({ type: 'turn.failed', turnId: TURN, usage, error }), [
    { type: 'error', message: 'Demo exited with code 3\nno disk', code: 'agent_exited' },
  ])
})

test('an interrupted, a cancelled and a destroyed turn are interrupted', () => {
  assert.deepEqual(mapped({ type: 'turn.interrupted', turnId: TURN, usage }), [{ type: 'interrupted' }])
  assert.deepEqual(mapped({ type: 'turn.cancelled', turnId: TURN, reason: 'queue cleared' }), [
    { type: 'interrupted', message: 'queue cleared' },
  ])
  assert.deepEqual(mapped({ type: 'session.destroyed' }), [{ type: 'interrupted' }])
})

test('other turns are passed over and nothing follows the end', () => {
  const m = mapper()
  const delta: EventBody = { type: 'message.delta', messageId: 'm', kind: 'text', text: 'x', parent: null }
  assert.deepEqual(m.map(logged([delta], 'turn-2')), [])
  assert.deepEqual(m.map(logged([delta], null)), [])
  assert.equal(m.ended, false)
  const events = m.map(logged([delta, { type: 'turn.interrupted', turnId: TURN, usage }, delta]))
  assert.deepEqual(
    events.map((one) => [one.seq, one.events[0]?.type]),
    [
      [1, 'partial'],
      [2, 'interrupted'],
    ],
  )
  assert.equal(m.ended, true)
  assert.deepEqual(m.map(logged([delta])), [])
})

test('type comes first in every object', () => {
  const all = mapped(
    { type: 'agent.init', nativeId: 'n', model: 'm', version: '1', raw: {} },
    { type: 'tool.started', callId: 'c', tool: 'T', input: {}, parent: null },
    { type: 'turn.completed', turnId: TURN, usage, text: null },
  )
  for (const event of all) assert.equal(Object.keys(event)[0], 'type')
})

test('what is not for Codecast maps to nothing', () => {
  assert.deepEqual(
    mapped(
      { type: 'turn.queued', turnId: TURN, input: [], key: null, origin: null, position: 0 },
      { type: 'turn.started', turnId: TURN },
      { type: 'turn.accepted', turnId: TURN },
      { type: 'turn.retried', turnId: TURN, reason: 'x' },
      { type: 'turn.interrupting', turnId: TURN },
      { type: 'session.status', status: 'running', previous: 'idle', outcome: null },
      { type: 'session.changed', mode: 'ask' },
      { type: 'approval.delivered', approvalId: 'a' },
    ),
    [],
  )
})

test('what the user said to the running turn is a system event at its place', () => {
  const input = [{ type: 'text' as const, text: 'rather this' }]
  const common = { turnId: TURN, steerId: 'x1', input, origin: null }
  assert.deepEqual(
    mapped({ type: 'turn.steered', ...common, key: null }, { type: 'turn.steer_accepted', ...common }),
    [{ type: 'system', subtype: 'steered', raw: { message: 'rather this' } }],
  )
})
