import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createTokenFile } from '../../src/access/tokens.ts'

const dir = mkdtempSync(join(tmpdir(), 'corral-tokens-'))
after(() => rmSync(dir, { recursive: true }))
const path = join(dir, 'tokens.yaml')
const problems: string[] = []
const tokens = await createTokenFile({ path, onProblem: (problem) => problems.push(problem) })

function write(...list: string[]): void {
  const rows = list.map(
    (token) => `  - token: ${token}\n    label: test\n    created: 2026-01-01T00:00:00Z\n`,
  )
  writeFileSync(path, `tokens:\n${rows.join('')}`)
}

test('without a file no token is valid', () => {
  assert.equal(tokens.check('Bearer x'), 'invalid')
})

test('the header is Bearer and a token, whatever the case of the scheme', () => {
  write('ccast_one', 'ccast_two')
  for (const header of ['Bearer ccast_one', 'bearer ccast_two', 'BEARER  ccast_one']) {
    assert.equal(tokens.check(header), 'ok', header)
  }
  for (const header of [undefined, '', 'Bearer', 'Bearer ', 'Basic ccast_one', 'ccast_one']) {
    assert.equal(tokens.check(header), 'missing', String(header))
  }
  for (const header of ['Bearer ccast_on', 'Bearer ccast_one2', 'Bearer CCAST_ONE']) {
    assert.equal(tokens.check(header), 'invalid', header)
  }
})

test('label and date may be missing', () => {
  writeFileSync(path, 'tokens:\n  - token: ccast_bare\n  - {token: ccast_old, label: 5, created: null}\n')
  assert.equal(tokens.check('Bearer ccast_bare'), 'ok')
  assert.equal(tokens.check('Bearer ccast_old'), 'ok')
})

test('adding and revoking hold at once', () => {
  write('ccast_one')
  assert.equal(tokens.check('Bearer ccast_two'), 'invalid')
  write('ccast_two')
  assert.equal(tokens.check('Bearer ccast_two'), 'ok')
  assert.equal(tokens.check('Bearer ccast_one'), 'invalid')
  unlinkSync(path)
  assert.equal(tokens.check('Bearer ccast_two'), 'invalid')
})

test('a file that cannot be understood lets nobody in, and its content is not told', () => {
  for (const content of ['tokens: ccast_secret', 'tokens: [{token: 5}]', ': [ccast_secret', 'ccast_secret']) {
    writeFileSync(path, content)
    assert.equal(tokens.check('Bearer ccast_secret'), 'invalid', content)
  }
  assert.equal(problems.length, 4)
  assert.ok(!problems.join().includes('ccast_secret'))
  writeFileSync(path, '')
  assert.equal(tokens.check('Bearer ccast_secret'), 'invalid')
})
