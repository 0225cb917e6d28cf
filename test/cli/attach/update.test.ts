import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptyConversation, step } from '../../../src/core/conversation/conversation.ts'
import type { Event, EventBody } from '../../../src/core/event.ts'
import { NO_USAGE } from '../../../src/core/usage.ts'
import { createKeyReader } from '../../../src/cli/attach/keys.ts'
import { firstState, type Effect, type Input, type State } from '../../../src/cli/attach/state.ts'
import { update } from '../../../src/cli/attach/update.ts'
import { bottom, createViewer } from '../../../src/cli/attach/view.ts'
import { textOfLine } from '../../../src/cli/attach/spans.ts'
import type { SessionView } from '../../../src/dialects/native/wire.ts'

const SESSION = {
  id: 's',
  agent: 'demo',
  title: 'a title',
  cwd: '/work',
  mode: 'ask',
  effort: null,
  usage: NO_USAGE,
  status: 'idle',
  model: null,
  modelInUse: 'm1',
} as SessionView

/** A screen without a terminal and without a daemon: what is to be done outside is kept. */
function screen({ turnId = null, columns = 60 }: { turnId?: string | null; columns?: number } = {}) {
  const conversation = emptyConversation()
  const reader = createKeyReader()
  const effects: Effect[] = []
  let seq = 0
  let now = 100_000
  let state: State = firstState({
    session: SESSION,
    past: [],
    waiting: [],
    columns,
    rows: 24,
    now,
    nonce: 'n',
    recalled: [],
    typed: '',
    turnId,
  })
  function tell(input: Input): void {
    const next = update(state, input)
    state = next.state
    effects.push(...next.effects)
  }
  return {
    tell,
    pass: (ms: number) => void (now += ms),
    type: (text: string) => reader.push(text).forEach((press) => tell({ type: 'press', press, now })),
    escape: () => tell({ type: 'press', press: { key: 'escape' }, now }),
    happen(body: EventBody) {
      const event = { ...body, seq: ++seq, at: now, sessionId: 's' } as Event
      const changes = step(conversation, event)
      const { waiting, turn, questions } = conversation
      const under = { waiting: [...waiting.values()], turn, asking: [...questions.keys()] }
      tell({ type: 'event', event, changes, now, ...under })
    },
    state: () => state,
    below: () => bottom(state).lines.map(textOfLine).join('\n'),
    done: () => effects.splice(0).filter((effect) => effect.do !== 'remember' && effect.do !== 'context'),
  }
}

type TestScreen = ReturnType<typeof screen>

function begin(one: TestScreen, turnId = 't'): void {
  one.happen({ type: 'turn.queued', turnId, input: [], key: null, origin: null, position: 0 })
  one.happen({ type: 'turn.started', turnId })
}

function ask(one: TestScreen, id = 'a', extra: object = {}): void {
  const approval = {
    id,
    requestId: id,
    kind: 'tool' as const,
    tool: 'Bash',
    input: { command: 'ls' },
    edits: false,
    callId: null,
    summary: null,
    suggestions: null,
    parent: null,
    ...extra,
  }
  const asking = { external: false, timeoutAt: null }
  one.happen({ type: 'approval.requested', turnId: 't', approval, open: true, ...asking })
}

test('Enter sends, and the message is shown until the log has it', () => {
  const one = screen()
  one.type('hello\r')
  assert.deepEqual(one.done(), [{ do: 'send', key: 'n:0', text: 'hello', content: 'hello' }])
  assert.equal(one.state().draft.text, '')
  assert.match(one.below(), /sending: hello/)
  one.happen({
    type: 'turn.queued',
    turnId: 't',
    input: [{ type: 'text', text: 'hello' }],
    key: 'n:0',
    origin: 'cli',
    position: 0,
  })
  assert.doesNotMatch(one.below(), /sending/)
})

test('a message that could not be sent is in the input again, before what was typed since', () => {
  const one = screen()
  one.type('first\r')
  one.type('second')
  one.tell({ type: 'unsent', key: 'n:0', message: 'the disk is full' })
  assert.equal(one.state().draft.text, 'first\nsecond')
})

