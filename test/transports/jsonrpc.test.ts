import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { createDispatcher, RawJson, Streaming, type Callable } from '../../src/transports/jsonrpc.ts'

interface Reply {
  jsonrpc: string
  id: unknown
  result?: unknown
  error?: { code: number; message: string; data?: Record<string, unknown> }
}

const slow = Promise.withResolvers<string>()
const seen: unknown[] = []

function method<P extends z.ZodType>(
  name: string,
  params: P,
  handler: (params: z.output<P>, context: string) => unknown,
): Callable<string> {
  return { name, params, handler: handler as Callable<string>['handler'] }
}

const dispatcher = createDispatcher<string>({
  methods: [
    method('add', z.strictObject({ a: z.number(), b: z.number() }), ({ a, b }) => a + b),
    method('nested', z.strictObject({ outer: z.object({ inner: z.string() }) }), () => 1),
    method('who', z.strictObject({}), (_, context) => context),
    method('slow', z.strictObject({}), () => slow.promise),
    method('throws', z.strictObject({}), () => {
      throw new Error('thrown')
    }),
    method('rejects', z.strictObject({}), () => Promise.reject(new Error('rejected'))),
    method('circular', z.strictObject({}), () => {
      const value: Record<string, unknown> = {}
      return Object.assign(value, { value })
    }),
    method('nothing', z.strictObject({}), () => undefined),
    method('raw', z.strictObject({}), () => new RawJson('{"x":1}')),
    method('stream', z.strictObject({}), () => new Streaming('first', () => seen.push('started'))),
    method('note', z.strictObject({ value: z.number() }), ({ value }) => seen.push(value)),
  ],
  mapError: (thrown) => ({ code: -32000, message: (thrown as Error).message, data: { code: 'mapped' } }),
})

function ask(message: string | Buffer): Promise<Reply | null> {
  return new Promise((resolve) => {
    dispatcher.dispatch(message, 'me', (json) => resolve(json === null ? null : (JSON.parse(json) as Reply)))
  })
}

function request(name: string, params?: unknown, id: unknown = 1): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method: name, params })
}

test('a request is answered with its result and id', async () => {
  const reply = await ask(request('add', { a: 1, b: 2 }, 'x'))
  assert.deepEqual(reply, { jsonrpc: '2.0', id: 'x', result: 3 })
})

test('the handler is given the context of the connection', async () => {
  assert.equal((await ask(request('who')))?.result, 'me')
})

const bad: [what: string, message: string | Buffer, code: number, id: unknown][] = [
  ['text that is not JSON', '{"jsonrpc"', -32700, null],
  ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22]), -32700, null],
  ['a batch', `[${request('who')}]`, -32600, null],
  ['an empty batch', '[]', -32600, null],
  ['a number', '1', -32600, null],
  ['null', 'null', -32600, null],
  ['no version', '{"id":1,"method":"who"}', -32600, 1],
  ['another version', '{"jsonrpc":"1.0","id":1,"method":"who"}', -32600, 1],
  ['no method', '{"jsonrpc":"2.0","id":1}', -32600, 1],
  ['a method that is a number', '{"jsonrpc":"2.0","id":1,"method":1}', -32600, 1],
  ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"who"}', -32600, null],
  ['an id that is true', '{"jsonrpc":"2.0","id":true,"method":"who"}', -32600, null],
  ['an unknown method', request('nope'), -32601, 1],
  ['a method called like a property of every object', request('constructor'), -32601, 1],
  ['parameters by position', request('add', [1, 2]), -32602, 1],
  ['parameters that are a text', request('add', 'x'), -32602, 1],
]

for (const [what, message, code, id] of bad) {
  test(`${what} is refused with ${code}`, async () => {
    const reply = await ask(message)
    assert.equal(reply?.error?.code, code)
    assert.equal(reply?.id, id)
  })
}

const badParams: [method: string, params: unknown, field: string][] = [
  ['add', { a: 1 }, 'b'],
  ['add', { a: 1, b: '2' }, 'b'],
  ['add', { a: 1, b: 2, c: 3 }, 'c'],
  ['nested', { outer: { inner: 1 } }, 'outer.inner'],
]

for (const [name, params, field] of badParams) {
  test(`wrong parameters ${JSON.stringify(params)} name the field ${field}`, async () => {
    const reply = await ask(request(name, params))
    assert.equal(reply?.error?.code, -32602)
    assert.equal(reply?.error?.data?.['field'], field)
  })
}

test('what a handler throws or rejects with is mapped by the dialect', async () => {
  assert.deepEqual((await ask(request('throws')))?.error, {
    code: -32000,
    message: 'thrown',
    data: { code: 'mapped' },
  })
  assert.equal((await ask(request('rejects')))?.error?.message, 'rejected')
})

test('a result that cannot be serialised is an error, once', async () => {
  assert.equal((await ask(request('circular')))?.error?.code, -32000)
})

test('a handler without a result answers null', async () => {
  assert.equal((await ask(request('nothing')))?.result, null)
})

test('a result that is JSON already is passed on as it is', async () => {
  assert.deepEqual((await ask(request('raw')))?.result, { x: 1 })
})

test('a stream begins after its answer', async () => {
  seen.length = 0
  dispatcher.dispatch(request('stream'), 'me', () => seen.push('answered'))
  assert.deepEqual(seen, ['answered', 'started'])
})

test('a notification is carried out and not answered, whatever comes of it', async () => {
  seen.length = 0
  assert.equal(await ask('{"jsonrpc":"2.0","method":"note","params":{"value":5}}'), null)
  assert.deepEqual(seen, [5])
  assert.equal(await ask('{"jsonrpc":"2.0","method":"throws"}'), null)
  assert.equal(await ask('{"jsonrpc":"2.0","method":"nope"}'), null)
})

test('an id of null is a request and is answered', async () => {
  assert.deepEqual(await ask(request('who', {}, null)), { jsonrpc: '2.0', id: null, result: 'me' })
})

test('a slow request does not hold up the ones behind it', async () => {
  const order: string[] = []
  const first = ask(request('slow')).then(() => order.push('slow'))
  const second = ask(request('who')).then(() => order.push('quick'))
  await second
  slow.resolve('done')
  await first
  assert.deepEqual(order, ['quick', 'slow'])
})
