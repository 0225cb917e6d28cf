import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ContentPiece, End } from '../../src/relay/answer.ts'
import type { Piece, TokenUsage } from '../../src/relay/ask.ts'
import { RelayFailure } from '../../src/relay/failure.ts'
import { limited, type LimitOptions } from '../../src/relay/limit.ts'
import { randomly } from '../support/random.ts'

const prompt = {
  system: null,
  messages: [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'x'.repeat(40) }] }],
  tools: [],
  thinking: true,
}
const roomy = { ...prompt, maxTokens: 1_000_000, stopSequences: [] as string[] }

function finished(usage: TokenUsage | null = null): Piece {
  return { type: 'end', stopReason: 'end_turn', stopSequence: null, usage }
}

function texts(parts: readonly string[]): Piece[] {
  return [...parts.map((text) => ({ type: 'text' as const, text })), finished()]
}

async function* sourceOf(pieces: readonly Piece[], onClose: (given: number) => void = () => {}) {
  let given = 0
  try {
    for (const piece of pieces) {
      given++
      yield piece
    }
  } finally {
    onClose(given)
  }
}

async function run(pieces: readonly Piece[], limits: Partial<typeof roomy>, options?: LimitOptions) {
  const content: ContentPiece[] = []
  let end: End | null = null
  for await (const piece of limited(sourceOf(pieces), { ...roomy, ...limits }, options)) {
    assert.equal(end, null, 'nothing comes after the end')
    if (piece.type === 'end') end = piece
    else content.push(piece)
  }
  assert.ok(end)
  const text = content.map((piece) => (piece.type === 'text' ? piece.text : '')).join('')
  return { content, end: end as End, text }
}

/** The text, cut in two at every position, and into single letters. */
function cuts(text: string): string[][] {
  const letters = [...Array(text.length).keys()]
  return [...letters.map((at) => [text.slice(0, at), text.slice(at)]), text.split('')]
}

const STOPS: [text: string, stops: string[], kept: string, stop: string | null][] = [
  ['one two three', ['two'], 'one ', 'two'],
  ['aaab', ['aab'], 'a', 'aab'],
  ['ababac', ['abac'], 'ab', 'abac'],
  ['one two three', ['three', 'two'], 'one ', 'two'],
  ['xabcd', ['abcd', 'bc'], 'xa', 'bc'],
  ['xabc', ['bc', 'abc'], 'x', 'abc'],
  ['begin', ['begin'], '', 'begin'],
  ['nearly STO', ['STOP'], 'nearly STO', null],
  ['a👋b👋👋c', ['👋👋'], 'a👋b', '👋👋'],
  ['Zürich\n\nHuman: x', ['\n\nHuman:', '\n\nH!'], 'Zürich', '\n\nHuman:'],
]

test('a stop sequence is found wherever the text is cut, and nothing of it is said', async () => {
  for (const [text, stopSequences, kept, stop] of STOPS) {
    for (const parts of cuts(text)) {
      const answer = await run(texts(parts), { stopSequences })
      assert.equal(answer.text, kept, JSON.stringify(parts))
      assert.equal(answer.end.stopSequence, stop)
      assert.equal(answer.end.stopReason, stop === null ? 'end_turn' : 'stop_sequence')
      assert.ok(answer.content.every((piece) => piece.type === 'text' && piece.text.isWellFormed()))
    }
  }
})

test('only what may become a stop sequence is kept back', async () => {
  const pieces = limited(sourceOf(texts(['Hello S', 'T', 'OP'])), { ...roomy, stopSequences: ['STAY'] })
  assert.deepEqual((await pieces.next()).value, { type: 'text', text: 'Hello ' })
  assert.deepEqual((await pieces.next()).value, { type: 'text', text: 'STOP' })
})

test('max_tokens cuts at the same place wherever the text is cut, between whole characters', async () => {
  const text = 'ab ü€ 👋👋 done'
  for (let maxTokens = 1; maxTokens <= 7; maxTokens++) {
    const whole = await run(texts([text]), { maxTokens })
    const tooLong = Buffer.byteLength(text) > maxTokens * 4
    assert.equal(whole.end.stopReason, tooLong ? 'max_tokens' : 'end_turn')
    assert.ok(Buffer.byteLength(whole.text) <= maxTokens * 4)
    for (const parts of cuts(text)) {
      const answer = await run(texts(parts), { maxTokens })
      assert.equal(answer.text, whole.text, JSON.stringify(parts))
      assert.equal(answer.end.stopReason, whole.end.stopReason)
      assert.ok(answer.end.usage.outputTokens <= maxTokens)
      assert.ok(answer.text.isWellFormed())
    }
  }
})

