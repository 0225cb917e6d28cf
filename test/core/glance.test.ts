import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { EventBody } from '../../src/core/event.ts'
import { excerpt, firstLine, lastLine } from '../../src/core/excerpt.ts'
import { doingOf, lastLineOf, nameOf } from '../../src/core/glance.ts'
import type { Session } from '../../src/core/session.ts'
import { NO_USAGE } from '../../src/core/usage.ts'
import { after, aSession } from '../support/session.ts'

const says = (turnId: string, text: string): EventBody => ({
  type: 'turn.queued',
  turnId,
  input: [{ type: 'text', text }],
  key: null,
  origin: null,
  position: 0,
})
const answers = (text: string, more: object = {}): EventBody => ({
  type: 'message.completed',
  messageId: 'm',
  kind: 'text',
  text,
  parent: null,
  aborted: false,
  ...more,
})
const begins = (callId: string, tool: string, input: unknown): EventBody => ({
  type: 'tool.started',
  callId,
  tool,
  input,
  parent: null,
})
const ends = (callId: string): EventBody => ({
  type: 'tool.completed',
  callId,
  output: '',
  isError: false,
  parent: null,
  cut: 0,
})
const COMPLETED: EventBody = { type: 'turn.completed', turnId: 't1', usage: NO_USAGE, text: null }

const line = (session: Session): string | null => lastLineOf(session.glance)
const doing = (session: Session): string | null => doingOf(session.glance)

describe('the last line', () => {
  test('is what the user or the agent has said last', () => {
    const asked = after(aSession(), [says('t1', 'Fix it.\nAnd test it, please.\n')])
    assert.equal(line(asked), 'And test it, please.')
    const answered = after(asked, [answers('Done:\n\n- one\n- two\n\n```\n}\n```\n')])
    assert.equal(line(answered), '- two')
    assert.equal(line(after(answered, [says('t2', 'Thanks')])), 'Thanks')
  })

  test('is not what it thinks, what its sub-agents say, nor nothing', () => {
    const asked = after(aSession(), [says('t1', 'Go')])
    const others = [answers('hm', { kind: 'thinking' }), answers('sub', { parent: 'c' }), answers(' \n ')]
    assert.equal(line(after(asked, others)), 'Go')
    assert.equal(after(asked, others), asked, 'and the state is the very same: nothing has to be written')
  })

  test('is the one before when a message is taken back', () => {
    const waits = after(aSession(), [says('t1', 'Go'), answers('Gone.'), says('t2', 'Stop')])
    assert.equal(line(waits), 'Stop')
    assert.equal(line(after(waits, [{ type: 'turn.cancelled', turnId: 't2', reason: '' }])), 'Gone.')
    assert.equal(line(after(waits, [{ type: 'turn.cancelled', turnId: 't1', reason: '' }])), 'Stop')
  })

  test('is also what was said into a turn that runs', () => {
    const input = [{ type: 'text' as const, text: 'faster' }]
    const steered = {
      type: 'turn.steered' as const,
      turnId: 't1',
      steerId: 's',
      input,
      key: null,
      origin: null,
    }
    assert.equal(line(after(aSession(), [says('t1', 'Go'), steered])), 'faster')
  })
})

test('a session is called by its title, or by how it began', () => {
  const made = aSession()
  assert.equal(nameOf(made), null)
  const image = { type: 'image' as const, mediaType: 'image/png', data: '' }
  const picture: EventBody = { ...says('t0', ''), input: [image] } as EventBody
  const begun = after(made, [
    picture,
    says('t1', '\n## Make the login page faster\nIt is slow.'),
    says('t2', 'Now the rest'),
  ])
  assert.equal(nameOf(begun), '## Make the login page faster')
  const told = after(begun, [{ type: 'session.changed', reason: 'agent', toldTitle: 'Faster login' }])
  assert.equal(nameOf(told), 'Faster login')
  assert.equal(nameOf(after(told, [{ type: 'session.changed', title: 'Login' }])), 'Login')
})

describe('what it is doing', () => {
  test('is what the newest call is about that still runs', () => {
    const one = after(aSession(), [begins('a', 'Task', { description: 'Look around', prompt: 'Look.' })])
    assert.equal(doing(one), 'Task: Look around')
    const two = after(one, [begins('b', 'Bash', { command: 'npm test\n  --silent' })])
    assert.equal(doing(two), 'Bash: npm test --silent')
    assert.equal(doing(after(two, [ends('b')])), 'Task: Look around')
    assert.equal(doing(after(two, [ends('a'), ends('b')])), null)
  })

  test('files are told from the session on', () => {
    const edits = (path: string) => doing(after(aSession(), [begins('a', 'Edit', { file_path: path })]))
    assert.equal(edits('/project/src/a.ts'), 'Edit: src/a.ts')
    assert.equal(edits('/elsewhere/a.ts'), 'Edit: /elsewhere/a.ts')
    assert.equal(doing(after(aSession(), [begins('a', 'Think', null)])), 'Think')
  })

  test('is nothing when the turn is over, or begins anew', () => {
    const runs = after(aSession(), [
      says('t1', 'Go'),
      { type: 'turn.started', turnId: 't1' },
      begins('a', 'Bash', {}),
    ])
    assert.equal(doing(runs), 'Bash')
    assert.equal(doing(after(runs, [COMPLETED])), null)
    assert.equal(doing(after(runs, [{ type: 'turn.retried', turnId: 't1', reason: '' }])), null)
  })

  test('of a thousand calls the newest few are remembered', () => {
    const calls = Array.from({ length: 1000 }, (_, index) =>
      begins(`c${index}`, 'Bash', { command: `n${index}` }),
    )
    const state = after(aSession(), calls)
    assert.equal(state.glance!.calls.length, 8)
    assert.equal(doing(state), 'Bash: n999')
  })
})

describe('an excerpt', () => {
  test('is one line, cut, without what moves a cursor or turns text around', () => {
    assert.equal(excerpt('  a\tb\r\n c ', 10), 'a b c')
    assert.equal(excerpt('\u001b[31mred\u001b[0m', 20), '[31mred [0m')
    assert.equal(excerpt('safe\u202eevil\u2066x\u200f', 20), 'safe evil x')
    assert.equal(excerpt('abcdef', 4), 'abc…')
    assert.equal(excerpt('abc 😀😀', 6), 'abc…')
    assert.equal(excerpt('a😀😀', 4), 'a😀…')
    assert.ok(excerpt('\ud800x', 9).isWellFormed())
    assert.ok(excerpt('x'.repeat(10_000_000), 200).length <= 200)
  })

  test('of a text may be its first line, up to the end of a word', () => {
    assert.equal(firstLine('\n---\nHello there\nmore', 60), 'Hello there')
    assert.equal(firstLine('one two three four', 12), 'one two…')
    assert.equal(firstLine('one two thre', 12), 'one two thre')
    assert.equal(firstLine('abcdefghijklmnop', 10), 'abcdefghi…')
    assert.equal(firstLine('ends with…', 60), 'ends with…')
    assert.equal(firstLine('…\n!!', 60), null)
    assert.ok(firstLine('word '.repeat(100_000), 60)!.length <= 60)
  })

  test('or its last', () => {
    assert.equal(lastLine('a\nb\u2028c\n\n...\n', 60), 'c')
    assert.equal(lastLine('', 60), null)
    assert.equal(lastLine('日本語', 60), '日本語')
    assert.equal(lastLine(`${'x'.repeat(1_000_000)}\nend`, 60), 'end')
  })
})
