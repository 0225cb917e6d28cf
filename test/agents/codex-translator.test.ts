import { aSession } from '../support/session.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codexTranslator } from '../../src/agents/codex/translator.ts'
import { lines, NAMES, only, recorded, story, translate } from './codex-recordings.ts'

const OPENED = ['notice config_warning', 'init gpt-5.5', 'ready']
const SAID = 'text msg_fake'

const STORIES: Record<string, string[]> = {
  'simple-turn': [
    ...OPENED,
    'accepted t3',
    `${SAID}0088 + echo: `,
    `${SAID}0088 + hello`,
    `${SAID}0088 = echo: hello`,
    'completed',
    'accepted t4',
    `${SAID}0090 + echo: `,
    `${SAID}0090 + second turn`,
    `${SAID}0090 = echo: second turn`,
    'completed',
  ],
  'streamed-partials': [
    ...OPENED,
    'accepted t3',
    `${SAID}0092 + chunk0 `,
    `${SAID}0092 + chunk1 `,
    `${SAID}0092 + chunk2 `,
    `${SAID}0092 + chunk3 `,
    `${SAID}0092 = chunk0 chunk1 chunk2 chunk3 `,
    'completed',
    'accepted t4',
    'thinking rs_fake0094 + let me ',
    'thinking rs_fake0094 + think',
    'thinking rs_fake0094 = let me think',
    `${SAID}0095 + thought about it`,
    `${SAID}0095 = thought about it`,
    'completed',
  ],
  'tool-allowed': [
    ...OPENED,
    'accepted t3',
    'tool call_fake0097 command',
    'asked command call_fake0097',
    'withdrawn 0',
    'output call_fake0097 hi',
    `${SAID}0100 + tool said: `,
    `${SAID}0100 + Chunk ID: faf9d4\nWall time: 0.0191 seconds\nProcess exited with code 0\nOriginal token count: 1\nOutput:\nhi\n`,
    `${SAID}0100 = tool said: Chunk ID: faf9d4\nWall time: 0`,
    'completed',
    'accepted t4',
    'tool call_fake0102 fileChange',
    'asked fileChange call_fake0102',
    'withdrawn 1',
    'output call_fake0102 A /home/dev/project/out.txt',
    `${SAID}0105 + tool said: `,
    `${SAID}0105 + Exit code: 0\nWall time: 0.1 seconds\nOutput:\nSuccess. Updated the following files:\nA out.txt\n`,
    `${SAID}0105 = tool said: Exit code: 0\nWall time: 0.1 s`,
    'other diff',
    'completed',
  ],
  'tool-denied': [
    ...OPENED,
    'accepted t3',
    'tool call_fake0107 command',
    'asked command call_fake0107',
    'withdrawn 0',
    'error call_fake0107 It was declined.',
    `${SAID}0110 + tool said: `,
    `${SAID}0110 + exec_command failed: CreateProcess { message: "Rejected(\\"rejected by user\\")" }`,
    `${SAID}0110 = tool said: exec_command failed: CreatePr`,
    'completed',
    'accepted t4',
    'tool call_fake0112 fileChange',
    'asked fileChange call_fake0112',
    'withdrawn 1',
    'error call_fake0112 It was declined.',
    `${SAID}0115 + tool said: `,
    `${SAID}0115 + patch rejected by user`,
    `${SAID}0115 = tool said: patch rejected by user`,
    'completed',
    'accepted t5',
    'tool call_fake0117 command',
    'asked command call_fake0117',
    'withdrawn 2',
    'error call_fake0117 It was declined.',
    'wants clean',
    'interrupted',
  ],
  'model-error': [
    ...OPENED,
    'accepted t3',
    'notice model_retry',
    'failed model_error',
    'accepted t4',
    'notice model_retry',
    'failed model_error',
    'accepted t5',
    'failed model_error',
  ],
}

for (const [name, expected] of Object.entries(STORIES)) {
  test(`the recording ${name} tells its story`, () => {
    assert.deepEqual(story(translate(recorded(name))), expected)
  })
}

test('an interrupted turn ends after it was cleaned up, with all that was open closed', () => {
  const told = story(translate(recorded('interrupt'))).filter((line) => !line.startsWith('text'))
  assert.deepEqual(told, [
    ...OPENED,
    'accepted t3',
    'wants clean',
    'interrupted',
    'accepted t5',
    'tool call_fake0122 command',
    'asked command call_fake0122',
    'wants clean',
    'error call_fake0122 It was cut off.',
    'interrupted',
    'accepted t7',
    'completed',
  ])
})

