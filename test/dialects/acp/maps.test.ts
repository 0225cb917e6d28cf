import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { SessionUpdate } from '@agentclientprotocol/sdk/unstable'
import { emptyConversation, step } from '../../../src/core/conversation/conversation.ts'
import type { Event, EventBody } from '../../../src/core/event.ts'
import { NO_USAGE } from '../../../src/core/usage.ts'
import { contentOf, mcpConfigOf } from '../../../src/dialects/acp/content.ts'
import { asRequestError } from '../../../src/dialects/acp/errors.ts'
import { configOptions, openingOf } from '../../../src/dialects/acp/options.ts'
import { answerOf, elsewhere, requestsFor } from '../../../src/dialects/acp/permission.ts'
import { endingOf, promptResult, updatesOf } from '../../../src/dialects/acp/updates.ts'
import { aQuestion } from '../../support/session.ts'

const CWD = '/project'

describe('what the user says', () => {
  test('is one text, with links where they stand and files at the end', () => {
    const content = contentOf([
      { type: 'text', text: 'Compare ' },
      { type: 'resource_link', uri: 'file:///a.ts', name: 'a.ts' },
      { type: 'text', text: ' with ' },
      { type: 'resource', resource: { uri: 'file:///dir/b.ts', text: 'const b = 1' } },
      { type: 'text', text: ', please.' },
    ])
    const text =
      'Compare [@a.ts](file:///a.ts) with [@b.ts](file:///dir/b.ts), please.' +
      '\n<context ref="file:///dir/b.ts">\nconst b = 1\n</context>'
    assert.deepEqual(content, [{ type: 'text', text }])
  })

  test('has pictures, attached or embedded', () => {
    const content = contentOf([
      { type: 'image', mimeType: 'image/png', data: 'AAAA' },
      { type: 'resource', resource: { uri: 'file:///x.gif', mimeType: 'image/gif', blob: 'BBBB' } },
    ])
    assert.deepEqual(content, [
      { type: 'image', mediaType: 'image/png', data: 'AAAA' },
      { type: 'image', mediaType: 'image/gif', data: 'BBBB' },
    ])
  })

  test('is something', () => {
    assert.throws(() => contentOf([]), /empty/)
    assert.throws(() => contentOf([{ type: 'text', text: '' }]), /empty/)
  })
})

test('MCP servers are configured as in a file', () => {
  assert.equal(mcpConfigOf([]), undefined)
  const servers = mcpConfigOf([
    { name: 'local', command: 'run', args: ['-x'], env: [{ name: 'KEY', value: 'v' }] },
    { type: 'http', name: 'far', url: 'http://127.0.0.1:1/mcp', headers: [{ name: 'A', value: 'b' }] },
  ])
  assert.deepEqual(servers, {
    mcpServers: {
      local: { command: 'run', args: ['-x'], env: { KEY: 'v' } },
      far: { type: 'http', url: 'http://127.0.0.1:1/mcp', headers: { A: 'b' } },
    },
  })
})

