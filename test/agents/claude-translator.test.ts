import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NAMES, only, recorded, story, translate } from './claude-recordings.ts'

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
    "error toolu_fake0024 The user doesn't want to proceed",
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
    "error toolu_fake0034 The user doesn't want to proceed",
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
    'steer.arrived 6',
    'steer.arrived 7',
    'text msg_fake0039:0 = chunk0 chunk1 chunk2 chunk3 chunk4 chunk5 chunk6 chunk7 ',
    'completed',
    'accepted 6',
    'steer.taken 7',
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
    edits: false,
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
