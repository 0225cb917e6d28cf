import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { demoDriver } from '../../src/agents/demo/driver.ts'
import type { Ask, Block, Message, Piece } from '../../src/relay/ask.ts'
import type { RelayFailure } from '../../src/relay/failure.ts'
import { createAgentProvider } from '../../src/relay/providers/agent.ts'
import { type Cascade, createCascade } from '../../src/relay/providers/cascade.ts'
import type { Provider } from '../../src/relay/providers/provider.ts'
import type { SessionSetup } from '../../src/relay/sessions/launch.ts'
import { createNamedSessions } from '../../src/relay/sessions/named.ts'
import { createTalks, type Talks } from '../../src/relay/sessions/talks.ts'
import type { Memory } from '../../src/relay/sessions/memory.ts'
import { startEngine, type TestEngine } from '../support/engine.ts'
import { until } from '../support/wait.ts'
import { memoryFor, remembered } from './remembering.ts'
import { anAsk, scratch } from './servers.ts'

/** An agent that can do little. */
const plain = {
  ...demoDriver,
  name: 'plain',
  capabilities: { ...demoDriver.capabilities, images: false, clientTools: false },
}
const MAX_ACTIVE = 2
const MAX_WAITING = 2
const MAX_HELD = 3

let t: TestEngine
let talks: Talks
let cascade: Cascade
let setup: SessionSetup
let clock: number
let memory: Memory
const directory = scratch()

const elsewhere: Provider = {
  name: 'elsewhere',
  unavailable: () => Promise.resolve(null),
  async *answer() {
    yield { type: 'text', text: 'from elsewhere' }
    yield { type: 'end', stopReason: 'end_turn', stopSequence: null, usage: null }
  },
}

before(async () => {
  t = await startEngine({ drivers: [demoDriver, plain] })
})
after(() => t.stop())
beforeEach(() => {
  clock = 0
  const now = (): number => Date.now() + clock
  talks = createTalks(t.engine, { now, warn: (message) => t.warnings.push(message) })
  memory = memoryFor(directory, () => talks, MAX_WAITING, now)
  setup = {
    agent: 'demo',
    cwd: t.cwd,
    ownTools: false,
    takesTools: true,
    canBeBare: true,
    takesEffort: true,
    mode: 'ask',
  }
  const agent = createAgentProvider({
    engine: t.engine,
    talks,
    setup: () => setup,
    wanted: () => {},
    created: () => {},
    missing: () => Promise.resolve(null),
    now,
    maxActive: MAX_ACTIVE,
    maxWaiting: MAX_WAITING,
    maxHeld: MAX_HELD,
  })
  cascade = createCascade({ providers: () => [agent, elsewhere] })
})

const user = (said: string | Block[]): Message => ({
  role: 'user',
  content: typeof said === 'string' ? [{ type: 'text', text: said }] : said,
})
const TOOLS = [{ name: 'one', description: 'one', inputSchema: { type: 'object' } }]
const CALL = `[[call one ${Buffer.from('{}').toString('base64')}]]`

interface Heard {
  by: string
  text: string
  calls: (Piece & { type: 'tool_use' })[]
}

async function hear(
  messages: Message[],
  given: Partial<Ask> = {},
  stickyId: string | null = null,
): Promise<Heard> {
  const { signal } = new AbortController()
  const ask = anAsk({ messages, maxTokens: 1000, ...given })
  let by = ''
  const all = await remembered(memory, { id: 'c', ask, stickyId, signal }, async (call) => {
    const { provider, pieces } = await cascade.answer(call)
    by = provider
    return pieces
  })
  const text = all.map((piece) => (piece.type === 'text' ? piece.text : '')).join('')
  return { by, text, calls: all.filter((piece) => piece.type === 'tool_use') }
}

/** The conversation after a call, with its result. */
function withResult({ calls }: Heard, text: string): Message[] {
  const results: Block[] = calls.map(({ id }) => ({
    type: 'tool_result',
    toolUseId: id,
    content: [{ type: 'text', text }],
    isError: false,
  }))
  return [user(CALL), { role: 'assistant', content: calls }, user(results)]
}

async function agentIs(status: string): Promise<void> {
  assert.equal((await cascade.status())[0]!.status, status)
}

function relaySessions(): number {
  return t.engine.sessions.list({ limit: 100 }).filter(({ origin }) => origin === 'relay').length
}

