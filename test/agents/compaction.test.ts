import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { acpDriver } from '../../src/agents/acp/driver.ts'
import { gemini } from '../../src/agents/acp/gemini.ts'
import { opencode } from '../../src/agents/acp/opencode.ts'
import { codexDriver } from '../../src/agents/codex/driver.ts'
import { compactMessage } from '../../src/core/compaction.ts'
import type { DriverOutput } from '../../src/agents/output.ts'
import { aSession } from '../support/session.ts'
import { story as claudeStory, translate as claude } from './claude-recordings.ts'
import { story, translate as codex } from './codex-recordings.ts'
import { ended, item, note, OPENED } from './codex-said.ts'

const of = (outputs: DriverOutput[]) => outputs.filter(({ type }) => type.startsWith('agent.compact'))
const PROMPT = { kind: 'prompt', turnId: 't1', input: compactMessage() } as const
const open = aSession({ id: 's1', nativeId: 'T', turnCount: 2 })

describe('Claude sums up', () => {
  const status = (more: object) => ({ type: 'system', subtype: 'status', ...more })
  const BEGUN = status({ status: 'compacting' })
  const RESULT = { type: 'result', is_error: false, result: '' }

  test('and tells how much that has left', () => {
    const compact_metadata = { trigger: 'manual', pre_tokens: 9000, post_tokens: 700 }
    const boundary = { type: 'system', subtype: 'compact_boundary', compact_metadata }
    const outputs = claude([
      BEGUN,
      status({ status: 'compacting', compact_output_chars: 80 }),
      status({ status: null, compact_result: 'success' }),
      boundary,
      RESULT,
    ])
    assert.deepEqual(of(outputs), [
      { type: 'agent.compacting', tokens: null, window: null },
      { type: 'agent.compacted', tokensBefore: 9000, tokensAfter: 700, window: null, error: null },
    ])
    const passedOn = outputs.filter((it) => it.type === 'agent.other').map(({ kind }) => kind)
    assert.deepEqual([passedOn, claudeStory(outputs).at(-1)], [['system/compact_boundary'], 'completed'])
  })

  test('or tells why not', () => {
    const failed = status({ status: null, compact_result: 'failed', compact_error: 'no room' })
    const errors = [
      [BEGUN, failed, RESULT],
      [BEGUN, RESULT],
      [failed, RESULT],
    ].map((lines) => of(claude(lines)).flatMap((it) => (it.type === 'agent.compacted' ? [it.error] : [])))
    assert.deepEqual(errors, [['no room'], ['the turn was over before it was done'], []])
  })
})

describe('Codex sums up', () => {
  const ASKED = { id: 's1:compact:t1', result: {} }
  const STARTED = note('turn/started', { turn: { id: 'C1' } })
  const used = (total: number, last: number) =>
    note('thread/tokenUsage/updated', {
      turnId: 'C1',
      tokenUsage: { total: { totalTokens: total }, last: { totalTokens: last }, modelContextWindow: 1000 },
    })
  const COMPACTION = { type: 'contextCompaction', id: 'k' }

  test('when it is told to, in a turn of its own', () => {
    const lines = codexDriver.encode(PROMPT, open)
    assert.deepEqual(
      lines.map((line) => JSON.parse(line) as object),
      [{ id: 's1:compact:t1', method: 'thread/compact/start', params: { threadId: 'T' } }],
    )
    const whole = (...first: object[]) =>
      codex([
        OPENED,
        used(900, 900),
        ...first,
        item('started', COMPACTION),
        used(950, 120),
        item('completed', COMPACTION),
        ended('completed'),
      ])
    const told = [
      'init m',
      'ready',
      'agent.context',
      'accepted t1',
      'agent.compacting',
      'agent.context',
      'agent.compacted',
      'completed',
    ]
    for (const first of [
      [ASKED, STARTED],
      [STARTED, ASKED],
    ]) {
      assert.deepEqual(story(whole(...first)), told)
      assert.deepEqual(of(whole(...first)), [
        { type: 'agent.compacting', tokens: 900, window: 1000 },
        { type: 'agent.compacted', tokensBefore: 900, tokensAfter: 120, window: 1000, error: null },
      ])
    }
  })

  test('and fails with its turn, or is refused', () => {
    const error = { message: 'no way', codexErrorInfo: 'other' }
    const outputs = codex([OPENED, ASKED, STARTED, item('started', COMPACTION), ended('failed', { error })])
    assert.deepEqual(of(outputs).at(-1), {
      type: 'agent.compacted',
      tokensBefore: null,
      tokensAfter: null,
      window: null,
      error: 'no way',
    })
    assert.equal(story(outputs).at(-1), 'failed model_error')
    const refused = codex([OPENED, { id: 's1:compact:t1', error: { message: 'busy' } }])
    assert.equal(story(refused).at(-1), 'failed agent_error')
  })

  test('and is stopped as soon as it can be', () => {
    const wish = { id: 's1:interrupt', result: { thread: { id: 'T' } } }
    const before = codex([OPENED, ASKED, wish, STARTED])
    assert.deepEqual(story(before).slice(-2), ['accepted t1', 'wants stop'])
  })

  test('but a sub-agent that does says nothing', () => {
    const child = { id: 'c', type: 'collabAgentToolCall', tool: 'spawnAgent', receiverThreadIds: ['K'] }
    const lines = [
      item('started', child),
      item('started', COMPACTION, 'K'),
      item('completed', COMPACTION, 'K'),
    ]
    assert.deepEqual(of(codex([OPENED, ASKED, STARTED, ...lines])), [])
  })
})

describe('an agent of the Agent Client Protocol sums up', () => {
  const driver = acpDriver(opencode)

  function translate(lines: unknown[]): DriverOutput[] {
    let state = driver.translator.initial(open)
    return lines.flatMap((line) => {
      const step = driver.translator.step(state, line)
      state = step.state
      return step.outputs
    })
  }

  const mark = (id: string) => ({ id, error: { code: -32601, message: 'Method not found' } })
  const usage = {
    method: 'session/update',
    params: { sessionId: 'T', update: { sessionUpdate: 'usage_update', used: 800, size: 1000 } },
  }

  test('when it is sent the message for it, if it knows one', () => {
    const ids = (lines: string[]) => lines.map((line) => (JSON.parse(line) as { id: string }).id)
    assert.deepEqual(ids(driver.encode(PROMPT, open)), ['begin:t1', 'compact', 'prompt:t1', 'accepted:t1'])
    assert.deepEqual(ids(acpDriver(gemini).encode(PROMPT, open)), ['begin:t1', 'prompt:t1', 'accepted:t1'])
  })

  test('and how that ended its turn tells', () => {
    const lines = [usage, mark('begin:t1'), mark('compact'), mark('accepted:t1')]
    const end = (more: object) => of(translate([...lines, { id: 'prompt:t1', ...more }]))
    const known = { tokensBefore: 800, tokensAfter: null, window: 1000 }
    assert.deepEqual(end({ result: { stopReason: 'end_turn' } }), [
      { type: 'agent.compacting', tokens: 800, window: 1000 },
      { type: 'agent.compacted', ...known, error: null },
    ])
    const failed = end({ error: { code: 500, message: 'no way' } }).at(-1)
    assert.deepEqual(failed, { type: 'agent.compacted', ...known, error: 'no way' })
  })
})
