import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { Ask, Block, Message } from '../../src/relay/ask.ts'
import { createMemory, type Memory } from '../../src/relay/sessions/memory.ts'
import { anAsk, scratch } from './servers.ts'

const text = (said: string): Block[] => [{ type: 'text', text: said }]
const user = (said: string): Message => ({ role: 'user', content: text(said) })
const assistant = (said: string): Message => ({ role: 'assistant', content: text(said) })

const { signal } = new AbortController()
let clock = 0

function memoryIn(directory: string, problems: string[] = [], maxBytes?: number): Memory {
  return createMemory({
    directory,
    ...(maxBytes !== undefined && { maxBytes }),
    maxWaiting: 10,
    now: () => clock,
    kept: () => Promise.resolve(),
    onProblem: (problem) => problems.push(problem),
  })
}

type How = 'heard' | 'unheard' | 'undone' | 'failed'

/** A call, and what whoever answers it is told. */
async function call(
  memory: Memory,
  asked: string | Message[],
  how: How = 'heard',
  given: Partial<Ask> = {},
): Promise<Ask> {
  const messages = typeof asked === 'string' ? [user(asked)] : asked
  const { ask, keep, heard, undo, leave } = await memory.recall('s', anAsk({ messages, ...given }), signal)
  const last = ask.messages.at(-1)!.content.at(-1) as { text: string }
  if (how !== 'failed') await keep(text(`re: ${last.text}`))
  if (how === 'heard') await heard()
  if (how === 'undone') await undo()
  leave()
  return ask
}

const told = ({ messages }: Ask): string[] =>
  messages.map(
    ({ role, content }) => `${role}: ${content.map((block) => (block as { text: string }).text).join('|')}`,
  )

async function toldNext(memory: Memory, asked: string | Message[] = 'next'): Promise<string[]> {
  return told(await call(memory, asked))
}

const FIRST = ['user: one', 'assistant: re: one']

