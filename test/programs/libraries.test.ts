import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  absent,
  agentAbsent,
  type ProgramRig,
  type RelayAgent,
  type Result,
  startPrograms,
  versionOf,
} from './rig.ts'

const WORDS = Array.from({ length: 12 }, (_, index) => `w${index + 1}`).join(' ')
const FRUIT = { name: 'plum', count: 3 }

/** What a scenario comes to: a value, or an error with its status and a text that says why. */
type Expected = { value: unknown } | { status: number | null; says: RegExp }

const is = (value: unknown): Expected => ({ value })
const fails = (status: number | null, says: RegExp): Expected => ({ status, says })

/** Programs that are libraries: what each of them has is used as its manual says, and must come to this. */
interface Script {
  script: string
  packages: string[]
  /** Each has the scenarios of `expected`. */
  shapes: string[]
  expected: Record<string, Expected>
  also?: Record<string, Expected>
}

const SCRIPTS: Script[] = [
  {
    script: 'ai-sdk.mjs',
    packages: ['ai', '@ai-sdk/anthropic', '@ai-sdk/openai', '@ai-sdk/openai-compatible'],
    shapes: ['anthropic.', 'openai.', 'compatible.'],
    expected: {
      text: is({ text: 'hello there', finishReason: 'stop', counted: true }),
      system: is('system: TERSE'),
      stream: is({ text: WORDS, finishReason: 'stop' }),
      tools: is({ text: 'tool said: sum 5', steps: 2, called: [['add', { a: 2, b: 3 }]] }),
      streamedTools: is({ text: 'tool said: sum 5', steps: 2 }),
      twoTools: is('tool said: sum 2\nsum 4'),
      memory: is('recall: PLUM'),
      object: is(FRUIT),
      streamedObject: is(FRUIT),
      objectAgain: is({ name: 'plum', count: 4 }),
      noObject: fails(500, /asked twice and did not answer with the JSON/),
      refused: fails(401, /401/),
      streamedRefusal: fails(429, /429/),
    },
  },
  {
    script: 'langchain.mjs',
    packages: ['@langchain/core', '@langchain/anthropic', '@langchain/openai'],
    shapes: ['anthropic.', 'openai.'],
    expected: {
      text: is({ text: 'hello there', counted: true }),
      system: is('system: TERSE'),
      stream: is(WORDS),
      tools: is({ text: 'tool said: sum 5', messages: 3 }),
      twoTools: is('tool said: sum 2\nsum 4'),
      streamedTools: is([['add', { a: 2, b: 3 }]]),
      memory: is('recall: PLUM'),
      toolMemory: is('three'),
      object: is(FRUIT),
      objectByTool: is({ name: 'plum', count: 5 }),
      refused: fails(401, /401/),
    },
    also: { 'openai.jsonMode': is(FRUIT) },
  },
  {
    script: 'openai-agents.mjs',
    packages: ['@openai/agents'],
    shapes: [''],
    expected: {
      text: is('hello there'),
      system: is('system: TERSE'),
      stream: is(WORDS),
      tools: is('tool said: sum 5'),
      streamedTools: is('tool said: sum 5'),
      twoTools: is('tool said: sum 2\nsum 4'),
      handoff: is('Other'),
      memory: is('recall: PLUM'),
      object: is(FRUIT),
      refused: fails(401, /401/),
    },
  },
]

/** The demo agent answers all of it; the real claude what differs between agents. */
const WITH_CLAUDE = ['text', 'tools', 'memory', 'object']
const AGENTS: Record<RelayAgent, (scenario: string) => boolean> = {
  demo: () => true,
  claude: (scenario) => WITH_CLAUDE.includes(scenario),
}

for (const [agent, plays] of Object.entries(AGENTS) as [RelayAgent, (scenario: string) => boolean][]) {
  for (const script of SCRIPTS) {
    const names = script.packages.map((name) => versionOf(name)).join(', ')
    const skip = script.packages.map(absent).find(Boolean) || agentAbsent(agent)
    describe(`${names}, answered by ${agent}`, { skip }, () => {
      const expected = expectedOf(script, plays)
      let rig: ProgramRig
      let results: Record<string, Result> = {}
      before(async () => {
        rig = await startPrograms(agent)
        results = await rig.script(script.script, Object.keys(expected))
      })
      after(() => rig.close())
      for (const [name, outcome] of Object.entries(expected)) test(name, () => check(results[name], outcome))
    })
  }
}

function expectedOf({ shapes, expected, also = {} }: Script, plays: (scenario: string) => boolean) {
  const played = Object.entries(expected).filter(([scenario]) => plays(scenario))
  const each = shapes.flatMap((shape) =>
    played.map(([scenario, outcome]) => [shape + scenario, outcome] as const),
  )
  return Object.fromEntries([...each, ...Object.entries(also)])
}

function check(result: Result | undefined, expected: Expected): void {
  assert.ok(result, 'it was not played')
  if ('value' in expected) return assert.deepEqual(result, { value: expected.value })
  assert.match(String(result.error), expected.says)
  assert.equal(result.status, expected.status)
}
