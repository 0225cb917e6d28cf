import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { unwrapped } from '../../src/agents/codex/shell.ts'
import type { ApprovalRequest } from '../../src/core/approval.ts'
import { rulesFor } from '../../src/core/rule.ts'
import { ACCEPTED, asks, COMMAND, ended, item, note, OPENED, STARTED } from './codex-said.ts'
import { only, story, translate } from './codex-recordings.ts'

const told = (...lines: unknown[]) => story(translate(lines))
const running = (...lines: unknown[]) => told(OPENED, ACCEPTED, STARTED, ...lines).slice(3)

describe('opening', () => {
  const account = (result: object) => ({ id: 's1:account', result })

  test('a conversation is asked for when the account is in order, or not needed', () => {
    assert.deepEqual(told(account({ account: null, requiresOpenaiAuth: false })), ['wants open'])
    assert.deepEqual(told(account({ account: { type: 'apiKey' }, requiresOpenaiAuth: true })), ['wants open'])
    assert.deepEqual(told({ id: 's1:account', error: { message: 'unknown method' } }), ['wants open'])
    const [ready] = only(translate([account({ account: null, requiresOpenaiAuth: true })]), 'agent.ready')
    assert.equal(ready!.problem?.code, 'not_signed_in')
  })

  test('it names its id, and a second one is not taken', () => {
    const outputs = translate([OPENED, { ...OPENED, result: { thread: { id: 'other' } } }])
    assert.deepEqual(story(outputs), ['init m', 'ready'])
    const [init] = only(outputs, 'agent.init')
    assert.deepEqual([init!.nativeId, init!.version], ['T', '9.9.9'])
  })

  test('rules of the user’s that allow commands are a notice', () => {
    const outputs = translate([{ ...OPENED, id: 's1:open:/home/x:y.rules' }])
    assert.deepEqual(story(outputs), ['init m', 'notice user_rules', 'ready'])
    assert.match(only(outputs, 'agent.notice')[0]!.message, /\/home\/x:y\.rules/)
  })

  test('one that is lost is followed by a fresh one, one that is in use is not', () => {
    const failed = (message: string) => told({ id: 's1:open', error: { code: -32600, message } })
    const fresh = ['notice conversation_lost', 'wants open']
    assert.deepEqual(failed('no rollout found for thread id X'), fresh)
    assert.deepEqual(failed('invalid session id: invalid character'), fresh)
    assert.deepEqual(failed('thread X already has an active writer'), ['ready not: conversation_busy'])
    assert.deepEqual(failed('config is broken'), ['ready not: agent_start'])
  })
})

