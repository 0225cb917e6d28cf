import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cutText, fitEvent, LINE_LIMIT, splitText } from '../../../src/dialects/codecast/fit.ts'
import type { WireEvent } from '../../../src/dialects/codecast/wire.ts'

const ALPHABET = ['a', '"', '\\', '\n', '\u0001', '\u007f', 'ä', '€', '\u2028', '𝄞', '👩‍👩‍👧', '\ud800', '\udc00']

/** A small generator with a seed, so that a failure can be repeated. */
function randomText(seed: number, length: number): string {
  let state = seed
  const parts: string[] = []
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    parts.push(ALPHABET[(state >>> 16) % ALPHABET.length]!)
  }
  return parts.join('')
}

function bytes(text: string): number {
  return Buffer.byteLength(text)
}

test('a split text is whole again when joined, and every piece keeps within its bytes', () => {
  for (let seed = 1; seed <= 300; seed++) {
    const text = randomText(seed, seed)
    const budget = 12 + (seed % 40)
    const pieces = splitText(text, budget)
    assert.equal(pieces.join(''), text, `seed ${seed}`)
    for (const piece of pieces) {
      assert.ok(bytes(JSON.stringify(piece)) - 2 <= budget, `seed ${seed}: ${JSON.stringify(piece)}`)
      assert.ok(!/^[\udc00-\udfff]/.test(piece) || text.includes('\udc00'))
    }
  }
})

test('a pair of surrogates is never cut', () => {
  const pieces = splitText('𝄞'.repeat(1000), 10)
  assert.equal(pieces.join(''), '𝄞'.repeat(1000))
  for (const piece of pieces) assert.ok(piece.isWellFormed())
})

test('long partials and texts become several events of their type, in order, below the limit', () => {
  for (const type of ['partial', 'text'] as const) {
    const content = randomText(7, 200_000)
    const lines = fitEvent({ type, content })
    assert.ok(lines.length > 1)
    const events = lines.map((line) => JSON.parse(line) as { type: string; content: string })
    assert.ok(lines.every((line) => bytes(line) <= LINE_LIMIT && !line.includes('\n')))
    assert.ok(events.every((event) => event.type === type))
    assert.equal(events.map((event) => event.content).join(''), content)
  }
})

test('what is short enough goes out as it is', () => {
  assert.deepEqual(fitEvent({ type: 'text', content: '' }), ['{"type":"text","content":""}'])
  assert.deepEqual(fitEvent({ type: 'ping' }), ['{"type":"ping"}'])
})

const long = 'ü"'.repeat(300_000)

test('everything else is cut with a mark, and stays below the limit', () => {
  const events: WireEvent[] = [
    { type: 'system', subtype: 'init', session_id: 's', model: long, raw: { keep: 1, big: long } },
    { type: 'result', session_id: 's', raw: { type: 'result', result: long, usage: { input_tokens: 1 } } },
    { type: 'system', subtype: 'x', raw: [long] },
    { type: 'tool_use', tool: 'Write', input: { path: 'a', content: long } },
    { type: 'tool_use', tool: long, input: Array.from({ length: 30_000 }, () => 'entry'), message: long },
    { type: 'tool_use', tool: 'Bash', message: long },
    { type: 'error', message: long },
    { type: 'interrupted', message: long },
  ]
  for (const event of events) {
    const lines = fitEvent(event)
    assert.equal(lines.length, 1)
    assert.ok(bytes(lines[0]!) <= LINE_LIMIT, `${event.type}: ${bytes(lines[0]!)}`)
    assert.match(lines[0]!, /"truncated":true|\[cut: \d+ bytes\]/)
    assert.ok(lines[0]!.startsWith(`{"type":"${event.type}"`))
  }
})

test('of a raw line the small fields stay', () => {
  const [line] = fitEvent({
    type: 'result',
    raw: { subtype: 'success', usage: { input_tokens: 1 }, result: long },
  })
  assert.deepEqual(JSON.parse(line!), {
    type: 'result',
    raw: { subtype: 'success', usage: { input_tokens: 1 }, truncated: true },
  })
})

test('of a tool input the short fields stay', () => {
  const [line] = fitEvent({ type: 'tool_use', tool: 'Write', input: { path: 'a.txt', content: long } })
  const { input } = JSON.parse(line!) as { input: { path: string; content: string } }
  assert.equal(input.path, 'a.txt')
  assert.match(input.content, /cut: \d+ bytes/)
})

test('a text is cut between characters and says by how much', () => {
  assert.equal(cutText('abc', 3), 'abc')
  assert.equal(cutText('äöü', 4), 'äö\n… [cut: 2 bytes]')
})
