import assert from 'node:assert/strict'
import { test } from 'node:test'
import { slugOf } from '../../src/core/slug.ts'

test('a text becomes a part of the name of a branch', () => {
  assert.equal(slugOf('Why does the build fail?'), 'why-does-the-build-fail')
  assert.equal(slugOf('  Fix: "login" (again)...  '), 'fix-login-again')
  assert.equal(slugOf('../../etc/passwd.lock'), 'etc-passwd-lock')
  assert.equal(slugOf('Größe ändern'), 'größe-ändern')
  assert.equal(slugOf('ログイン 修正'), 'ログイン-修正')
  assert.equal(slugOf('\u001b[31mred\u001b[0m'), '31mred-0m')
  assert.equal(slugOf('?!'), null)
  assert.equal(slugOf(''), null)
})

test('it ends with a whole word, or in the middle of one that is too long', () => {
  assert.equal(
    slugOf('Rename every occurrence of the old configuration'),
    'rename-every-occurrence-of-the-old',
  )
  assert.equal(slugOf('x'.repeat(500)), 'x'.repeat(20))
})