describe('what a named session remembers', () => {
  test('is told with a message that comes alone', async () => {
    const memory = memoryIn(scratch())
    assert.deepEqual(told(await call(memory, 'one')), ['user: one'])
    assert.deepEqual(await toldNext(memory), [...FIRST, 'user: next'])
    assert.deepEqual(await toldNext(memory), [...FIRST, 'user: next', 'assistant: re: next', 'user: next'])
  })

  test('is nothing of a call that failed, or whose answer went nowhere', async () => {
    for (const how of ['failed', 'undone'] as const) {
      const memory = memoryIn(scratch())
      await call(memory, 'one')
      await call(memory, 'two', how)
      assert.deepEqual(await toldNext(memory), [...FIRST, 'user: next'])
    }
  })

  test('is an answer that may have arrived, unless the same is asked again', async () => {
    const memory = memoryIn(scratch())
    await call(memory, 'one')
    await call(memory, 'two', 'unheard')
    assert.deepEqual(told(await call(memory, 'two', 'failed')), [...FIRST, 'user: two'])
    assert.deepEqual(told(await call(memory, 'two', 'unheard')), [...FIRST, 'user: two'])
    const second = ['user: two', 'assistant: re: two']
    assert.deepEqual(await toldNext(memory), [...FIRST, ...second, 'user: next'])
  })

  test('is what the caller tells, if it tells more than one message', async () => {
    const memory = memoryIn(scratch())
    await call(memory, 'one')
    const other = [user('x'), assistant('y'), user('z')]
    assert.deepEqual(told(await call(memory, other)), ['user: x', 'assistant: y', 'user: z'])
    assert.deepEqual(await toldNext(memory), [
      'user: x',
      'assistant: y',
      'user: z',
      'assistant: re: z',
      'user: next',
    ])
  })

  test('grows by what is new, if the caller tells all of it; what it never heard is left out', async () => {
    const directory = scratch()
    const memory = memoryIn(directory)
    await call(memory, 'one')
    const story = [user('one'), assistant('re: one'), user('two')]
    await call(memory, story, 'unheard')
    assert.deepEqual(told(await call(memory, story)), [...FIRST, 'user: two'])
    const lines = readFileSync(join(directory, readdirSync(directory)[0]!), 'utf8')
    assert.equal(lines.split('"one"').length, 2, 'it is written once')
    assert.deepEqual(await toldNext(memory), [...FIRST, 'user: two', 'assistant: re: two', 'user: next'])
  })

  test('has its grounds for who says nothing about them', async () => {
    const memory = memoryIn(scratch())
    const tools = [{ name: 't', description: '', inputSchema: { type: 'object' } }]
    await call(memory, 'one', 'heard', { system: 'be terse', tools })
    const bare = await call(memory, 'two')
    assert.deepEqual([bare.system, bare.tools], ['be terse', tools])
    const other = await call(memory, 'three', 'heard', { system: 'be kind' })
    assert.deepEqual([other.system, other.tools], ['be kind', []])
    assert.equal((await call(memory, 'four')).system, 'be kind')
  })

  test('outlives the daemon, also one that died while it wrote', async () => {
    const directory = scratch()
    await call(memoryIn(directory), 'one')
    const path = join(directory, readdirSync(directory)[0]!)
    assert.equal(statSync(path).mode & 0o077, 0, 'only its owner reads it')
    appendFileSync(path, '{"messages":[{"role":"us')
    writeFileSync(join(directory, 'foreign.jsonl'), 'what is this')
    for (const next of ['two', 'three']) {
      const memory = memoryIn(directory)
      await memory.restore()
      assert.deepEqual([memory.count(), memory.has('s')], [1, true])
      assert.deepEqual((await toldNext(memory, next)).slice(0, 2), FIRST)
    }
    const memory = memoryIn(directory)
    await memory.restore()
    assert.equal((await toldNext(memory)).length, 7)
  })

  test('is forgotten when somebody wants it, or nobody has come for long', async () => {
    const directory = scratch()
    const memory = memoryIn(directory)
    assert.equal(memory.forget('s'), false)
    await call(memory, 'one')
    assert.equal(memory.forget('s'), true)
    assert.deepEqual(readdirSync(directory), [])
    assert.deepEqual(await toldNext(memory), ['user: next'])
    clock += 1000
    assert.deepEqual(memory.expire(clock - 1000), [])
    assert.deepEqual(memory.expire(clock), ['s'])
    assert.deepEqual([memory.count(), readdirSync(directory)], [0, []])
  })

  test('is not written again by a call during which it was forgotten', async () => {
    const directory = scratch()
    const memory = memoryIn(directory)
    await call(memory, 'one')
    const { keep, heard, leave } = await memory.recall('s', anAsk({ messages: [user('two')] }), signal)
    memory.forget('s')
    await keep(text('late'))
    await heard()
    leave()
    assert.deepEqual([memory.has('s'), readdirSync(directory)], [false, []])
  })

  test('is not there again when it was forgotten while it was being written', async () => {
    const directory = scratch()
    const memory = memoryIn(directory)
    const { keep, leave } = await memory.recall('s', anAsk({ messages: [user('one')] }), signal)
    const kept = keep(text('late'))
    memory.forget('s')
    memory.begin('s')
    await kept
    leave()
    assert.deepEqual(readdirSync(directory), [])
    assert.deepEqual(await toldNext(memory), ['user: next'])
  })

  test('begins anew when its file was removed by hand', async () => {
    const directory = scratch()
    const memory = memoryIn(directory)
    await call(memory, 'one')
    rmSync(join(directory, readdirSync(directory)[0]!))
    assert.deepEqual(await toldNext(memory), ['user: next'])
    const restored = memoryIn(directory)
    await restored.restore()
    assert.equal(restored.has('s'), true)
  })

  test('is what it was when only a part of a call could be written', async () => {
    const directory = scratch()
    await call(memoryIn(directory), 'one')
    const path = join(directory, readdirSync(directory)[0]!)
    const before = readFileSync(path, 'utf8')
    // A process whose files may have no more than a few kilobytes, as on a disk that is almost full.
    const file = new URL('../../src/relay/sessions/conversation-file.ts', import.meta.url)
    const script = `import { append } from '${file.href}'
      const answer = [{ type: 'text', text: 'x'.repeat(1_000_000) }]
      await append('${path}', [{ messages: [], answer }]).then(
        () => process.exit(1),
        ({ code }) => process.stdout.write(code))`
    const limited = 'trap "" XFSZ; ulimit -f 8; exec "$0" --input-type=module -e "$1"'
    const env = { PATH: process.env['PATH'], NODE_DISABLE_COMPILE_CACHE: '1' }
    const { stdout, stderr } = spawnSync('sh', ['-c', limited, process.execPath, script], {
      env,
      encoding: 'utf8',
    })
    assert.equal(stdout, 'EFBIG', stderr)
    assert.equal(readFileSync(path, 'utf8'), before)
  })

  test('leaves no file behind that nobody would ever remove', async () => {
    const directory = scratch()
    await call(memoryIn(directory), 'one')
    const [file] = readdirSync(directory)
    writeFileSync(join(directory, `${file}.4711`), '{"name":"s"}\n{"messages":[')
    const memory = memoryIn(directory)
    await memory.restore()
    assert.deepEqual(readdirSync(directory), [file])
    // Where the conversation belongs there is a directory: what was to take its place goes, too.
    memory.forget('s')
    mkdirSync(join(directory, file!))
    await assert.rejects(call(memory, 'two'), { status: 503 })
    assert.deepEqual(readdirSync(directory), [file])
  })

  test('is bounded in all: the conversations that nobody used for longest go', async () => {
    const directory = scratch()
    const say = async (memory: Memory, name: string): Promise<void> => {
      clock += 1000
      const said = anAsk({ messages: [user('x'.repeat(1000))] })
      const { keep, leave } = await memory.recall(name, said, signal)
      await keep(text('noted'))
      leave()
    }
    const first = memoryIn(directory, [], 4000)
    for (const name of ['a', 'b', 'c', 'a', 'd']) await say(first, name)
    assert.deepEqual(
      ['a', 'b', 'c', 'd'].map((name) => first.has(name)),
      [true, false, false, true],
    )
    const second = memoryIn(directory, [], 3000)
    await second.restore()
    assert.equal(second.count(), 1)
    assert.equal(readdirSync(directory).length, 1)
  })

  test('is forgotten when there are too many names, the one that nobody used for longest first', async () => {
    const memory = memoryIn(scratch())
    await call(memory, 'one')
    clock += 1000
    for (let made = 1; made < 10_000; made++) memory.begin(`n${made}`)
    assert.deepEqual([memory.count(), memory.has('s')], [10_000, true])
    memory.begin('one more')
    assert.deepEqual([memory.count(), memory.has('s'), memory.has('n1')], [10_000, false, true])
  })

  test('is one call’s at a time', async () => {
    const memory = memoryIn(scratch())
    const first = await memory.recall('s', anAsk({ messages: [user('one')] }), signal)
    const second = toldNext(memory)
    await first.keep(text('re: one'))
    first.leave()
    assert.deepEqual(await second, [...FIRST, 'user: next'])
  })
})