describe('permission', () => {
  const selected = (optionId: string) => ({ outcome: 'selected', optionId }) as const
  const cancelled = { outcome: 'cancelled' } as const
  const tool = aQuestion('a1', { input: { command: 'ls' }, callId: 'c1' })

  test('of a tool', () => {
    const [request, ...more] = requestsFor(tool, CWD)
    assert.equal(more.length, 0)
    assert.equal(request!.toolCall.toolCallId, 'c1')
    assert.deepEqual(answerOf(tool, [selected('allow')]), { behavior: 'allow' })
    assert.deepEqual(answerOf(tool, [selected('session')]), { behavior: 'allow', forSession: true })
    const always = { behavior: 'allow', forSession: true, forDirectory: true }
    assert.deepEqual(answerOf(tool, [selected('project')]), always)
    assert.deepEqual(answerOf(tool, [selected('reject')]), { behavior: 'deny', comment: '' })
    for (const nothing of [[], [cancelled], [selected('answer-1')], [selected('')]]) {
      assert.equal(answerOf(tool, nothing), null)
    }
  })

  test('of any tool shows all that is to be allowed', () => {
    const shown = (name: string, input: object) =>
      JSON.stringify(requestsFor(aQuestion('a1', { tool: name, input }), CWD)[0]!.toolCall.content)
    assert.match(shown('command', { command: `echo ${'x'.repeat(300)}; rm -rf ~` }), /rm -rf ~/)
    const changes = ['a', 'b'].map((path) => ({
      path,
      kind: 'update',
      diff: `@@ -1 +1 @@\n-old\n+of ${path}`,
    }))
    assert.match(shown('fileChange', { changes }), /of a.*of b/)
    assert.match(shown('permissions', { permissions: { network: { enabled: true } } }), /network/)
    assert.match(shown('mcp__bank__pay', { description: 'Pay', amount: 500 }), /500/)
    assert.equal(shown('Bash', { command: 'ls' }), '[]')
  })

  test('of a plan is given once, and shows the plan', () => {
    const plan = aQuestion('a2', { kind: 'plan', tool: 'ExitPlanMode', input: { plan: '1. Do it' } })
    const [request] = requestsFor(plan, CWD)
    assert.equal(request!.toolCall.toolCallId, 'a2', 'a call of its own where the agent names none')
    assert.match(JSON.stringify(request!.toolCall.content), /1\. Do it/)
    assert.deepEqual(
      request!.options.map(({ kind }) => kind),
      ['allow_once', 'reject_once'],
    )
    assert.deepEqual(answerOf(plan, [selected('allow')]), { behavior: 'allow' })
    assert.equal(answerOf(plan, [selected('project')]), null)
  })

  const two = aQuestion('an-approval-with-id', {
    kind: 'question',
    input: {
      questions: [
        { question: 'Colour?', options: [{ label: 'Red' }, { label: 'Blue', description: 'as the sky' }] },
        { question: 'Size?', options: [{ label: 'S' }, { label: 'L' }] },
      ],
    },
  })

  test('of questions comes one by one, and needs all the answers', () => {
    const requests = requestsFor(two, CWD)
    assert.deepEqual(
      requests.map(({ toolCall, options }) => [toolCall.title, ...options.map(({ name }) => name)]),
      [
        ['Colour?', 'Red', 'Blue', 'Do not answer'],
        ['Size?', 'S', 'L', 'Do not answer'],
      ],
    )
    const answers = { 'Colour?': 'Blue', 'Size?': 'S' }
    const chosen = [selected('answer-2'), selected('answer-1')]
    assert.deepEqual(answerOf(two, chosen), { behavior: 'allow', answers })
    assert.equal(answerOf(two, [selected('answer-2')]), null)
    assert.equal(answerOf(two, [selected('answer-2'), cancelled]), null)
    const refused = [selected('answer-2'), selected('reject')]
    assert.deepEqual(answerOf(two, refused), { behavior: 'deny', comment: '' })
  })

  test('in words is given elsewhere', () => {
    const words = aQuestion('a3', { kind: 'question', input: { questions: [{ question: 'Why?' }] } })
    assert.deepEqual(requestsFor(words, CWD), [])
    assert.match(elsewhere(words), /Why\?[^]*corral approve a3 --answer "…"/)
    assert.match(elsewhere(two), /corral approve -with-id --answer "…" --answer "…"/)
    const odd = aQuestion('a4', { kind: 'question', input: 'anything' })
    assert.deepEqual(requestsFor(odd, CWD), [])
    assert.match(elsewhere(odd), /"anything"/)
  })
})

