import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptyConversation, step } from '../../src/core/conversation/conversation.ts'
import type { Event } from '../../src/core/event.ts'
import { answering } from '../../src/cli/answer.ts'
import { limitsText } from '../../src/cli/limits.ts'
import { clean, describeInput, duration, oneLine, sessionName, table } from '../../src/cli/format.ts'
import { questionsOf } from '../../src/cli/render.ts'
import { pickId } from '../../src/cli/resolve.ts'
import { createStreamer, type StreamerOptions } from '../../src/cli/streamer.ts'

const plain = (_: unknown, text: string): string => text

test('text from elsewhere cannot steer the terminal', () => {
  assert.equal(clean('a\u001b[31mred\u001b[0m\u0007\r\u009b2Jb\n\tc'), 'aredb\n\tc')
  assert.equal(oneLine('a\u001b]0;title\u0007\n b', 10), 'a b')
})

test('an input is shown as names and values, edits as minus and plus', () => {
  assert.equal(describeInput({ command: 'ls', depth: 2 }), 'command: ls\ndepth: 2')
  assert.equal(describeInput({ path: 'a', old_string: 'x\ny', new_string: 'z' }), 'path: a\n- x\n- y\n+ z')
  assert.equal(describeInput({ text: 'one\ntwo' }), 'text:\n  one\n  two')
  assert.equal(describeInput('x'.repeat(20), 10), 'xxxxxxxxxx… (10 more characters)')
})

test('columns are as wide as their widest cell', () => {
  assert.equal(
    table([
      ['a', 'bb'],
      ['ccc', 'd'],
    ]),
    'a    bb\nccc  d',
  )
})

test('times are short', () => {
  assert.deepEqual([5, 1500, 90_000, 3_600_000 * 3, 86_400_000 * 3].map(duration), [
    '5 ms',
    '1.5 s',
    '1 min',
    '3 h',
    '3 d',
  ])
})

test('what is left of an account is one line', () => {
  const now = new Date(2026, 10, 16, 12, 0).getTime()
  const hour = 3_600_000
  const windows = [
    { name: 'primary', usedPercent: 63, lengthMs: 5 * hour, resetsAt: now + 2 * hour + 300_000 },
    { name: 'seven_day_opus', usedPercent: 21, lengthMs: 168 * hour, resetsAt: now + 48 * hour },
    { name: 'other', usedPercent: 1, lengthMs: null, resetsAt: null },
  ]
  assert.equal(
    limitsText({ plan: 'plus', windows, at: now }, now),
    'plan plus: 5 h window 63 % used, resets 14:05; ' +
      '7 d window (seven_day_opus) 21 % used, resets Wed 12:00; window (other) 1 % used',
  )
  assert.equal(
    limitsText({ windows: [], at: now - 3 * hour }, now),
    'last reported 3 h ago, and reset since then',
  )
})

test('an id is found by its beginning or its end, if only one fits', () => {
  assert.equal(pickId('device', 'ab', ['abc', 'xyz']), 'abc')
  assert.equal(pickId('device', 'YZ', ['abc', 'xyz']), 'xyz')
  assert.equal(pickId('device', 'a', ['a', 'ab']), 'a')
  assert.throws(() => pickId('device', 'a', ['ab', 'ac']), /a fits 2 devices/)
})

function event(body: Record<string, unknown>): Event {
  return { seq: 1, at: 0, sessionId: 's', turnId: 't', ...body } as unknown as Event
}

function shown(events: Record<string, unknown>[], options: StreamerOptions = {}): string {
  const streamer = createStreamer(plain, options)
  const conversation = emptyConversation()
  const tell = (told: Event): string => streamer.tell(told, step(conversation, told))
  return events.map((body) => tell(event(body))).join('')
}

const delta = (messageId: string, text: string, parent: string | null = null) => ({
  type: 'message.delta',
  messageId,
  kind: 'text',
  text,
  parent,
})
const whole = (messageId: string, text: string, parent: string | null = null) => ({
  type: 'message.completed',
  messageId,
  kind: 'text',
  text,
  parent,
  aborted: false,
})

test('a streamed message is shown once, piece by piece', () => {
  assert.equal(shown([delta('m', 'hel'), delta('m', 'lo'), whole('m', 'hello')]), 'hello\n')
})

test('of a message that completes beyond its pieces the rest is added', () => {
  assert.equal(shown([delta('m', 'hel'), whole('m', 'hello')]), 'hello\n')
})

test('a message whose beginning was missed is shown whole at the end', () => {
  assert.equal(shown([delta('m', 'lo'), whole('m', 'hello')]), 'lo\nhello\n')
})

test('pieces of a sub-agent are left out, its messages are indented', () => {
  assert.equal(shown([delta('m', 'hi', 'call'), whole('m', 'hi\nyou', 'call')]), '    hi\n    you\n')
})

