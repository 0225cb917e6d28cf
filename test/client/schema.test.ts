import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { Ajv, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { nativeSchema } from '../../src/dialects/native/json-schema.ts'
import { METHODS } from '../../src/dialects/native/methods.ts'
import { EVENTS } from '../../src/dialects/native/wire-event.ts'
import { EVENT_TYPES } from '../../src/dialects/native/wire.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (name: string): Record<string, unknown> =>
  JSON.parse(readFileSync(join(ROOT, 'docs/schema', name), 'utf8')) as Record<string, unknown>

const OPTIONS = { strict: false, validateFormats: false, allErrors: true } as const

test('the schema is a schema, and has every method, event and error', () => {
  const schema = read('native.schema.json') as { $defs: Record<string, object> }
  const ajv = new Ajv2020(OPTIONS)
  assert.ok(ajv.validateSchema(schema), JSON.stringify(ajv.errors))
  ajv.compile(schema)
  for (const { name, errors } of METHODS) {
    assert.ok(schema.$defs[`${name}.params`] && schema.$defs[`${name}.result`], name)
    for (const code of errors) assert.ok(schema.$defs[`${code}.error`], code)
  }
  assert.deepEqual(Object.keys(EVENTS).toSorted(), Object.keys(EVENT_TYPES).toSorted())
  for (const type of Object.keys(EVENT_TYPES)) assert.ok(schema.$defs[`${type}.event`], type)
})

test('a message that is wrong is found to be', () => {
  const validate: ValidateFunction = new Ajv2020(OPTIONS).compile(nativeSchema())
  const send = { jsonrpc: '2.0', id: 1, method: 'session.send', params: { sessionId: 's', content: 'hello' } }
  assert.ok(validate(send), JSON.stringify(validate.errors))
  for (const wrong of [
    { ...send, method: 'session.explode' },
    { ...send, params: { sessionId: 's' } },
    { ...send, params: { ...send.params, volume: 11 } },
    { jsonrpc: '2.0', id: 1 },
    { jsonrpc: '2.0', id: 1, error: { code: 7, message: 'what' } },
    { jsonrpc: '2.0', method: 'events', params: { subscriptionId: 's1', log: 'l', events: [{ type: 'x' }] } },
  ])
    assert.ok(!validate(wrong), JSON.stringify(wrong))
})

test('the OpenRPC document is one, and its references lead somewhere', () => {
  const document = read('openrpc.json') as { methods: { name: string }[] }
  const { openrpcDocument } = createRequire(import.meta.url)('@open-rpc/meta-schema') as {
    openrpcDocument: object
  }
  // What a schema is has been tried above; theirs of schemas is not in the package.
  const meta = JSON.stringify({ ...openrpcDocument, $schema: undefined }).replace(
    /"\$ref":"https:\/\/meta\.json-schema\.tools[^"]*"/g,
    '"type":["object","boolean","string"]',
  )
  const validate = new Ajv(OPTIONS).compile(JSON.parse(meta) as object)
  assert.ok(validate(document), JSON.stringify(validate.errors?.slice(0, 5)))
  assert.ok(!validate({ ...document, methods: [{ summary: 'without a name' }] }))
  assert.deepEqual(
    document.methods.map(({ name }) => name),
    METHODS.map(({ name }) => name),
  )
  for (const [, pointer] of JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    let found: unknown = document
    for (const part of pointer!.split('/')) found = (found as Record<string, unknown>)[part]
    assert.equal(typeof found, 'object', pointer)
  }
})