describe('what says nothing about the agent', () => {
  test('tools and images that it does not take are taken elsewhere, and leave nothing behind', async () => {
    setup = { ...setup, agent: 'plain', takesTools: false }
    const image: Block = { type: 'image', mediaType: 'image/png', data: 'AAAA' }
    for (let i = 0; i < 3; i++) {
      assert.equal((await hear([user('x')], { tools: TOOLS })).by, 'elsewhere')
      assert.equal((await hear([user([image])])).by, 'elsewhere')
    }
    assert.equal((await hear([user('[[say by myself]]')])).text, 'by myself')
    await agentIs('ok')
    await until(() => relaySessions() === 0)
  })

  test('a full lane sends nobody else away', async () => {
    const calls = Array.from({ length: MAX_WAITING + 2 }, () => hear([user('[[drip 5 20]]')], {}, 'busy'))
    const outcomes = await Promise.allSettled(calls)
    const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason as RelayFailure] : []))
    assert.deepEqual(
      refused.map(({ status }) => status),
      [529],
    )
    assert.equal((await hear([user('[[say here]]')])).by, 'demo')
    await agentIs('ok')
    talks.drop(talks.sticky('busy')!)
  })

  test('whoever resets a session during its call stops the call, here and elsewhere', async () => {
    for (let i = 0; i < 3; i++) {
      const call = hear([user('[[hang]]')], {}, 'reset')
      await until(() => talks.sticky('reset') !== null)
      talks.drop(talks.sticky('reset')!)
      await assert.rejects(call, { status: 500, message: /interrupted from elsewhere/ })
    }
    assert.equal((await hear([user('[[say here]]')], {}, 'reset')).by, 'demo')
    talks.drop(talks.sticky('reset')!)
  })
})

describe('results', () => {
  test('that come twice at once are both answered', async () => {
    const messages = withResult(await hear([user(CALL)], { tools: TOOLS }), '[[say once]]')
    const both = await Promise.all([hear(messages, { tools: TOOLS }), hear(messages, { tools: TOOLS })])
    assert.deepEqual(
      both.map(({ by, text }) => `${by}: ${text}`),
      ['demo: once', 'demo: once'],
    )
  })

  test('for another session’s call are not brought to it', async () => {
    const held = await hear([user(CALL)], { tools: TOOLS }, 'mine')
    const messages = withResult(held, '[[say result]]')
    assert.equal((await hear(messages, { tools: TOOLS }, 'other')).text, 'result')
    assert.ok(talks.holding(held.calls[0]!.id), 'it waits on')
    assert.equal((await hear(messages, { tools: TOOLS }, 'mine')).text, 'result')
    for (const id of ['mine', 'other']) talks.drop(talks.sticky(id)!)
  })
})

test('agents whose results never come do not pile up, and what they were asked is not lost', async () => {
  const held: Heard[] = []
  for (let i = 0; i < MAX_HELD + 5; i++) held.push(await hear([user(CALL)], { tools: TOOLS }))
  assert.equal(talks.list().length, MAX_HELD)
  const found = await Promise.all(
    [held[0]!, held.at(-1)!].map((one) => hear(withResult(one, '[[say it]]'), { tools: TOOLS })),
  )
  assert.deepEqual(
    found.map(({ by, text }) => `${by}: ${text}`),
    ['demo: it', 'demo: it'],
  )
  for (const talk of talks.list()) talks.drop(talk)
})

test('a question of the agent does not wait: a caller of an API cannot be asked', async () => {
  setup = { ...setup, ownTools: true }
  const { text } = await hear([user('[[ask Which one?]]')])
  setup = { ...setup, ownTools: false }
  assert.match(text, /Nobody can answer questions/)
})

describe('a sticky session', () => {
  test('is as the settings are now', async () => {
    await hear([user('[[remember PEAR]] [[say ok]]')], {}, 'set')
    assert.equal((await hear([user('[[recall]]')], {}, 'set')).text, 'recall: PEAR')
    setup = { ...setup, ownTools: true }
    assert.equal((await hear([user('[[recall]]')], {}, 'set')).text, 'recall: PEAR')
    assert.equal(t.engine.sessions.get(talks.sticky('set')!.sessionId).settings.ownTools, true)
    talks.drop(talks.sticky('set')!)
  })

  test('does not expire while it is called', async () => {
    const sessions = createNamedSessions({
      talks,
      memory,
      pool: { ready: () => Promise.resolve() },
      events: { add: () => {} },
      now: () => Date.now() + clock,
    })
    const call = hear([user('[[drip 30 100]]')], {}, 'long')
    await until(() => talks.sticky('long') !== null)
    clock = 60_000
    sessions.expire({ idleMs: 1000, heldMs: 1000 })
    assert.equal((await call).by, 'demo')
    sessions.expire({ idleMs: 1000, heldMs: 1000 })
    assert.ok(talks.sticky('long'), 'its time counts from the end of the call')
    clock = 120_000
    sessions.expire({ idleMs: 1000, heldMs: 1000 })
    assert.equal(talks.sticky('long'), null)
  })
})