test('Esc stops what runs, and closes what is open before', () => {
  const one = screen()
  one.escape()
  assert.deepEqual(one.done(), [])
  begin(one)
  one.type('/mo')
  one.escape()
  assert.equal(one.state().menu, null)
  assert.deepEqual(one.done(), [])
  one.escape()
  assert.deepEqual(one.done(), [{ do: 'interrupt', at: { turnId: 't' } }])
  assert.equal(one.state().draft.text, '/mo')
})

test('Ctrl+C clears, then leaves; Ctrl+D leaves an empty input only', () => {
  const one = screen()
  one.type('text\u0003')
  assert.deepEqual([one.state().draft.text, one.done()], ['', []])
  one.type('\u001b[A')
  assert.equal(one.state().draft.text, 'text')
  one.type('\u0001\u0004')
  assert.equal(one.state().draft.text, 'ext')
  one.type('\u0003\u0003')
  assert.deepEqual(one.done(), [{ do: 'leave', ending: 'left' }])
  one.type('\u0004')
  assert.deepEqual(one.done(), [{ do: 'leave', ending: 'left' }])
})

test('keys answer a question, unless somebody is in the middle of typing', () => {
  const one = screen()
  begin(one)
  ask(one)
  one.type('y')
  assert.deepEqual(one.done(), [{ do: 'decide', params: { approvalId: 'a', behavior: 'allow', by: 'cli' } }])
  one.type('y') // it is on its way
  assert.deepEqual(one.done(), [])
  one.happen({ type: 'approval.resolved', approvalId: 'a', decision: { behavior: 'allow' }, by: 'cli' })
  one.type('y')
  ask(one, 'b')
  one.type('a')
  assert.deepEqual([one.state().draft.text, one.done()], ['ya', []])
  one.type('\tp')
  const params = { approvalId: 'b', behavior: 'allow', forSession: true, forDirectory: true, by: 'cli' }
  assert.deepEqual(one.done(), [{ do: 'decide', params }])
})

test('who has cleared the input is done typing: keys answer', () => {
  const one = screen()
  begin(one)
  one.type('x')
  one.pass(5000)
  one.type('y')
  one.type('\u0003') // cleared: that is an end
  ask(one)
  assert.equal(one.state().answer?.focus, true)
})

test('an answer that did not arrive can be given again', () => {
  const one = screen()
  begin(one)
  ask(one)
  one.type('n')
  one.done()
  one.tell({ type: 'undecided', approvalId: 'a', message: 'lost' })
  one.type('w')
  one.type('why\r')
  assert.deepEqual(one.done(), [
    { do: 'decide', params: { approvalId: 'a', behavior: 'deny', comment: 'why', by: 'cli' } },
  ])
})

test('only an agent that takes another input is offered one, and it must be JSON', () => {
  const one = screen()
  begin(one)
  ask(one, 'a', { input: { path: 'x' } })
  assert.doesNotMatch(one.below(), /e edit it/)
  one.type('e')
  assert.equal(one.state().answer?.way, 'keys')
  one.tell({ type: 'abilities', abilities: { editInput: true } })
  assert.match(one.below(), /e edit it/)
  one.type('e')
  one.type('\u0003')
  assert.equal(one.state().answer?.way, 'keys')
  one.type('e')
  one.type('{\r')
  assert.match(one.below(), /that is no JSON/)
  one.type('\u007f\r')
  assert.deepEqual(one.done(), [
    { do: 'decide', params: { approvalId: 'a', behavior: 'allow', by: 'cli', input: { path: 'x' } } },
  ])
})

