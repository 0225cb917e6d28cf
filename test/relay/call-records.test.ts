import assert from 'node:assert/strict'
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { recentCall } from '../../src/dialects/relay/views.ts'
import {
  type CallRecord,
  type CallRecordsOptions,
  openCallRecords,
} from '../../src/relay/records/call-records.ts'
import { scratch } from './servers.ts'

const SECRET = 'planted-upstream-key-42'

function aCall(id: string, patch: Partial<CallRecord> = {}): Omit<CallRecord, 'seq'> {
  return {
    id,
    sessionId: `session-${id}`,
    startedAt: 1000,
    completedAt: 1500,
    model: 'claude-sonnet-4-6',
    provider: 'claude',
    inputTokens: 12,
    outputTokens: 47,
    costAvoidedUsd: 0.001,
    status: 'success',
    error: null,
    stopReason: 'end_turn',
    fallbackChain: [],
    promptPreview: 'the prompt',
    rawTranscript: 'the transcript',
    ...patch,
  }
}

function open(path = join(scratch(), 'calls.jsonl'), more: Partial<CallRecordsOptions> = {}) {
  return openCallRecords({ path, now: () => 5, storePrompts: () => false, secrets: () => [SECRET], ...more })
}

const ids = (records: CallRecord[]): string => records.map(({ id }) => id).join('')
const linesOf = (path: string): string[] => readFileSync(path, 'utf8').split('\n').slice(0, -1)

test('records come back in order, page by page', async () => {
  const calls = await open()
  for (const id of 'abcdef') calls.add(aCall(id))
  assert.equal(ids(calls.list()), 'abcdef')
  assert.equal(ids(calls.list({ limit: 2 })), 'ef')
  assert.equal(ids(calls.list({ after: 'b', limit: 2 })), 'cd')
  const { seq } = calls.list({ after: 'b', limit: 2 })[1]!
  assert.equal(ids(calls.list({ after: seq })), 'ef')
  assert.equal(ids(calls.list({ after: String(seq) })), 'ef')
  assert.equal(ids(calls.list({ after: 'f' })), '')
  assert.equal(ids(calls.list({ after: 'long gone', limit: 3 })), 'abc')
  assert.equal(ids(calls.list({ limit: 0 })), '')
  await calls.flushed()
})

test('clients get the keys that they know', async () => {
  const calls = await open()
  const { id, session_id, started_at, completed_at, model, input_tokens, output_tokens, status, error } =
    recentCall(calls.add(aCall('a')))
  assert.deepEqual(
    { id, session_id, started_at, completed_at, model, input_tokens, output_tokens, status, error },
    {
      id: 'a',
      session_id: 'session-a',
      started_at: 1000,
      completed_at: 1500,
      model: 'claude-sonnet-4-6',
      input_tokens: 12,
      output_tokens: 47,
      status: 'success',
      error: null,
    },
  )
  await calls.flushed()
})

test('memory and file have the newest, and the next start goes on there', async () => {
  const path = join(scratch(), 'calls.jsonl')
  const calls = await open(path, { keep: 10 })
  for (let i = 0; i < 57; i += 1) {
    calls.add(aCall(`<${i}>`))
    if (i % 3 === 0) await calls.flushed()
  }
  await calls.flushed()
  assert.equal(calls.list().length, 10)
  assert.ok(linesOf(path).length <= 20, `${linesOf(path).length} lines`)
  assert.equal(statSync(path).mode & 0o777, 0o600)
  const again = await open(path, { keep: 10 })
  assert.deepEqual(again.list(), calls.list())
  const { seq } = again.add(aCall('new'))
  assert.ok(seq > calls.list().at(-1)!.seq)
  await again.flushed()
  assert.deepEqual(readdirSync(join(path, '..')), ['calls.jsonl'])
})

test('a burst is written in a few pieces and is all there', async () => {
  const path = join(scratch(), 'calls.jsonl')
  const calls = await open(path, { keep: 100 })
  for (let i = 0; i < 5000; i += 1) calls.add(aCall(`<${i}>`))
  await calls.flushed()
  assert.deepEqual((await open(path, { keep: 100 })).list(), calls.list())
  assert.equal(calls.list().at(-1)?.id, '<4999>')
})

for (const [what, rest] of [
  ['a torn last line', '{"seq":9,"id":"to'],
  ['nonsense', '{"id":"nonsense"}\nnot json\n'],
] as const) {
  test(`${what} costs only itself`, async () => {
    const path = join(scratch(), 'calls.jsonl')
    const calls = await open(path)
    for (const id of 'abc') calls.add(aCall(id))
    await calls.flushed()
    appendFileSync(path, rest)
    chmodSync(path, 0o644)
    const again = await open(path)
    assert.equal(ids(again.list()), 'abc')
    again.add(aCall('d'))
    await again.flushed()
    assert.equal(ids((await open(path)).list()), 'abcd')
    assert.equal(linesOf(path).length, 4)
    assert.equal(statSync(path).mode & 0o777, 0o600)
  })
}

test('clearing empties memory and file, and numbers go on', async () => {
  const path = join(scratch(), 'calls.jsonl')
  const calls = await open(path)
  const { seq } = calls.add(aCall('a'))
  await calls.clear()
  assert.deepEqual(calls.list(), [])
  assert.equal(readFileSync(path, 'utf8'), '')
  assert.ok(calls.add(aCall('b')).seq > seq)
  await calls.flushed()
  assert.equal(ids((await open(path)).list()), 'b')
})

test('prompts are kept only if that is wanted, and never whole', async () => {
  const path = join(scratch(), 'calls.jsonl')
  const quiet = await open(path)
  const record = quiet.add(aCall('a'))
  assert.deepEqual([record.promptPreview, record.rawTranscript], [null, null])
  await quiet.flushed()
  assert.ok(!readFileSync(path, 'utf8').includes('the prompt'))
  const keeping = await open(path, { storePrompts: () => true })
  const kept = keeping.add(
    aCall('b', { promptPreview: 'x'.repeat(5000), rawTranscript: 'y'.repeat(1_000_000) }),
  )
  assert.equal(kept.promptPreview?.length, 200)
  assert.equal(kept.rawTranscript?.length, 16_384)
  await keeping.flushed()
})

test('keys are in no record and in no file', async () => {
  const path = join(scratch(), 'calls.jsonl')
  const calls = await open(path, { storePrompts: () => true })
  const planted = `${'z'.repeat(190)} ${SECRET} and sk-ant-api03-0123456789abcdef`
  calls.add(
    aCall('a', {
      status: 'error',
      error: planted,
      promptPreview: planted,
      rawTranscript: planted,
      fallbackChain: [{ provider: 'x', error: planted }],
    }),
  )
  await calls.flushed()
  const text = readFileSync(path, 'utf8') + JSON.stringify(calls.list())
  assert.ok(!text.includes('planted') && !text.includes('0123456789'), text)
})

test('a file that cannot be written or read is told once, and calls go on', async () => {
  const path = join(scratch(), 'calls.jsonl')
  mkdirSync(path)
  chmodSync(path, 0o755)
  writeFileSync(join(path, 'in the way'), '')
  const problems: string[] = []
  const calls = await open(path, { onProblem: (problem) => problems.push(problem) })
  for (const id of 'abc') {
    calls.add(aCall(id))
    await calls.flushed()
  }
  assert.equal(ids(calls.list()), 'abc')
  assert.deepEqual(
    problems.map((problem) => /cannot be (read|written)/.exec(problem)?.[1]),
    ['read', 'written'],
  )
  assert.equal(statSync(path).mode & 0o777, 0o755, 'what is in the way is left alone')
})
