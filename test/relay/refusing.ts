import assert from 'node:assert/strict'
import { RelayFailure } from '../../src/relay/failure.ts'

/** Checks that a body is refused with a 400 that names the field, in a text that does so too. */
export function refuses(
  read: (body: unknown) => unknown,
  body: unknown,
  field: string,
  words: RegExp = /./,
): void {
  assert.throws(
    () => read(body),
    (error) => {
      assert.ok(error instanceof RelayFailure, String(error))
      assert.equal(error.status, 400)
      assert.equal(error.kind, 'invalid_request_error')
      assert.equal(error.field, field)
      assert.match(error.message, /^invalid request body: /)
      assert.ok(error.message.includes(field), error.message)
      assert.match(error.message, words)
      return true
    },
  )
}

/** An object with objects in it, this deep. */
export function nested(depth: number): object {
  let value: object = {}
  for (let level = 1; level < depth; level++) value = { a: value }
  return value
}

export const PNG = 'iVBORw0KGgo='

export function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