describe('turns', () => {
  test('a message that is not taken fails its turn', () => {
    const refused = (message: string) => told(OPENED, { id: 's1:turn:t1', error: { message } }).at(-1)
    assert.equal(refused('Invalid request'), 'failed agent_error')
    assert.equal(refused('thread not found: T'), 'failed conversation_lost')
  })

  test('a steer has arrived when it is answered, and is taken when Codex says it back', () => {
    const answer = (more: object) => ({ id: 's1:steer:x1', ...more })
    const said = (clientId: string | null, threadId = 'T') =>
      item('completed', { type: 'userMessage', id: 'u', clientId, content: [] }, threadId)
    assert.deepEqual(running(said('t1'), answer({ result: { turnId: 'C1' } }), said('x1')), [
      'steer.arrived x1',
      'steer.taken x1',
    ])
    assert.deepEqual(running(answer({ error: { message: 'no active turn to steer' } })), [])
    assert.deepEqual(running(said(null), said('x1', 'other')), [])
    assert.deepEqual(running(ended('completed'), said('x1')), ['completed'])
  })

  test('from its first line a turn finds its conversation, whichever line comes first', () => {
    const text = { type: 'agentMessage', id: 'm', text: 'hi' }
    const rest = [item('completed', text), ended('completed')]
    const expected = ['accepted t1', 'text m = hi', 'completed']
    assert.deepEqual(told(ACCEPTED, STARTED, ...rest), expected)
    assert.deepEqual(told(STARTED, ACCEPTED, ...rest), expected)
    const other = note('turn/started', { threadId: 'X', turn: { id: 'X1' } })
    assert.deepEqual(told(other, ACCEPTED, STARTED, ...rest), expected)
  })

  test('an interrupt waits until the turn has started, and its end until it is cleaned up after', () => {
    const wish = { id: 's1:interrupt', result: { thread: { id: 'T' } } }
    assert.deepEqual(told(OPENED, wish).slice(2), [])
    assert.deepEqual(told(OPENED, ACCEPTED, wish).slice(3), [])
    assert.deepEqual(told(OPENED, ACCEPTED, wish, STARTED).slice(3), ['wants stop'])
    const stopped = [wish, item('started', COMMAND), ended('interrupted')]
    assert.deepEqual(running(...stopped), ['wants stop', 'tool c1 command', 'wants clean'])
    const again = ['wants stop', 'tool c1 command', 'wants clean', 'wants clean']
    assert.deepEqual(running(...stopped, wish), again)
    const clean = { id: 's1:clean', error: { message: 'whatever' } }
    assert.deepEqual(running(...stopped, clean, clean).slice(3), ['error c1 It was cut off.', 'interrupted'])
  })

  test('a command may go on after its turn, and its end later is no news', () => {
    const late = item('completed', { ...COMMAND, exitCode: 0, aggregatedOutput: 'done' })
    assert.deepEqual(running(item('started', COMMAND), ended('completed'), late), [
      'tool c1 command',
      'output c1 It goes on in the background.',
      'completed',
    ])
  })

  test('a mode that does not hold yet is a notice, the same one again is not', () => {
    const accepted = { ...ACCEPTED, id: 's1:turn:t1:plan' }
    const set = (mode: string) => ({ id: `s1:mode:${mode}`, result: {} })
    const lines = [set('auto'), accepted, STARTED, set('plan'), set('auto'), ended('completed'), set('ask')]
    assert.deepEqual(told(OPENED, ...lines).slice(2), ['accepted t1', 'notice mode_later', 'completed'])
  })

  test('a turn that nobody asked for is a notice', () => {
    assert.deepEqual(told(OPENED, STARTED, ended('completed')).slice(2), ['notice background_turn'])
  })

  test('a count of tokens that is repeated is not added again, nor one of another turn', () => {
    const last = { totalTokens: 12, inputTokens: 10, cachedInputTokens: 4, outputTokens: 2 }
    const used = (turnId: string, totalTokens: number) =>
      note('thread/tokenUsage/updated', { turnId, tokenUsage: { total: { totalTokens }, last } })
    const lines = [used('C0', 5), used('C1', 17), used('C1', 17), used('C1', 29), ended('completed')]
    const [end] = only(translate([OPENED, ACCEPTED, STARTED, ...lines]), 'turn.ended')
    const { inputTokens, cacheReadTokens, outputTokens, modelCalls } = end!.usage
    assert.deepEqual([inputTokens, cacheReadTokens, outputTokens, modelCalls], [12, 8, 4, 2])
  })

  test('failures have codes', () => {
    const failed = (codexErrorInfo: unknown) =>
      running(ended('failed', { error: { message: 'x', codexErrorInfo } }))[0]
    assert.equal(failed('unauthorized'), 'failed not_signed_in')
    assert.equal(failed('usageLimitExceeded'), 'failed limit')
    assert.equal(failed('sandboxError'), 'failed agent_error')
    assert.equal(failed({ httpConnectionFailed: { httpStatusCode: 401 } }), 'failed model_error')
    assert.equal(failed(null), 'failed model_error')
  })
})

describe('items', () => {
  test('sections of a thought are apart, in what is streamed as in the end', () => {
    const part = (summaryIndex: number) =>
      note('item/reasoning/summaryPartAdded', { itemId: 'r', summaryIndex })
    const piece = (delta: string) => note('item/reasoning/summaryTextDelta', { itemId: 'r', delta })
    const done = item('completed', { type: 'reasoning', id: 'r', summary: ['a', 'b'], content: ['raw'] })
    const raw = note('item/reasoning/textDelta', { itemId: 'r', delta: 'raw' })
    assert.deepEqual(running(part(0), piece('a'), part(1), piece('b'), raw, done), [
      'thinking r + a',
      'thinking r + \n\n',
      'thinking r + b',
      'thinking r:raw + raw',
      'thinking r = a\n\nb',
      'thinking r:raw = raw',
    ])
    assert.deepEqual(running(item('completed', { type: 'reasoning', id: 'r', summary: [] })), [])
  })

  test('other tools are tools, what is not known is passed on', () => {
    const mcp = { type: 'mcpToolCall', id: 'x', server: 'files', tool: 'read', arguments: { a: 1 } }
    const result = { content: [{ type: 'text', text: 'A' }, { type: 'image' }] }
    assert.deepEqual(
      running(
        item('started', mcp),
        item('completed', { ...mcp, result, error: null }),
        item('started', { ...mcp, id: 'y' }),
        item('completed', { ...mcp, id: 'y', error: { message: 'gone' } }),
        item('started', { type: 'webSearch', id: 'w', query: 'q' }),
        item('completed', { type: 'webSearch', id: 'w', query: 'q', results: [1] }),
        item('completed', { type: 'novelty', id: 'n' }),
        note('turn/novelty', { plan: [] }),
      ),
      [
        'tool x mcp__files__read',
        'output x A\n[image]',
        'tool y mcp__files__read',
        'error y gone',
        'tool w webSearch',
        'output w [1]',
        'other item/novelty',
        'other turn/novelty',
      ],
    )
  })

  test('a long output and a long diff are cut', () => {
    const long = 'x'.repeat(300 * 1024)
    const change = {
      type: 'fileChange',
      id: 'f',
      changes: [{ path: '/a', kind: { type: 'add' }, diff: long }],
    }
    const outputs = translate([
      OPENED,
      ACCEPTED,
      STARTED,
      item('started', COMMAND),
      item('completed', { ...COMMAND, aggregatedOutput: long, exitCode: 1 }),
      item('started', change),
    ])
    const [ran] = only(outputs, 'tool.completed')
    assert.ok(ran!.isError && ran!.cut > 0 && ran!.output.length === 256 * 1024)
    assert.match(ran!.output, /^Exit code 1\n/)
    const { changes } = only(outputs, 'tool.started')[1]!.input as {
      changes: { diff: string; cut: number }[]
    }
    assert.deepEqual([changes[0]!.diff.length, changes[0]!.cut], [128 * 1024, 172 * 1024])
  })
})

