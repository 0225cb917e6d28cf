import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problemsIn } from '../../src/relay/json/schema.ts'
import { askedAgain, jsonIn } from '../../src/relay/json/structured.ts'
import { anAsk } from './servers.ts'

const schema = {
  type: 'object',
  properties: { name: { type: 'string' }, count: { type: 'integer' } },
  required: ['name'],
  additionalProperties: false,
}

test('JSON is found in what models put around it', () => {
  for (const answer of [
    '{"name":"plum"}',
    '\n {"name":"plum"}\n',
    '```json\n{"name":"plum"}\n```',
    '```\n{"name":"plum"}\n```\nIs there anything else?',
    'Here you are: {"name":"plum"}. Enjoy!',
  ]) {
    assert.deepEqual(jsonIn(answer, { schema }), { json: '{"name":"plum"}' }, answer)
  }
})

test('whatever a model writes is looked through at once: everybody waits for it', () => {
  const answer = `\`\`\`\n${'\n'.repeat(200_000)}x`
  assert.deepEqual(jsonIn(answer, { schema }), { problem: 'it is not JSON' })
})

test('a schema that unfolds without end, or has endless choices, is followed so far', () => {
  const again = { $ref: '#' }
  assert.deepEqual(problemsIn(1, { anyOf: [again, again], allOf: [again, again] }), [])
  const choices = { enum: Array.from({ length: 30_000 }, (_, at) => ({ at: -at })) }
  const [problem = ''] = problemsIn(
    Array.from({ length: 30_000 }, (_, at) => ({ at: at + 1 })),
    { items: choices },
  )
  assert.match(problem, /^`0` must be one of \[\{"at":0\},/)
  assert.ok(problem.length < 600, `${problem.length} characters`)
})

test('what a text in the JSON looks like does not matter', () => {
  const json = JSON.stringify({ name: '```json\n{"name":"other"}\n```' })
  assert.deepEqual(jsonIn(json, { schema }), { json })
})

test('what is no JSON, or not what was asked for, has its problem', () => {
  assert.deepEqual(jsonIn('no', { schema }), { problem: 'it is not JSON' })
  assert.deepEqual(jsonIn('', { schema: null }), { problem: 'it is not JSON' })
  assert.deepEqual(jsonIn('[1]', { schema: null }), { problem: 'it must be object' })
  assert.deepEqual(jsonIn('{"count":1}', { schema }), { problem: 'it lacks the field `name`' })
})

const PROBLEMS: [schema: unknown, right: unknown, wrong: unknown, problem: string][] = [
  [{ type: ['string', 'null'] }, null, 3, 'it must be string or null'],
  [{ type: 'integer' }, 3, 3.5, 'it must be integer'],
  [{ const: { a: 1 } }, { a: 1 }, { a: 2 }, 'it must be {"a":1}'],
  [{ enum: ['x', 'y'] }, 'y', 'z', 'it must be one of ["x","y"]'],
  [{ items: { type: 'number' } }, [1, 2], [1, 'x'], '`1` must be number'],
  [{ prefixItems: [{}, { type: 'number' }] }, ['x', 1, 'y'], ['x', 'y'], '`1` must be number'],
  [{ minItems: 1 }, [1], [], 'it has a number of entries below 1'],
  [{ maxLength: 2 }, '💛💛', 'abc', 'it has a length above 2'],
  [{ minimum: 1, maximum: 3 }, 3, 4, 'it has a value above 3'],
  [{ exclusiveMinimum: 0 }, 1, 0, 'it must be above 0'],
  [{ additionalProperties: false, properties: { a: {} } }, { a: 1 }, { b: 1 }, '`b` is not allowed'],
  [{ additionalProperties: { type: 'string' } }, { x: 'y' }, { x: 1 }, '`x` must be string'],
  [{ anyOf: [{ type: 'null' }, { type: 'string' }] }, 'x', 1, 'it must be null'],
  [{ allOf: [{ required: ['a'] }, { required: ['b'] }] }, { a: 1, b: 2 }, { a: 1 }, 'it lacks the field `b`'],
  [
    {
      $ref: '#/$defs/tree',
      $defs: { tree: { properties: { next: { $ref: '#/$defs/tree' } }, type: 'object' } },
    },
    { next: { next: {} } },
    { next: { next: 1 } },
    '`next.next` must be object',
  ],
]

for (const [given, right, wrong, problem] of PROBLEMS) {
  test(`${JSON.stringify(given)} is understood`, () => {
    assert.deepEqual(problemsIn(right, given), [])
    assert.deepEqual(problemsIn(wrong, given), [problem])
  })
}

test('a schema that cannot be followed is no problem, and none without an end is followed', () => {
  for (const odd of [
    true,
    {},
    { $ref: 'https://example.com/x' },
    { $ref: '#/no/such' },
    { type: 'odd' },
    null,
  ]) {
    assert.deepEqual(problemsIn({ a: 1 }, odd), [])
  }
  assert.deepEqual(problemsIn(1, { $ref: '#' }), [])
})

test('an own field of every object is none of the schema', () => {
  assert.deepEqual(problemsIn({ constructor: 1 }, { properties: {}, additionalProperties: false }), [
    '`constructor` is not allowed',
  ])
  assert.deepEqual(problemsIn({}, { required: ['toString'] }), ['it lacks the field `toString`'])
})

test('who is asked again hears what was wrong, and so does an upstream that gets the body', () => {
  const again = askedAgain(anAsk(), 'no', 'it is not JSON')
  assert.deepEqual(
    again.messages.map(({ role }) => role),
    ['user', 'assistant', 'user'],
  )
  const sent = again.body.json['messages'] as { role: string; content: unknown }[]
  assert.deepEqual(sent.slice(0, 2), [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: 'no' },
  ])
  assert.match(String(sent[2]!.content), /it is not JSON/)
})
