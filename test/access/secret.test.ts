import assert from 'node:assert/strict'
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { openSecret } from '../../src/access/secret.ts'

function place(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'corral-secret-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  return join(directory, 'clawd', 'auth_token')
}

test('a token is made once, for its owner only', (t) => {
  const path = place(t)
  const secret = openSecret({ path })
  const token = readFileSync(path, 'utf8')
  assert.match(token, /^[0-9a-f]{32}$/)
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.equal(statSync(join(path, '..')).mode & 0o777, 0o700)
  assert.deepEqual(readdirSync(join(path, '..')), ['auth_token'])
  assert.ok(secret.matches(token))
  assert.ok(openSecret({ path }).matches(token))
})

test('only the token itself is accepted', (t) => {
  const path = place(t)
  const secret = openSecret({ path })
  const token = readFileSync(path, 'utf8')
  for (const wrong of ['', ' ', token.slice(1), `${token}0`, token.toUpperCase() + 'x', '0'.repeat(32)]) {
    assert.equal(secret.matches(wrong), false, wrong)
  }
  assert.equal(secret.check(`Bearer ${token}`), 'ok')
  assert.equal(secret.check('Bearer nonsense'), 'invalid')
  assert.equal(secret.check(token), 'missing')
  assert.equal(secret.check(undefined), 'missing')
})

test('a new token in the file holds at once, and the old one no more', (t) => {
  const path = place(t)
  const secret = openSecret({ path })
  const old = readFileSync(path, 'utf8')
  writeFileSync(path, 'a-token-of-my-own\n')
  assert.ok(secret.matches('a-token-of-my-own'))
  assert.ok(!secret.matches(old))
})

test('without a token in the file nobody is accepted, and somebody is told', (t) => {
  const path = place(t)
  const problems: string[] = []
  const secret = openSecret({ path, onProblem: (problem) => problems.push(problem) })
  writeFileSync(path, '\n')
  assert.equal(secret.matches(''), false)
  rmSync(path)
  assert.equal(secret.matches(''), false)
  assert.equal(problems.length, 2)
  assert.match(problems[0]!, /no token is accepted/)
})

test('a file that was open to others is closed, and somebody is told', (t) => {
  const path = place(t)
  openSecret({ path })
  chmodSync(path, 0o644)
  const problems: string[] = []
  openSecret({ path, onProblem: (problem) => problems.push(problem) })
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.equal(problems.length, 1)
})

test('whoever wants to know is told when the file was touched, replaced or removed, and no more after leaving', async (t) => {
  const path = place(t)
  const secret = openSecret({ path })
  const old = readFileSync(path, 'utf8')
  let wake = (): void => {}
  let told = 0
  const leave = secret.onTouched(() => {
    told += 1
    wake()
  })
  t.after(leave)
  const changes: (() => void)[] = [
    () => writeFileSync(path, old),
    () => {
      writeFileSync(`${path}.new`, 'another')
      renameSync(`${path}.new`, path)
    },
    () => rmSync(path),
    () => writeFileSync(path, 'a third'),
    () => writeFileSync(path, 'a fourth'),
  ]
  for (const [index, change] of changes.entries()) {
    const next = new Promise<void>((resolve) => (wake = resolve))
    change()
    await next
    assert.equal(secret.matches(old), index === 0)
  }
  const before = told
  writeFileSync(path, old)
  leave()
  assert.ok(secret.matches(old))
  assert.equal(told, before)
})