describe('requests of Codex', () => {
  test('one that was withdrawn is told once, one of another conversation never', () => {
    const resolved = (requestId: unknown, threadId = 'T') =>
      note('serverRequest/resolved', { requestId, threadId })
    const question = asks('item/commandExecution/requestApproval', { command: 'ls', reason: 'why not' }, 'q')
    assert.deepEqual(running(resolved('q'), question, resolved('q', 'X'), resolved('q'), resolved('q')), [
      'asked command c1',
      'withdrawn "q"',
    ])
    assert.deepEqual(running({ ...question, params: { ...question.params, threadId: 'X' } }), [])
  })

  test('what asks for the network is about an address, and a wish for more permissions about each time', () => {
    const approvalOf = (method: string, params: object): ApprovalRequest => {
      const lines = [OPENED, ACCEPTED, STARTED, asks(method, params, 'q')]
      return only(translate(lines), 'approval.asked')[0]!.approval
    }
    const command = 'item/commandExecution/requestApproval'
    // As Codex 0.166 asks on a machine whose administrator manages the network.
    const reaching = (host: string, protocol: string) =>
      approvalOf(command, {
        kind: 'command',
        itemId: `network#local#${protocol}#${host}#443#1`,
        reason: `Network access to ${host} requires approval`,
        networkApprovalContext: { host, protocol },
        proposedNetworkPolicyAmendments: [{ host, action: 'allow' }],
      })
    const network = reaching('example.com', 'https')
    assert.deepEqual(
      [network.tool, network.callId, network.input, network.summary],
      [
        'network',
        null,
        { host: 'example.com', protocol: 'https' },
        'Network access to example.com requires approval',
      ],
    )
    assert.deepEqual(network.about, { class: 'fetch', subjects: ['https://example.com'] })
    assert.deepEqual(rulesFor({ ...network, id: 'a' }, { cwd: '/' }), ['fetch(https://example.com)'])
    assert.deepEqual(reaching('2001:db8::1', 'http').about!.subjects, ['http://[2001:db8::1]'])
    assert.deepEqual(reaching('h.example', 'socks5Tcp').about!.subjects, [
      'https://h.example',
      'http://h.example',
      'socks5Tcp://h.example',
    ])
    const wish = approvalOf('item/permissions/requestApproval', {
      permissions: { network: { enabled: true } },
    })
    assert.deepEqual(rulesFor({ ...wish, id: 'a' }, { cwd: '/' }), [])
    const form = approvalOf('mcpServer/elicitation/request', { serverName: 's', message: 'Delete all?' })
    assert.deepEqual(rulesFor({ ...form, id: 'a' }, { cwd: '/' }), [])
  })

  test('what nobody here can answer is refused', () => {
    const refused = translate([OPENED, { id: 3, method: 'account/chatgptAuthTokens/refresh', params: {} }])
    assert.deepEqual(only(refused, 'agent.request')[0]!.request, {
      step: 'refuse',
      requestId: '3',
      method: 'account/chatgptAuthTokens/refresh',
    })
  })

  test('questions to the human are questions, a form without fields is a yes or no', () => {
    const kinds = (method: string, params: object) => {
      const { kind, tool, input } = only(translate([OPENED, asks(method, params)]), 'approval.asked')[0]!
        .approval
      return [kind, tool, input]
    }
    const questions = [{ id: 'q1', question: 'Which?', header: 'H', options: [] }]
    const typed = {
      a: { type: 'integer' },
      b: { type: 'boolean' },
      c: { type: 'array', items: { enum: ['x'] } },
    }
    const [, , shown] = kinds('mcpServer/elicitation/request', { requestedSchema: { properties: typed } })
    assert.deepEqual(
      (shown as { questions: { type: string; options: { label: string }[] }[] }).questions.map((it) => [
        it.type,
        it.options.map(({ label }) => label),
      ]),
      [
        ['integer', []],
        ['boolean', ['true', 'false']],
        ['array', ['x']],
      ],
    )
    assert.deepEqual(kinds('item/tool/requestUserInput', { questions }), [
      'question',
      'requestUserInput',
      { questions },
    ])
    const form = { serverName: 'files', message: 'Allow?', itemId: null, requestedSchema: { properties: {} } }
    assert.deepEqual(kinds('mcpServer/elicitation/request', form), [
      'tool',
      'mcp__files',
      { message: 'Allow?' },
    ])
    const properties = { name: { type: 'string', description: 'Your name' } }
    assert.deepEqual(kinds('mcpServer/elicitation/request', { ...form, requestedSchema: { properties } }), [
      'question',
      'mcp__files',
      {
        message: 'Allow?',
        questions: [{ id: 'name', header: 'name', question: 'Your name', options: [] }],
      },
    ])
  })
})