describe('events', () => {
  /** What an editor is shown, event by event. */
  function showing() {
    const conversation = emptyConversation()
    let seq = 0
    return (body: EventBody): SessionUpdate[] => {
      const event = { seq: ++seq, at: 0, sessionId: 's1', turnId: 't1', ...body } as Event
      return step(conversation, event).flatMap((change) => updatesOf(change, event, CWD))
    }
  }
  const delta = { type: 'message.delta', messageId: 'm1', kind: 'text', parent: null } as const
  const whole = { ...delta, type: 'message.completed', aborted: false } as const
  const states = (updates: SessionUpdate[]) => updates.map((one) => 'status' in one && one.status)

  test('of a message are told once', () => {
    const shown = showing()
    const told = [
      ...shown({ ...delta, text: 'Hel' }),
      ...shown({ ...delta, text: 'lo ' }),
      ...shown({ ...whole, text: 'Hello world' }),
      ...shown({ ...whole, messageId: 'm2', text: 'Bye' }),
    ]
    assert.deepEqual(
      told.map((one) => one.sessionUpdate === 'agent_message_chunk' && [one.messageId, one.content]),
      [
        ['m1', { type: 'text', text: 'Hel' }],
        ['m1', { type: 'text', text: 'lo ' }],
        ['m1', { type: 'text', text: 'world' }],
        ['m2', { type: 'text', text: 'Bye' }],
      ],
    )
  })

  test('of a sub-agent: its tools, not its words', () => {
    const shown = showing()
    assert.deepEqual(shown({ ...delta, text: 'hm', parent: 'c1' }), [])
    assert.deepEqual(shown({ ...whole, text: 'hm', parent: 'c1' }), [])
    const call = { type: 'tool.started', callId: 'c2', tool: 'Bash', input: {}, parent: 'c1' } as const
    assert.equal(shown(call).length, 1)
  })

  const call = { type: 'tool.started', callId: 'c1', tool: 'Bash', input: {}, parent: null } as const

  test('of tools that are left open end with the turn', () => {
    for (const [end, state] of [
      [{ type: 'turn.completed', turnId: 't1', usage: NO_USAGE, text: null }, 'completed'],
      [{ type: 'turn.interrupted', turnId: 't1', usage: NO_USAGE }, 'failed'],
    ] as const) {
      const shown = showing()
      shown(call)
      assert.deepEqual(states(shown(end)), [state])
      assert.deepEqual(shown(end), [])
    }
  })

  const asking = { type: 'approval.requested', turnId: 't1', external: false, timeoutAt: null } as const
  const resolved = (behavior: 'allow' | 'deny', by = 'cli') => {
    const decision = behavior === 'allow' ? { behavior } : { behavior, comment: '' }
    return { type: 'approval.resolved', approvalId: 'a1', decision, by } as const
  }

  test('of a call that is asked about are its states', () => {
    const shown = showing()
    const approval = aQuestion('a1', { callId: 'c1' })
    assert.deepEqual(states(shown(call)), ['in_progress'])
    assert.deepEqual(states(shown({ ...asking, approval, open: true })), ['pending'])
    assert.deepEqual(states(shown(resolved('deny'))), ['failed'])
    const done = { type: 'tool.completed', callId: 'c1', output: 'no', cut: 0, parent: null } as const
    assert.deepEqual(states(shown({ ...done, isError: true })), ['failed'])
  })

  test('of a question without a tool call make one, and end it', () => {
    const shown = showing()
    const approval = aQuestion('a1', { input: { command: 'ls' } })
    const outside = { ...asking, external: true, approval, open: true }
    assert.deepEqual(states(shown(outside)), ['pending'])
    const over = { type: 'turn.completed', turnId: 't1', usage: NO_USAGE, text: null } as const
    assert.deepEqual(shown(over), [], 'an outsider may still wait for the answer')
    assert.deepEqual(states(shown(resolved('allow'))), ['completed'])
    assert.deepEqual(shown(resolved('allow')), [])
  })

  test('of a question that nobody is asked are not told', () => {
    const shown = showing()
    assert.deepEqual(shown({ ...asking, approval: aQuestion('a1'), open: false }), [])
    assert.deepEqual(shown(resolved('deny', 'rule')), [])
  })

  test('of a plan are the plan', () => {
    const entries = (['done', 'active', 'pending'] as const).map((state) => ({ text: `is ${state}`, state }))
    const priority = 'medium'
    assert.deepEqual(showing()({ type: 'agent.plan', entries }), [
      {
        sessionUpdate: 'plan',
        entries: [
          { content: 'is done', priority, status: 'completed' },
          { content: 'is active', priority, status: 'in_progress' },
          { content: 'is pending', priority, status: 'pending' },
        ],
      },
    ])
  })
})

