import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { WATCHED } from '../../scripts/drift/agents.ts'
import { type Baseline, baselineOf, knownIn, type Showing } from '../../scripts/drift/baseline.ts'
import { compare, type Drift, isEmpty } from '../../scripts/drift/compare.ts'
import { type Observations, observing } from '../../scripts/drift/observed.ts'
import { recordedOf } from '../../scripts/drift/recordings.ts'
import { textOf } from '../../scripts/drift/report.ts'
import { shapeOf, stages, without } from '../../scripts/drift/shape.ts'
import { aSession } from '../support/session.ts'

const claude = WATCHED.find(({ name }) => name === 'claude')!

function shape(line: unknown): string[] {
  return Array.from(shapeOf(line), ([path, kinds]) => `${path}: ${[...kinds].join('|')}`)
}

describe('the shape of a line', () => {
  test('has the path and the kind of every value', () => {
    const line = { a: 1, b: { c: null, d: [true, 'x'] }, e: [], f: {} }
    assert.deepEqual(shape(line), ['a: number', 'b.c: null', 'b.d[]: boolean|string', 'e: []', 'f: {}'])
  })

  test('tells objects apart by what they call themselves', () => {
    const line = { content: [{ type: 'text', text: 'x' }, { type: 'image' }] }
    assert.deepEqual(shape(line), ['content[]<text>.text: string', 'content[]<image>: {}'])
  })

  test('takes names that are data for what they are, and words of the protocol for more than text', () => {
    const line = { usage: { 'model-4.5': { n: 1 }, call_0123: { n: 2 } }, status: 'failed', kind: 'a b' }
    assert.deepEqual(shape(line), ['usage.*.n: number', "status: 'failed'", 'kind: string'])
  })

  test('has places that lie in each other, and lines can do without any of them', () => {
    const path = 'a.b[]<x>.c'
    assert.deepEqual(stages(path), ['a', 'a.b', 'a.b[]', 'a.b[]<x>', 'a.b[]<x>.c'])
    const line = { a: { b: [{ type: 'x', c: 1 }, { type: 'y' }] } }
    const left = stages(path).map((place) => without(line, place))
    assert.deepEqual(left, [
      {},
      { a: {} },
      { a: { b: [] } },
      { a: { b: [{ type: 'y' }] } },
      { a: { b: [{ type: 'x' }, { type: 'y' }] } },
    ])
  })
})

for (const agent of WATCHED) {
  test(`the baseline of ${agent.name} knows all that is recorded`, () => {
    const file = new URL(`../recordings/shapes/${agent.name}.json`, import.meta.url)
    const baseline = JSON.parse(readFileSync(file, 'utf8')) as Baseline
    const recorded = recordedOf(agent)
    assert.ok(recorded.size > 5)
    const { newTypes, newFields } = compare(
      baseline,
      { version: baseline.version, turns: baseline.turns, seen: recorded },
      agent.driver.translator,
      recorded,
    )
    assert.deepEqual([newTypes, newFields], [[], []])
  })
}

describe('what is different', () => {
  const before = showing((line) => [line])
  const baseline = baselineOf([before], new Map())
  const changes = (change: (line: unknown) => unknown[]): Drift =>
    compare(baseline, showing(change), claude.driver.translator, before.seen)
  const results = (change: (line: object) => unknown[]) =>
    changes((line) => (claude.typeOf(line) === 'result/success' ? change(line as object) : [line]))

  test('nothing, when nothing is', () => {
    assert.ok(isEmpty(changes((line) => [line])))
  })

  test('a type that the translator has no branch for', () => {
    const { newTypes } = results((line) => [{ type: 'news', words: 1 }, line])
    assert.deepEqual(newTypes, [
      { type: 'news', treatment: 'unknown', outputs: ['agent.other'], fields: ['words'] },
    ])
  })

  test('a field that nobody looks at is told by its outermost place', () => {
    const { newFields } = results((line) => [{ ...line, more: { a: 1, b: [2] } }])
    assert.deepEqual(newFields, [
      { type: 'result/success', path: 'more', kinds: ['object'], before: null, read: false },
    ])
  })

  test('a field that the translator reads, with a value of another kind', () => {
    const drifts = [{ result: ['in pieces'] }, { total_cost_usd: 'a lot' }].map((change) =>
      results((line) => [{ ...line, ...change }]),
    )
    const type = 'result/success'
    assert.deepEqual(
      drifts.flatMap(({ newFields }) => newFields),
      [
        { type, path: 'result', kinds: ['list'], before: ['string'], read: true },
        { type, path: 'total_cost_usd', kinds: ['string'], before: ['number'], read: true },
      ],
    )
  })

  test('fields that are gone, and whether they are missed', () => {
    const { goneFields } = results((line) => [without(without(line, 'total_cost_usd'), 'uuid')])
    assert.deepEqual(goneFields, [
      { type: 'result/success', path: 'total_cost_usd', read: true },
      { type: 'result/success', path: 'uuid', read: false },
    ])
  })

  test('a type that is gone, and a turn that ends in another way', () => {
    const now = showing((line) => (claude.typeOf(line) === 'user' ? [] : [line]))
    now.turns['text'] = 'failed: limit'
    const drift = compare(baseline, now, claude.driver.translator, before.seen)
    assert.deepEqual(drift.goneTypes, ['user'])
    assert.deepEqual(drift.turns, [{ turn: 'text', before: 'completed', now: 'failed: limit' }])
    const report = { agent: 'claude', pinned: '1.0.0', now: '1.1.0', drift, ignored: [], unknown: [] }
    assert.match(textOf(report), /^claude 1\.0\.0 → 1\.1\.0\n[^]*\n {4}user\n[^]*text: failed: limit; was/)
  })

  function showing(change: (line: unknown) => unknown[]): Showing {
    const seen: Observations = new Map()
    const translator = observing(claude.driver.translator, claude.typeOf, seen)
    for (const lines of claude.recordings()) {
      let state = translator.initial(aSession())
      for (const line of lines.flatMap(change)) state = translator.step(state, line).state
    }
    return { version: '1.0.0', turns: { text: 'completed' }, seen }
  }
})

test('what does not come in every run is known, and nobody misses it', () => {
  const translator = { initial: () => null, step: (state: unknown) => ({ state, outputs: [] }) }
  const run = (...lines: object[]): Showing => {
    const seen: Observations = new Map()
    for (const line of lines) observing(translator, claude.typeOf, seen).step(null, line)
    return { version: '1', turns: {}, seen }
  }
  const runs = [run({ type: 'x', a: 1, b: 1 }, { type: 'rare' }), run({ type: 'x', a: null })]
  const baseline = baselineOf(runs, new Map([['told', shapeOf({ type: 'told', c: 1 })]]))
  assert.deepEqual(baseline.types, {
    'rare?': ['?: {}'],
    'told?': ['c?: number'],
    x: ['a: null|number', 'b?: number'],
  })
  assert.deepEqual([...knownIn(baseline).keys()], ['rare', 'told', 'x'])
  for (const one of runs) assert.ok(isEmpty(compare(baseline, one, translator, new Map())))
})