test('with both limits the one that comes first counts', async () => {
  for (const parts of cuts('12345678STOP')) {
    const early = await run(texts(parts), { maxTokens: 1, stopSequences: ['STOP'] })
    assert.deepEqual([early.text, early.end.stopReason, early.end.stopSequence], ['1234', 'max_tokens', null])
    const late = await run(texts(parts), { maxTokens: 2, stopSequences: ['STOP'] })
    assert.deepEqual(
      [late.text, late.end.stopReason, late.end.stopSequence],
      ['12345678', 'stop_sequence', 'STOP'],
    )
  }
})

test('random texts, cut at random: the same answer, and never more than allowed', async () => {
  const alphabet = ['a', 'b', 'ab', 'ü', '👋']
  for (let seed = 1; seed <= 400; seed++) {
    const random = randomly(seed)
    const word = (length: number): string =>
      Array.from({ length }, () => alphabet[random(alphabet.length)]).join('')
    const text = word(1 + random(40))
    const limits = {
      maxTokens: 1 + random(12),
      stopSequences: Array.from({ length: random(3) }, () => word(1 + random(4))),
    }
    const whole = await run(texts([text]), limits)
    const parts: string[] = []
    for (let at = 0; at < text.length;) {
      const next = at + 1 + random(4)
      parts.push(text.slice(at, next))
      at = next
    }
    const answer = await run(texts(parts), limits)
    assert.equal(answer.text, whole.text, `seed ${seed}`)
    assert.deepEqual(answer.end, whole.end, `seed ${seed}`)
    assert.ok(answer.end.usage.outputTokens <= limits.maxTokens)
    assert.ok(limits.stopSequences.every((stop) => !answer.text.includes(stop)))
    assert.ok(text.startsWith(answer.text))
  }
})

test('a limit closes the source, and so does a reader who leaves', async () => {
  const closed: number[] = []
  const close = (given: number): void => void closed.push(given)
  const pieces = texts(['one', ' STOP', ' two', ' three'])
  for await (const piece of limited(sourceOf(pieces, close), { ...roomy, stopSequences: ['STOP'] }))
    void piece
  for await (const piece of limited(sourceOf(pieces, close), { ...roomy, maxTokens: 1 })) void piece
  for await (const piece of limited(sourceOf(pieces, close), roomy)) if (piece) break
  assert.deepEqual(closed, [2, 2, 1])
})

test('a tool call that does not fit is not made', async () => {
  const call: Piece = { type: 'tool_use', id: 'toolu_1', name: 'write', input: { text: 'x'.repeat(100) } }
  const answer = await run([{ type: 'text', text: 'ok' }, call, finished()], { maxTokens: 10 })
  assert.deepEqual(answer.content, [{ type: 'text', text: 'ok' }])
  assert.equal(answer.end.stopReason, 'max_tokens')
  const roomier = await run([call, finished()], { maxTokens: 100 })
  assert.deepEqual(roomier.content, [call])
})

test('what is kept back is said before a call and before the end; sequences do not reach over calls', async () => {
  const call: Piece = { type: 'tool_use', id: 'toolu_1', name: 'x', input: {} }
  const pieces: Piece[] = [{ type: 'text', text: 'ST' }, call, { type: 'text', text: 'OP S' }, finished()]
  const answer = await run(pieces, { stopSequences: ['STOP'] })
  assert.deepEqual(answer.content, [
    { type: 'text', text: 'ST' },
    call,
    { type: 'text', text: 'OP ' },
    { type: 'text', text: 'S' },
  ])
})

test('thinking counts when it was asked for, is left out when not, and is not searched', async () => {
  const pieces: Piece[] = [{ type: 'thinking', text: 'STOP here' }, { type: 'text', text: 'yes' }, finished()]
  const asked = await run(pieces, { stopSequences: ['STOP'] })
  assert.deepEqual(asked.content, pieces.slice(0, 2))
  assert.equal(asked.end.usage.outputTokens, 3)
  const unasked = await run(pieces, { thinking: false })
  assert.deepEqual(unasked.content, pieces.slice(1, 2))
  assert.equal(unasked.end.usage.outputTokens, 1)
})

test('a provider that counts itself is believed, up to max_tokens', async () => {
  const pieces = [
    { type: 'text' as const, text: 'x'.repeat(100) },
    finished({ inputTokens: 3, outputTokens: 12 }),
  ]
  const answer = await run(pieces, { maxTokens: 10 }, { countsItself: true })
  assert.equal(answer.text.length, 100)
  assert.deepEqual(answer.end.usage, { inputTokens: 3, outputTokens: 10 })
  const estimated = await run(texts(['12345']), {})
  assert.deepEqual(estimated.end.usage, { inputTokens: 10, outputTokens: 2 })
})

test('an answer that just ends is a failure', async () => {
  await assert.rejects(run([{ type: 'text', text: 'half' }], {}), RelayFailure)
})