test('how a turn ends is how its prompt is answered', () => {
  const reasons = (body: object) =>
    step(emptyConversation(), { seq: 1, at: 0, sessionId: 's1', turnId: 't1', ...body } as Event).flatMap(
      (change) => {
        const ended = endingOf(change)
        if (!ended) return []
        assert.equal(ended.turnId, 't1')
        const result = promptResult(ended.ending)
        return [result instanceof Error ? result.message : result.stopReason]
      },
    )
  const usage = NO_USAGE
  assert.deepEqual(reasons({ type: 'turn.completed', usage, text: null }), ['end_turn'])
  assert.deepEqual(reasons({ type: 'turn.interrupted', usage }), ['cancelled'])
  assert.deepEqual(reasons({ type: 'turn.cancelled', reason: 'removed' }), ['cancelled'])
  const failed = (error: object) => reasons({ type: 'turn.failed', usage, error })
  const limited = (detail: object) => failed({ code: 'limit', message: 'Come back at five', detail })
  assert.deepEqual(limited({ limit: 'error_max_turns' }), ['max_turn_requests'])
  assert.deepEqual(limited({ limit: 'max_tokens' }), ['max_tokens'])
  assert.deepEqual(limited({ kind: 'usageLimitExceeded' }), ['Come back at five'])
  assert.deepEqual(failed({ code: 'model_error', message: 'Overloaded' }), ['Overloaded'])
  assert.deepEqual(reasons({ type: 'turn.started' }), [])
})

test('models can be chosen where some are known', () => {
  const ids = (model: string | null, models: string[]) =>
    configOptions(
      { mode: 'ask', model, modelInUse: null },
      models.map((id) => ({ id, name: `The ${id} one` })),
    ).map(({ id, currentValue }) => [id, currentValue])
  assert.deepEqual(ids(null, []), [['mode', 'ask']])
  assert.deepEqual(ids(null, ['big'])[1], ['model', 'default'])
  assert.deepEqual(ids('small', [])[1], ['model', 'small'])
})

test('beside the model that is chosen stands the one that this comes to', () => {
  const told = (model: string | null, modelInUse: string | null) => {
    const models = ['big', 'small'].map((id) => ({ id, name: id }))
    const { configOptions: options, models: older } = openingOf({ mode: 'ask', model, modelInUse }, models)
    const choices = (options[1] as { options: { value: string; description?: string }[] }).options
    const found = choices.flatMap(({ value, description }) => (description ? [[value, description]] : []))
    const same = older!.availableModels.flatMap(({ modelId, description }) =>
      description ? [[modelId, description]] : [],
    )
    assert.deepEqual(same, found)
    return found
  }
  assert.deepEqual(told(null, null), [])
  assert.deepEqual(told(null, 'big-5'), [['default', 'in use: big-5']])
  assert.deepEqual(told('big', 'big'), [])
  assert.deepEqual(told('big', 'small'), [['big', 'in use: small']])
})

test('errors keep their words', () => {
  const error = (code: string) => Object.assign(new Error('in words'), { code })
  const codes = ['session_not_found', 'unsupported', 'storage'].map((code) =>
    asRequestError(error(code), 's1'),
  )
  assert.deepEqual(
    codes.map(({ code, message }) => [code, message]),
    [
      [-32002, 'Resource not found'],
      [-32602, 'in words'],
      [-32603, 'in words'],
    ],
  )
})
