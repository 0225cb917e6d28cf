import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { Ask, Block, Message, Piece } from '../../src/relay/ask.ts'
import { RelayFailure } from '../../src/relay/failure.ts'
import { createAgentProvider } from '../../src/relay/providers/agent.ts'
import type { Provider } from '../../src/relay/providers/provider.ts'
import { createTalks, type Talks } from '../../src/relay/sessions/talks.ts'
import type { Memory } from '../../src/relay/sessions/memory.ts'
import { startEngine, type TestEngine } from '../support/engine.ts'
import { until } from '../support/wait.ts'
import { memoryFor, remembered } from './remembering.ts'
import { scratch } from './servers.ts'

let t: TestEngine
let talks: Talks
let provider: Provider
let memory: Memory
const directory = scratch()

function start(): void {
  talks = createTalks(t.engine, { now: Date.now, warn: (message) => t.warnings.push(message) })
  talks.restore()
  provider = createAgentProvider({
    engine: t.engine,
    talks,
    setup: () => ({
      agent: 'demo',
      cwd: t.cwd,
      ownTools: false,
      takesTools: true,
      canBeBare: true,
      takesEffort: true,
      mode: 'ask',
    }),
    wanted: () => {},
    created: () => {},
    missing: async () => null,
    now: Date.now,
    maxActive: 4,
    maxWaiting: 4,
    maxHeld: 4,
  })
}

before(async () => {
  t = await startEngine()
  memory = memoryFor(directory, () => talks, 4)
})
after(() => t.stop())
beforeEach(() => start())

const user = (said: string | Block[]): Message => ({
  role: 'user',
  content: typeof said === 'string' ? [{ type: 'text', text: said }] : said,
})
const assistant = (said: string | Block[]): Message => ({ ...user(said), role: 'assistant' })

function ask(messages: Message[], given: Partial<Ask> = {}): Ask {
  return {
    model: 'demo',
    maxTokens: 1000,
    stopSequences: [],
    system: null,
    messages,
    tools: [],
    toolChoice: { type: 'auto' },
    stream: true,
    thinking: false,
    json: null,
    body: { shape: 'anthropic', json: {} },
    ...given,
  }
}

interface Heard {
  text: string
  calls: (Piece & { type: 'tool_use' })[]
  end: Piece & { type: 'end' }
}

async function hear(
  messages: Message[],
  given: Partial<Ask> = {},
  stickyId: string | null = null,
): Promise<Heard> {
  const call = { id: 'c', ask: ask(messages, given), stickyId, signal: new AbortController().signal }
  const pieces = await remembered(memory, call, (whole) => provider.answer(whole))
  const end = pieces.pop()
  assert.ok(end?.type === 'end')
  const text = pieces.flatMap((piece) => (piece.type === 'text' ? [piece.text] : [])).join('')
  return { text, calls: pieces.filter((piece) => piece.type === 'tool_use'), end }
}

const TOOLS = ['one', 'two'].map((name) => ({ name, description: name, inputSchema: { type: 'object' } }))
const b64 = (input: object): string => Buffer.from(JSON.stringify(input)).toString('base64')
const result = (toolUseId: string, text: string): Block => ({
  type: 'tool_result',
  toolUseId,
  content: [{ type: 'text', text }],
  isError: false,
})

function relaySessions(): string[] {
  return t.engine.sessions.list({ limit: 100 }).flatMap(({ id, origin }) => (origin === 'relay' ? [id] : []))
}

describe('a call that stands for itself', () => {
  test('is answered by a fresh agent, which leaves nothing behind', async () => {
    const { text, end } = await hear([user('[[say hello there]]')])
    assert.deepEqual([text, end.stopReason], ['hello there', 'end_turn'])
    assert.ok(end.usage && end.usage.outputTokens > 0)
    await until(() => relaySessions().length === 0, 'no sessions')
    assert.equal((await hear([user('[[recall]]')])).text, 'recall: none')
  })

  test('has its system prompt and its whole conversation', async () => {
    const { text } = await hear([user('[[system]]')], { system: 'be terse [[sysword TERSE]]' })
    assert.equal(text, 'system: TERSE')
    const told = await hear([user('first'), assistant('[[say second]]'), user('third')])
    assert.match(told.text, /second/)
  })

  test('streams piece by piece', async () => {
    const call = {
      id: 'c',
      ask: ask([user('[[drip 100000 20]]')]),
      stickyId: null,
      signal: new AbortController().signal,
    }
    const pieces: Piece[] = []
    for await (const piece of provider.answer(call)) if (pieces.push(piece) === 3) break
    const said = pieces.map((piece) => (piece.type === 'text' ? piece.text : '')).join('')
    assert.match(said, /^w1 w2 w3/)
  })

  test('is stopped when its caller goes', async () => {
    const gone = new AbortController()
    const call = { id: 'c', ask: ask([user('[[drip 1000 20]]')]), stickyId: null, signal: gone.signal }
    const pieces = provider.answer(call)[Symbol.asyncIterator]()
    await pieces.next()
    const rest = pieces.next().then(() => pieces.next())
    gone.abort()
    await assert.rejects(rest, { name: 'AbortError' })
    await until(() => relaySessions().length === 0, 'no sessions')
  })

  test('fails as the model does', async () => {
    for (const [status, kind] of [
      [401, 'authentication_error'],
      [429, 'rate_limit_error'],
      [529, 'overloaded_error'],
      [418, 'invalid_request_error'],
    ] as const) {
      await assert.rejects(
        hear([user(`[[fail ${status}]]`)]),
        (error: RelayFailure) => error instanceof RelayFailure && error.kind === kind,
      )
    }
  })

  test('waits for its turn, and is turned away when too many wait', async () => {
    const calls = Array.from({ length: 10 }, () =>
      hear([user('[[drip 10 30]]')]).then(
        () => 'ok',
        (e: RelayFailure) => e.status,
      ),
    )
    const outcomes = await Promise.all(calls)
    assert.deepEqual(
      [outcomes.filter((one) => one === 'ok').length, outcomes.filter((one) => one === 529).length],
      [8, 2],
    )
  })
})

