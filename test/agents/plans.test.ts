import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { gemini } from '../../src/agents/acp/gemini.ts'
import { acpTranslator } from '../../src/agents/acp/translator.ts'
import { claudeTranslator } from '../../src/agents/claude/translator.ts'
import type { DriverOutput } from '../../src/agents/output.ts'
import { aSession } from '../support/session.ts'
import { recorded as acpLines, translate as acp } from './acp-recordings.ts'
import { recorded as claudeLines, translate as claude } from './claude-recordings.ts'
import { recorded as codexLines, translate as codex } from './codex-recordings.ts'

const SIGNS = { pending: '-', active: '>', done: '+' }

/** Each plan that is said, in a line. */
function plans(outputs: readonly DriverOutput[]): string[] {
  return outputs.flatMap((output) =>
    output.type === 'agent.plan'
      ? [output.entries.map(({ text, state }) => `${SIGNS[state]}${text}`).join(' ')]
      : [],
  )
}

const calls = (outputs: readonly DriverOutput[]) =>
  outputs.flatMap((output) => (output.type === 'tool.started' ? [output.tool] : []))

describe('the plan of Claude', () => {
  test('is its list of to-dos, which is a call all the same', () => {
    const outputs = claude(claudeLines('todo-write'))
    assert.deepEqual(plans(outputs), ['>Read -Write', '+Read >Write'])
    assert.deepEqual(calls(outputs), ['TodoWrite', 'TodoWrite', 'TaskCreate'])
  })

  test('is what its tasks have come to, without those that were deleted', () => {
    const outputs = claude(claudeLines('task-list'))
    assert.deepEqual(plans(outputs), [
      '-Read',
      '-Read -Write',
      '>Read -Write',
      '+Read all -Write',
      '+Read all',
    ])
  })

  test('is not said while only a part of it is known', () => {
    const lines = claudeLines('task-list')
    const isEnd = (line: unknown): boolean => (line as { type: string }).type === 'result'
    const later = lines.slice(lines.findIndex(isEnd) + 1)
    assert.deepEqual(plans(claude(later)), ['+Read all'], 'the list of all tasks tells the whole')
  })

  test('does not change with a call that failed, or with one of a sub-agent', () => {
    const lines = claudeLines('todo-write')
    const spoilt = (from: string, to: string) =>
      lines.map((line) => JSON.parse(JSON.stringify(line).replaceAll(from, to)) as unknown)
    assert.deepEqual(
      plans(claude(spoilt('"type":"tool_result"', '"type":"tool_result","is_error":true'))),
      [],
    )
    assert.deepEqual(plans(claude(spoilt('"parent_tool_use_id":null', '"parent_tool_use_id":"c"'))), [])
  })

  test('is said once', () => {
    const lines = claudeLines('todo-write')
    let state = claudeTranslator.initial()
    for (const line of lines) ({ state } = claudeTranslator.step(state, line))
    const again = lines.slice(lines.findLastIndex((line) => JSON.stringify(line).includes('TodoWrite')))
    assert.deepEqual(plans(claude(again, state)), [])
  })
})

test('the plan of Codex belongs to its turn, and is said there when it has changed', () => {
  const lines = codexLines('plan')
  const twice = lines.flatMap((line) =>
    JSON.stringify(line).includes('plan/updated') ? [line, line] : [line],
  )
  assert.deepEqual(plans(codex(twice)), ['>Read -Write', '>Read -Write', '+Read >Write'])
})

test('the plan of OpenCode is its list of to-dos, without what was given up', () => {
  const outputs = acp('opencode-plan').flat()
  assert.deepEqual(plans(outputs), ['>Read -Write', '+Read'])
  assert.deepEqual(calls(outputs), ['todowrite', 'todowrite'])
})

describe('the plan of an agent of the protocol', () => {
  const update = (...statuses: string[]) => ({
    jsonrpc: '2.0',
    method: 'session/update',
    params: {
      update: {
        sessionUpdate: 'plan',
        entries: statuses.map((status, at) => ({ content: `step${at}`, priority: 'low', status })),
      },
    },
  })

  /** What is said about these lines, after a recorded conversation. */
  function after(name: string, lines: unknown[]): DriverOutput[] {
    const translator = acpTranslator(gemini)
    let state = translator.initial(aSession())
    return [...acpLines(name), ...lines].flatMap((line) => {
      const step = translator.step(state, line)
      state = step.state
      return step.outputs
    })
  }

  test('is said when it has changed', () => {
    const first = update('in_progress', 'pending')
    const outputs = after('gemini-simple', [first, first, update('completed', 'in_progress'), update()])
    assert.deepEqual(plans(outputs), ['>step0 -step1', '+step0 >step1', ''])
    assert.ok(!outputs.some((output) => output.type === 'agent.other'))
  })

  test('is nothing to speak of where it is none', () => {
    const odd = { ...update(), params: { update: { sessionUpdate: 'plan', entries: [7, { content: 8 }] } } }
    assert.deepEqual(plans(after('gemini-simple', [odd])), [])
  })
})
