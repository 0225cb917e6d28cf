import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { METHODS } from '../../../src/dialects/loaf/methods.ts'
import { Requests } from '../../../src/dialects/loaf/requests.ts'
import { failure } from '../../../src/dialects/loaf/errors.ts'
import type { Line } from './support.ts'

process.env['CORRAL_VERIFY'] = '1'

const COMMON = { summary: 'Wrong.', scope: 'read', repeat: 'read', params: z.unknown(), errors: [] } as const

test('results and errors are checked against the descriptors', async () => {
  const lines: Line[] = []
  const output = { line: (text: string) => lines.push(JSON.parse(text) as Line) }
  const requests = new Requests({ output } as never, [
    { ...COMMON, name: 'lacks', result: z.strictObject({ a: z.number() }), handler: () => ({}) },
    { ...COMMON, name: 'adds', result: z.strictObject({}), handler: () => ({ a: 1 }) },
    {
      ...COMMON,
      name: 'fails',
      result: z.strictObject({}),
      handler: () => Promise.reject(failure('not told', 'busy')),
    },
  ])
  const names = ['lacks', 'adds', 'fails']
  for (const method of names)
    requests.take(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: method, method })))
  await requests.answered()
  for (const name of names) {
    const { error } = lines.find(({ id }) => id === name)!
    assert.match(error!.message, new RegExp(`^${name} is not as documented: `))
    assert.equal(error!.code, -32603)
  }
})

test('every method has a name of its own and says in a sentence what it does', () => {
  assert.equal(new Set(METHODS.map(({ name }) => name)).size, METHODS.length)
  for (const { name, summary } of METHODS) assert.match(summary, /^[A-Z].*\.$/, name)
})
