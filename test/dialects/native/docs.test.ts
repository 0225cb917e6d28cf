import assert from 'node:assert/strict'
import { test } from 'node:test'
import { documents } from '../../../scripts/docs.ts'

for (const { path, current, wanted } of documents()) {
  test(`the generated parts of ${path.split('/').at(-1)} are current`, () => {
    assert.ok(current === wanted, 'run: node scripts/docs.ts')
  })
}
