import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { z } from 'zod'
import { CorralError } from '../../src/core/error.ts'
import { bothWays, oneWay } from '../../src/dialects/clawde/spelling.ts'
import { METHODS as CODECAST } from '../../src/dialects/codecast/methods.ts'
import { createRpcHandler } from '../../src/dialects/codecast/rpc.ts'
import { METHODS as HUMANLAYER } from '../../src/dialects/humanlayer/methods.ts'
import { createDispatch } from '../../src/dialects/humanlayer/rpc.ts'
import { verifying } from '../../src/dialects/method.ts'

process.env['CORRAL_VERIFY'] = '1'

/** Methods that do not keep to their descriptors. */
const COMMON = { summary: 'Wrong.', scope: 'read', repeat: 'read', params: z.unknown(), errors: [] } as const
const WRONG = [
  { ...COMMON, name: 'lacks', result: z.object({ a: z.number() }), handler: () => ({}) },
  { ...COMMON, name: 'adds', result: z.object({}), handler: () => ({ a: 1 }) },
  {
    ...COMMON,
    name: 'fails',
    result: z.object({}),
    handler: () => Promise.reject(new CorralError('unsupported', 'not told')),
  },
] as never

/** What is not as documented is a fault of ours: what was told of each, and what the client was answered. */
function check(faults: string[], answers: { code: number; message: string }[], code: number): void {
  for (const [index, name] of ['lacks', 'adds', 'fails'].entries()) {
    assert.match(faults[index]!, new RegExp(`^${name} is not as documented: `))
    assert.equal(answers[index]!.code, code)
  }
}

test('HumanLayer: results and errors are checked against the descriptors', async () => {
  const faults: string[] = []
  const dispatch = createDispatch(WRONG, (error) => faults.push((error as Error).message))
  const ask = async (method: string): Promise<string> => {
    const { promise, resolve } = Promise.withResolvers<string>()
    dispatch({ id: '1', method, params: {}, versioned: true }, {} as never, resolve)
    return promise
  }
  const answers = []
  for (const name of ['lacks', 'adds', 'fails']) {
    answers.push((JSON.parse(await ask(name)) as { error: { code: number; message: string } }).error)
  }
  check(faults, answers, -32603)
})

test('Codecast: results and errors are checked against the descriptors', async (t) => {
  const faults: string[] = []
  const log = { warn: ({ err }: { err: Error }) => faults.push(err.message) }
  const handle = createRpcHandler({ methods: WRONG, services: { log } as never, bodyLimit: 1000 })
  const server = createServer((req, res) => void handle({ req, res } as never)).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const answers = []
  for (const name of ['lacks', 'adds', 'fails']) {
    const res = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify({ method: name }),
    })
    answers.push(((await res.json()) as { error: { code: number; message: string } }).error)
  }
  check(faults, answers, -32000)
})

test('ClawDE: a field in two spellings is described once, one that nobody describes is a fault', () => {
  const { verifyResult } = verifying(() => '', [], oneWay)
  const result = z.object({ repoPath: z.string(), files: z.array(z.object({ oldPath: z.string() })) })
  const given = bothWays({ repoPath: '/', files: [bothWays({ oldPath: 'a' })] })
  const method = { ...COMMON, name: 'repo.status', result }
  verifyResult!(method, given)
  assert.throws(() => verifyResult!(method, { ...given, extra: 1 }), /not in its schema/)
  const deep = { ...given, files: [{ oldPath: 'a', extra: 1 }] }
  assert.throws(() => verifyResult!(method, deep), /not in its schema/)
})

test('every method has a name of its own and says in a sentence what it does', () => {
  for (const methods of [HUMANLAYER, CODECAST]) {
    assert.equal(new Set(methods.map(({ name }) => name)).size, methods.length)
    for (const { name, summary } of methods) assert.match(summary, /^[A-Z].*\.$/, name)
  }
})