describe('the caller’s tools', () => {
  test('all calls come at once, and their results go on with the same turn', async () => {
    const question = user(`[[call one ${b64({ n: 1 })} two ${b64({ n: 2 })}]]`)
    const { calls, end } = await hear([question], { tools: TOOLS })
    assert.equal(end.stopReason, 'tool_use')
    assert.deepEqual(
      calls.map(({ name, input }) => [name, input]),
      [
        ['one', { n: 1 }],
        ['two', { n: 2 }],
      ],
    )
    const turns = t.engine.turns.list(relaySessions()[0]!, 10).length
    const answered = user(calls.map(({ id, name }) => result(id, name === 'one' ? 'x' : '[[say both]]')))
    const next = await hear([question, assistant(calls), answered], { tools: TOOLS })
    assert.deepEqual([next.text, next.end.stopReason, turns], ['both', 'end_turn', 1])
    await until(() => relaySessions().length === 0, 'no sessions')
  })

  test('a hold that is lost is rebuilt from the conversation', async () => {
    const messages = [
      user('look it up'),
      assistant([{ type: 'tool_use', id: 'toolu_lost', name: 'one', input: {} }]),
      user([result('toolu_lost', '[[say found]]')]),
    ]
    const { text } = await hear(messages, { tools: TOOLS })
    assert.equal(text, 'found')
  })

  test('a hold outlives the daemon', async () => {
    const question = user(`[[call one ${b64({})}]]`)
    const { calls } = await hear([question], { tools: TOOLS }, 'durable')
    const [sessionId] = relaySessions()
    await t.abandon()
    t = await startEngine({ home: t.home })
    start()
    const messages = [question, assistant(calls), user([result(calls[0]!.id, '[[say still here]]')])]
    const { text } = await hear(messages, { tools: TOOLS }, 'durable')
    assert.equal(text, 'still here')
    assert.deepEqual(relaySessions(), [sessionId])
    talks.drop(talks.sticky('durable')!)
  })
})

describe('a sticky session', () => {
  test('is sent only what is new to it', async () => {
    const first = user('[[remember PLUM]] [[say noted]]')
    assert.equal((await hear([first], {}, 's')).text, 'noted')
    const { text } = await hear([first, assistant('noted'), user('[[recall]]')], {}, 's')
    assert.equal(text, 'recall: PLUM')
    const inputs = t.engine.turns.list(talks.sticky('s')!.sessionId, 10).map(({ input }) => input)
    assert.deepEqual(inputs[0], [{ type: 'text', text: '[[recall]]' }])
  })

  test('goes on with a lone message', async () => {
    assert.equal((await hear([user('[[recall]]')], {}, 's')).text, 'recall: PLUM')
    assert.equal((await hear([user('[[remember KIWI]] [[say ok]]')], {}, 's')).text, 'ok')
    assert.equal((await hear([user('[[recall]]')], {}, 's')).text, 'recall: KIWI')
  })

  test('begins anew when it is told another story, and goes on with other grounds', async () => {
    const before = talks.sticky('s')!.sessionId
    const { text } = await hear([user('hi'), assistant('ho'), user('[[recall]]')], {}, 's')
    assert.equal(text, 'recall: none')
    const then = talks.sticky('s')!.sessionId
    assert.notEqual(then, before)
    await hear([user('[[remember FIG]] [[say x]]')], {}, 's')
    assert.equal((await hear([user('[[recall]]')], { system: 'other' }, 's')).text, 'recall: FIG')
    assert.notEqual(talks.sticky('s')!.sessionId, then)
  })

  test('takes one call at a time', async () => {
    const [one, two] = await Promise.all([
      hear([user('[[drip 5 20]]')], {}, 'lane'),
      hear([user('[[say after]]')], {}, 'lane'),
    ])
    assert.deepEqual([one!.text, two!.text], ['w1 w2 w3 w4 w5', 'after'])
  })

  test('is as its caller remembers it after a call that was not heard to its end', async () => {
    const first = user('[[remember FIG]] [[say noted]]')
    await hear([first], {}, 'cut')
    const gone = new AbortController()
    const call = {
      id: 'c',
      ask: ask([first, assistant('noted'), user('[[remember NUT]] [[drip 1000 20]]')]),
      stickyId: 'cut',
      signal: gone.signal,
    }
    for await (const piece of provider.answer(call)) if (piece.type === 'text') break
    const { text } = await hear([first, assistant('noted'), user('[[recall]]')], {}, 'cut')
    assert.equal(text, 'recall: FIG')
  })

  test('is found again by the next daemon', async () => {
    await hear([user('[[remember YAM]] [[say ok]]')], {}, 'again')
    await t.abandon()
    t = await startEngine({ home: t.home })
    start()
    assert.equal((await hear([user('[[recall]]')], {}, 'again')).text, 'recall: YAM')
  })
})
