import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { EventBody } from '../../../src/core/event.ts'
import { NO_USAGE } from '../../../src/core/usage.ts'
import { toldOf } from './fold.ts'

/** What is told about these events, in a session that runs the turn `t`. */
function told(...bodies: EventBody[]) {
  const { events, conversation } = toldOf({ text: 'hello' }, ...bodies)
  return { events, conversation, labels: events.flatMap(({ payload }) => payload['status_label'] ?? []) }
}

const text = (messageId: string, words: string): EventBody => {
  return { type: 'message.completed', messageId, kind: 'text', text: words, parent: null, aborted: false }
}

describe('what agents say', () => {
  test('a model that does not answer is tried again', () => {
    const data = { attempt: 2, maxRetries: 8 }
    const { labels } = told({
      type: 'agent.notice',
      level: 'warning',
      code: 'model_retry',
      message: 'm',
      data,
    })
    assert.deepEqual(labels, ['capacity unavailable; retrying (2/8)...'])
  })

  test('an interrupted turn that was faster still ends in session.interrupted', () => {
    const { events } = told(
      text('m', 'all of it'),
      { type: 'turn.interrupting', turnId: 't' },
      { type: 'turn.completed', turnId: 't', usage: NO_USAGE, text: 'all of it' },
    )
    const types = events.map(({ type }) => type)
    assert.ok(types.includes('session.interrupted') && !types.includes('session.completed'))
  })

  test('who has cut off a turn', () => {
    const interrupted: EventBody = { type: 'turn.interrupted', turnId: 't', usage: NO_USAGE }
    const gone: EventBody = {
      type: 'agent.exited',
      runId: 'r',
      code: 0,
      signal: null,
      stderr: '',
      expected: true,
    }
    const words = [
      [{ type: 'turn.interrupting', turnId: 't' }, gone],
      [{ type: 'turn.interrupting', turnId: 't', reason: 'stopping' }, gone],
      [gone],
      [],
    ].map((before) => told(...(before as EventBody[]), interrupted).conversation.record.messages.at(-1)?.text)
    assert.deepEqual(words, [
      'response interrupted by user.',
      'response interrupted: the daemon was stopped.',
      'response interrupted: the process of the agent was ended.',
      'response interrupted.',
    ])
  })

  test('an interrupted turn that failed for it too', () => {
    const error = { code: 'model_error', message: 'Request was aborted.' }
    const { events, conversation } = told(
      { type: 'turn.interrupting', turnId: 't' },
      { type: 'turn.failed', turnId: 't', usage: NO_USAGE, error },
    )
    const types = events.map(({ type }) => type)
    assert.ok(types.includes('session.interrupted') && !types.includes('session.error'))
    assert.equal(conversation.record.history.length, 1)
  })

  test('calls side by side are one round, and the next ones another', () => {
    const call = (callId: string): EventBody => {
      return { type: 'tool.started', callId, tool: 'Read', input: {}, parent: null }
    }
    const done = (callId: string, isError = false): EventBody => {
      return { type: 'tool.completed', callId, output: `of ${callId}`, isError, parent: null, cut: 0 }
    }
    const { events } = told(call('a'), call('b'), done('b'), done('a', true), call('c'), done('c'), done('x'))
    const results = events.filter(({ type }) => type === 'session.tool.results')
    const shown = results.map(({ payload }) => payload['data']) as { toolRound: number; executed: object[] }[]
    assert.deepEqual(
      shown.map(({ toolRound }) => toolRound),
      [1, 2],
    )
    assert.deepEqual(shown[0]!.executed, [
      { name: 'Read', ok: true, input: {}, result: 'of b', callId: 'b' },
      { name: 'Read', ok: false, input: {}, result: 'of a', error: 'of a', callId: 'a' },
    ])
  })

  test('texts of all rounds are one answer, without anything between', () => {
    const { events } = told(text('m1', 'one.'), text('m2', 'two.'), {
      type: 'turn.completed',
      turnId: 't',
      usage: NO_USAGE,
      text: 'two.',
    })
    const { payload } = events.find(({ type }) => type === 'session.message.appended')!
    assert.equal((payload['message'] as { text: string }).text, 'one.two.')
  })

  test('sub-agents speak for themselves', () => {
    const { events } = told({
      type: 'message.delta',
      messageId: 'm',
      kind: 'text',
      text: 'x',
      parent: 'call',
    })
    assert.deepEqual(events, [])
  })

  test('tools are known once the agent has named them', () => {
    const { conversation } = told({
      type: 'agent.init',
      nativeId: 'n',
      model: null,
      version: null,
      raw: { tools: ['Read', 'Bash', 7] },
    })
    assert.deepEqual(conversation.tools, ['Read', 'Bash'])
  })

  test('what happened meanwhile is lost: nothing looks as if it ran', () => {
    const { conversation } = told()
    const { events: said } = conversation.lost('gone')
    assert.deepEqual(
      said.map(({ type }) => type),
      ['session.message.appended', 'session.error', 'session.status'],
    )
    assert.equal(conversation.busy, false)
  })
})