test('something else in the middle of a message begins a new line', () => {
  const tool = { type: 'tool.started', callId: 'c', tool: 'Shell', input: { command: 'ls' }, parent: null }
  assert.equal(shown([delta('m', 'hel'), tool]), 'hel\n* Shell command: ls\n')
})

test('of a message that something else has cut in two only the rest is added', () => {
  const stopping = { type: 'turn.interrupting' }
  assert.equal(shown([delta('m', 'hello'), stopping, whole('m', 'hello')]), 'hello\n-- stopping\n')
  assert.equal(shown([delta('m', 'hel'), stopping, whole('m', 'hello')]), 'hel\n-- stopping\nlo\n')
})

test('a remark in the middle of a message begins a new line', () => {
  const streamer = createStreamer(plain)
  const piece = event(delta('m', 'hel'))
  const pieces = [streamer.tell(piece, step(emptyConversation(), piece)), streamer.remark('away')]
  assert.equal(pieces.join(''), 'hel\n-- away\n')
})

const queued = (key: string, position: number) => ({
  type: 'turn.queued',
  input: [{ type: 'text', text: 'hi' }],
  key,
  origin: 'cli',
  position,
})

test('a message that was typed here is not shown again, unless it had to wait', () => {
  const isOwn = (key: string): boolean => key === 'mine'
  const start = { type: 'turn.started' }
  assert.equal(shown([queued('mine', 0), start], { isOwn }), '')
  assert.equal(shown([queued('other', 0), start], { isOwn }), '\n> hi\n')
  assert.equal(shown([queued('mine', 1), start], { isOwn }), '-- queued, 1 before it\n\n> hi\n')
})

test('a message to a paused session says why it waits', () => {
  const paused = { type: 'session.status', status: 'paused', previous: 'idle' }
  const says = '-- queued; the session is paused\n'
  assert.equal(shown([queued('k', 1)], { paused: true }), says)
  assert.equal(shown([paused, queued('k', 1)]), `-- paused\n${says}`)
})

test('the tool call of a question is not shown, its approval does that', () => {
  const input = { questions: [{ question: 'Which?' }] }
  assert.equal(shown([{ type: 'tool.started', callId: 'c', tool: 'Ask', input, parent: null }]), '')
})

test('questions of an unknown shape are shown whole', () => {
  assert.match(questionsOf({ questions: [null] })[0]!.question, /^questions:/)
  const options = [null, { label: 3 }, { label: 'ok' }]
  assert.deepEqual(questionsOf({ questions: [{ question: 'q', options }] })[0]?.options, [{ label: 'ok' }])
})

test('a session without a title is named by its directory', () => {
  assert.equal(sessionName({ name: 'a\u001b[31mb', cwd: '/x' }), 'ab')
  assert.equal(sessionName({ name: '', cwd: '/x' }), '(untitled) /x')
  assert.equal(sessionName({ name: null, cwd: '/x' }), '(untitled) /x')
})

const asked = { id: 'a1', kind: 'tool', tool: 'Shell', input: {}, summary: null } as const

const answers: [line: string, expected: unknown][] = [
  ['y', { approvalId: 'a1', behavior: 'allow', by: 'cli' }],
  [' YES ', { approvalId: 'a1', behavior: 'allow', by: 'cli' }],
  ['a', { approvalId: 'a1', behavior: 'allow', forSession: true, by: 'cli' }],
  ['n', { approvalId: 'a1', behavior: 'deny', comment: '', by: 'cli' }],
  ['no use the other one', { approvalId: 'a1', behavior: 'deny', comment: 'use the other one', by: 'cli' }],
]

for (const [line, expected] of answers) {
  test(`the answer ${JSON.stringify(line)} is understood`, () => {
    assert.deepEqual(answering(asked).line(line), { decide: expected })
  })
}

test('anything else than an answer decides nothing', () => {
  for (const line of ['', 'maybe', 'yes please do', 'hello']) {
    assert.ok('again' in answering(asked).line(line), line)
  }
})

test('numbers choose among the options of a question, words are taken as they are', () => {
  const input = {
    questions: [
      { question: 'Colour?', options: [{ label: 'red' }, { label: 'green' }] },
      { question: 'Why?', options: [] },
    ],
  }
  const answer = answering({ ...asked, kind: 'question', input })
  assert.equal(answer.prompt(), 'answer 1 of 2: ')
  assert.deepEqual(answer.line('2'), { again: 'Why?' })
  assert.deepEqual(answer.line('because'), {
    decide: {
      approvalId: 'a1',
      behavior: 'allow',
      answers: { 'Colour?': 'green', 'Why?': 'because' },
      by: 'cli',
    },
  })
})