test('several questions, by numbers and in words', () => {
  const one = screen()
  begin(one)
  const questions = [
    { question: 'Which?', options: [{ label: 'Red' }, { label: 'Blue' }] },
    { question: 'Some?', options: [{ label: 'A' }, { label: 'B' }, { label: 'C' }], multiSelect: true },
    { question: 'Why?' },
  ]
  ask(one, 'a', { kind: 'question', input: { questions } })
  one.type('2')
  one.type('1,3\r')
  one.type('1 reason\r')
  const answers = { 'Which?': 'Blue', 'Some?': 'A, C', 'Why?': '1 reason' }
  assert.deepEqual(one.done(), [
    { do: 'decide', params: { approvalId: 'a', behavior: 'allow', answers, by: 'cli' } },
  ])
})

test('commands: own ones are done, those of the agent go to it, unknown ones ask', () => {
  const one = screen()
  const commands = [{ name: 'review', about: 'Looks at a change' }]
  one.happen({ type: 'agent.commands', commands })
  one.type('/mode plan\r/model default\r/effort max\r/diff session\r')
  assert.deepEqual(one.done(), [
    { do: 'configure', change: { mode: 'plan' } },
    { do: 'configure', change: { model: null } },
    { do: 'configure', change: { effort: 'max' } },
    { do: 'diff', scope: 'session' },
  ])
  one.type('/review all\r')
  assert.equal(one.done()[0]?.do, 'send')
  one.type('/usr/bin/env is gone\r')
  assert.equal(one.done()[0]?.do, 'send')
  one.type('/reviwe\r')
  assert.deepEqual(one.done(), [])
  one.type('y')
  assert.equal(one.done()[0]?.do, 'send')
})

test('new and send leave with their turn, and stay for who is writing', () => {
  const over = (turnId: string): EventBody => ({
    type: 'turn.completed',
    turnId,
    usage: NO_USAGE,
    text: null,
  })
  const one = screen({ turnId: 't' })
  begin(one)
  one.happen(over('t'))
  assert.deepEqual(one.done(), [{ do: 'leave', ending: 'completed' }])

  const two = screen({ turnId: 't' })
  begin(two)
  two.type('next')
  two.happen(over('t'))
  assert.deepEqual(two.done(), [])
  two.type('\r')
  two.done()
  two.happen({ type: 'turn.queued', turnId: 'u', input: [], key: 'n:0', origin: null, position: 0 })
  two.happen({ type: 'turn.started', turnId: 'u' })
  two.happen({ type: 'turn.failed', turnId: 'u', usage: NO_USAGE, error: { code: 'x', message: 'x' } })
  assert.deepEqual(two.done(), [{ do: 'leave', ending: 'completed' }])
})

test('files that are found late for what is no longer typed are not offered', () => {
  const one = screen()
  one.type('@ab')
  assert.deepEqual(one.done(), [{ do: 'find', query: 'ab' }])
  one.tell({ type: 'found', query: 'a', files: ['a.ts'] })
  assert.equal(one.state().menu, null)
  one.tell({ type: 'found', query: 'ab', files: ['ab.ts', 'abc.ts'] })
  one.type('\u001b[B\r')
  assert.equal(one.state().draft.text, '@abc.ts ')
})

test('a lost connection is said for as long as it lasts', () => {
  const one = screen()
  one.tell({ type: 'link', state: 'away', now: 100_000 })
  one.tell({ type: 'tick', now: 165_000 })
  assert.match(one.below(), /not reachable; trying again \(1:05\)/)
  one.tell({ type: 'link', state: 'back', now: 166_000 })
  assert.doesNotMatch(one.below(), /reachable/)
})

test('however narrow, nothing is wider than the screen, and what is in an input commands nothing', () => {
  for (const columns of [12, 40, 80]) {
    const one = screen({ columns })
    begin(one)
    ask(one, 'a', { input: { command: `x\u001b[2J${'y'.repeat(100)}` } })
    one.tell({ type: 'abilities', abilities: { editInput: true } })
    one.type('e\u0001')
    const { rows } = createViewer((_, text) => text, true).frame(one.state())
    for (const { text } of rows) {
      assert.ok(text.length < columns, JSON.stringify(text))
      assert.ok(!text.includes('\u001b'))
    }
    assert.ok(rows.some(({ text }) => text.startsWith('! x␛[2J')))
  }
})