test('a resumed conversation is the same one, and lines of another in the same process are passed over', () => {
  const [first, second] = [1, 2].map((proc) => translate(recorded('resume', proc)))
  const [begun, resumed] = [first!, second!].map((outputs) => only(outputs, 'agent.init'))
  assert.equal(begun!.length, 1)
  assert.deepEqual(
    resumed!.map((it) => it.nativeId),
    begun!.map((it) => it.nativeId),
  )
  assert.equal(only(second!, 'turn.ended').length, 1)
  assert.deepEqual(
    only(second!, 'message.completed').map((it) => it.text),
    ['echo: second'],
  )
  const { usage } = only(second!, 'turn.ended')[0]!
  assert.deepEqual([usage.inputTokens, usage.cacheReadTokens, usage.outputTokens], [14, 7, 5])
})

test('what is said of `codex exec` is not understood, and does no harm', () => {
  const outputs = translate(lines('exec-json').map((line) => line.m))
  assert.ok(outputs.length > 0 && outputs.every((it) => it.type === 'agent.other'))
})

test('deltas add up to the completed message of the same id in every recording', () => {
  for (const name of NAMES.filter((one) => one !== 'interrupt' && one !== 'steer')) {
    const outputs = translate(recorded(name))
    const streamed = new Map<string, string>()
    for (const { messageId, text } of only(outputs, 'message.delta')) {
      streamed.set(messageId, (streamed.get(messageId) ?? '') + text)
    }
    const completed = new Map(only(outputs, 'message.completed').map((it) => [it.messageId, it.text]))
    assert.deepEqual(streamed, completed, name)
  }
})

test('a message that is cut off by a steer is left open, and the turn goes on', () => {
  const outputs = translate(recorded('steer'))
  assert.deepEqual(
    only(outputs, 'message.completed').map((it) => it.text),
    ['echo: steer text'],
  )
  assert.deepEqual(
    only(outputs, 'turn.ended').map((it) => [it.outcome, it.text]),
    [['completed', 'echo: steer text']],
  )
})

test('every tool call that starts is completed once', () => {
  for (const name of NAMES) {
    const outputs = translate(recorded(name))
    const started = only(outputs, 'tool.started').map((it) => it.callId)
    assert.deepEqual(
      only(outputs, 'tool.completed').map((it) => it.callId),
      started,
      name,
    )
  }
})

test('read again from the first line of any turn, the rest is told in the same way', () => {
  for (const [name, proc] of [...NAMES.map((one) => [one, 1] as const), ['resume', 2] as const]) {
    let state = codexTranslator.initial(aSession())
    const given = recorded(name, proc)
    const told = given.map((line) => {
      const step = codexTranslator.step(state, line)
      state = step.state
      return step.outputs
    })
    told.forEach((outputs, index) => {
      if (!outputs.some((it) => it.type === 'turn.ended')) return
      assert.deepEqual(translate(given.slice(index + 1)), told.slice(index + 1).flat(), `${name} ${index}`)
    })
  }
})

test('a question carries what is needed to show and to answer it', () => {
  const [command, edit] = only(translate(recorded('tool-allowed')), 'approval.asked')
  assert.deepEqual(command!.approval, {
    id: '00000003-0000-4000-8000-000000000000:0',
    requestId: '0',
    kind: 'tool',
    tool: 'command',
    input: { command: 'touch made.txt && echo hi', cwd: '/home/dev/project' },
    edits: false,
    callId: 'call_fake0097',
    summary: null,
    suggestions: ['touch', 'made.txt'],
    parent: null,
  })
  assert.equal(edit!.approval.edits, true)
  assert.deepEqual(edit!.approval.input, {
    path: '/home/dev/project/out.txt',
    changes: [{ path: '/home/dev/project/out.txt', kind: 'add', diff: 'written by fake\n' }],
  })
})

test('a turn says what it used: every call of the model once, what was cached apart', () => {
  const ends = only(translate(recorded('tool-allowed')), 'turn.ended')
  const usage = { inputTokens: 28, outputTokens: 10, cacheReadTokens: 14, cacheWriteTokens: 0 }
  assert.deepEqual(
    ends.map((it) => it.usage),
    [388, 267].map((durationMs) => ({ ...usage, costUsd: null, modelCalls: 2, durationMs })),
  )
})

test('the diff of a turn is told once, at its end', () => {
  const [diff, ...more] = only(translate(recorded('tool-allowed')), 'agent.other')
  assert.deepEqual(more, [])
  assert.match((diff!.raw as { diff: string }).diff, /^diff --git a\/out\.txt[^]*\+written by fake\n$/)
})

test('a failure of the model keeps its status and its kind', () => {
  const ends = only(translate(recorded('model-error')), 'turn.ended')
  assert.deepEqual(
    ends.map((it) => it.error?.detail),
    [
      { status: 429, kind: 'responseTooManyFailedAttempts' },
      { status: null, kind: 'internalServerError' },
      { status: null, kind: 'other' },
    ],
  )
})
