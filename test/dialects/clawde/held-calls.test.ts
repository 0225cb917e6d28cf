import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { LoggedEvent, type Event, type EventBody } from '../../../src/core/event.ts'
import type { Mode } from '../../../src/core/mode.ts'
import { NO_USAGE } from '../../../src/core/usage.ts'
import type { Push } from '../../../src/dialects/clawde/pushes.ts'
import { createTeller } from '../../../src/dialects/clawde/teller.ts'
import { startEngine } from '../../support/engine.ts'
import { aQuestion } from '../../support/session.ts'
import type { Json } from './support.ts'

const NEVER = 3_600_000

function started(callId: string, tool = 'Bash', parent: string | null = null): EventBody {
  return { type: 'tool.started', callId, tool, input: {}, parent }
}

function asked(callId: string, open: boolean): EventBody {
  const approval = aQuestion(`of ${callId}`, { callId })
  return { type: 'approval.requested', approval, turnId: 't1', open, external: false, timeoutAt: null }
}

const allowed = (callId: string): EventBody => ({
  type: 'approval.resolved',
  approvalId: `of ${callId}`,
  decision: { behavior: 'allow' },
  by: 'test',
  asked: true,
})

const completed = (callId: string): EventBody => ({
  type: 'tool.completed',
  callId,
  output: 'x',
  isError: false,
  parent: null,
  cut: 0,
})

function short({ method, params, seq }: Push): string {
  const call = params['toolCall'] as Json | undefined
  const about = call ? `${call['id']} ${call['status']}` : `${params['toolCallId'] ?? ''} ${params['status']}`
  return `${method.split('.')[1]} ${about} @${seq}`
}

/** A turn in this mode, and what clients are told of events that are made up, the first of which is number 10. */
async function teller(t: TestContext, mode: Mode, silentMs = NEVER) {
  const { engine, cwd, stop } = await startEngine({})
  t.after(stop)
  const { id: sessionId } = await engine.sessions.create({ agent: 'demo', cwd, mode: 'auto' })
  const later = Promise.withResolvers<string[]>()
  const one = createTeller(engine, { silentMs, tell: (pushes) => later.resolve(pushes.map(short)) })
  t.after(() => one.close())
  let seq = 8
  const tell = (...bodies: EventBody[]): string[] => {
    const events = bodies.map((body) => ({ seq: ++seq, at: 0, sessionId, turnId: 't1', ...body }) as Event)
    return one.tell(events.map((event) => LoggedEvent.of(event))).map(short)
  }
  tell({ type: 'turn.started', turnId: 't1', mode })
  return { later: later.promise, tell }
}

test('a call that is asked about begins as pending, however long the question takes', async (t) => {
  const { tell } = await teller(t, 'ask')
  assert.deepEqual(tell(started('c1')), [])
  assert.deepEqual(tell(asked('c1', true)), ['toolCallCreated c1 pending @11'])
  assert.deepEqual(tell(completed('c1')), ['toolCallUpdated c1 done @12'])
})

test('one that is not asked about is told when that is known; nobody may go on after it before', async (t) => {
  const { tell } = await teller(t, 'ask')
  const message = { type: 'message.completed', kind: 'text', parent: null, aborted: false } as const
  assert.deepEqual(tell(started('c1')), [])
  assert.deepEqual(tell({ ...message, messageId: 'm1', text: 'hi' }), [
    'messageCreated  undefined @9',
    'messageUpdated  done @9',
  ])
  assert.deepEqual(tell(completed('c1')), ['toolCallCreated c1 running @11', 'toolCallUpdated c1 done @12'])
  assert.deepEqual(tell(started('c2')), [])
  assert.deepEqual(tell(asked('c2', false)), ['toolCallCreated c2 running @14'], 'a rule has answered')
  assert.deepEqual(tell(started('c3', 'Task')), [])
  assert.deepEqual(tell(started('c4', 'Read', 'c3')), ['toolCallCreated c3 running @15'], 'it is at work')
  assert.deepEqual(tell({ type: 'turn.interrupted', turnId: 't1', usage: NO_USAGE }), [
    'toolCallUpdated c2 error @16',
    'toolCallUpdated c3 error @16',
    'toolCallCreated c4 running @16',
    'toolCallUpdated c4 error @17',
  ])
})

test('in auto a call is told at once, unless it is a question', async (t) => {
  const { tell } = await teller(t, 'auto')
  assert.deepEqual(tell(started('c1')), ['toolCallCreated c1 running @10'])
  assert.deepEqual(tell(started('c2', 'AskUserQuestion')), [])
  assert.deepEqual(tell(asked('c2', true)), ['toolCallCreated c2 pending @12'])
})

test('after a silence a call is taken for one that runs', async (t) => {
  const { tell, later } = await teller(t, 'ask', 1)
  assert.deepEqual(tell(started('c1')), [])
  assert.deepEqual(await later, ['toolCallCreated c1 running @10'])
  assert.deepEqual(tell(asked('c1', true)), ['toolCallUpdated c1 pending @11'], 'it was none')
})

test('silence says nothing while another question is open', async (t) => {
  const { tell, later } = await teller(t, 'ask', 1)
  const other = await teller(t, 'ask', 1)
  assert.deepEqual(tell(asked('c1', true), started('c2')), ['toolCallCreated c1 pending @10'])
  // Its silence is over after that of the first one.
  other.tell(started('c3'))
  await other.later
  assert.deepEqual(tell(allowed('c1')), ['toolCallUpdated c1 running @10'])
  assert.deepEqual(await later, ['toolCallCreated c2 running @12'])
})