test('a model that Codex is sent to is told, of a sub-agent’s nothing', () => {
  const rerouted = (params: object) =>
    only(translate([OPENED, ACCEPTED, note('model/rerouted', params)]), 'agent.model')
  const to = { turnId: 'C1', fromModel: 'm', toModel: 'n', reason: 'highRiskCyberActivity' }
  assert.deepEqual(rerouted(to), [{ type: 'agent.model', model: 'n' }])
  assert.deepEqual(rerouted({ ...to, threadId: 'X' }), [])
  assert.deepEqual(rerouted({ turnId: 'C1' }), [])
})

test('before it calls an MCP tool Codex asks about that very call', () => {
  const call = (id: string, word: string) =>
    item('started', { type: 'mcpToolCall', id, server: 'files', tool: 'read', arguments: { word } })
  const question = {
    serverName: 'files',
    message: 'Allow?',
    itemId: undefined,
    _meta: { codex_approval_kind: 'mcp_tool_call', tool_params: { word: 'a' } },
    requestedSchema: { properties: {} },
  }
  const lines = [call('x', 'a'), call('y', 'b'), asks('mcpServer/elicitation/request', question)]
  const { approval } = only(translate([OPENED, ACCEPTED, STARTED, ...lines]), 'approval.asked')[0]!
  const { kind, tool, input, callId, summary } = approval
  assert.deepEqual([kind, tool, input], ['tool', 'mcp__files__read', { word: 'a' }])
  assert.deepEqual([callId, summary], ['x', 'Allow?'])
})

test('whatever the line is, nothing is thrown', () => {
  const junk: unknown[] = [
    null,
    1,
    'x',
    [],
    {},
    { id: 1 },
    { id: 's1' },
    { method: 5 },
    { id: 's1:turn', result: 1 },
  ]
  const methods = [
    'item/started',
    'item/completed',
    'turn/completed',
    'turn/started',
    'error',
    'thread/started',
  ]
  for (const method of [...methods, 'item/fileChange/requestApproval', 'thread/tokenUsage/updated']) {
    for (const params of [undefined, null, [], { threadId: 'T' }, { threadId: 'T', item: 3, turn: [] }]) {
      junk.push({ method, params }, { method, params, id: 1 })
    }
  }
  assert.doesNotThrow(() => translate([...junk, OPENED, ACCEPTED, STARTED, ...junk]))
})

test('a command is named without the shell around it, unless that is not certain', () => {
  for (const [line, expected] of [
    ["/bin/bash -lc 'git status'", 'git status'],
    ['/bin/bash -lc ls', 'ls'],
    ["bash -c 'a'\"'\"'b'", "a'b"],
    ['/usr/bin/zsh -lc "echo \\"$HOME\\" \'x\'"', 'echo "$HOME" \'x\''],
    ["/bin/bash -lc 'a' b", "/bin/bash -lc 'a' b"],
    ["/bin/bash -lc 'open", "/bin/bash -lc 'open"],
    ['python -c 1', 'python -c 1'],
    ["./sh -c 'git status'", "./sh -c 'git status'"],
    ["/project/bin/bash -lc 'git status'", "/project/bin/bash -lc 'git status'"],
  ]) {
    assert.equal(unwrapped(line!), expected)
  }
})
