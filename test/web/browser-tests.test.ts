import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { withoutBrowser } from '../browser/support.ts'

const DIRECTORY = join(import.meta.dirname, '../browser')

/* The tests with a browser have a command of their own. Whoever runs the others is told which these are, and how to run them. */
for (const file of readdirSync(DIRECTORY).filter((name) => name.endsWith('.test.ts')))
  test(`test/browser/${file}`, { skip: withoutBrowser || 'npm run test:browser' })

test('where there is no Chromium, each test with one says so, and how to run it', () => {
  const file = join(DIRECTORY, 'palette.test.ts')
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const { stdout, status } = spawnSync(process.execPath, ['--test', '--test-reporter=tap', file], {
    env: { ...env, CHROMIUM: '/nowhere/chromium' },
    encoding: 'utf8',
  })
  assert.equal(status, 0, stdout)
  const told = stdout.split('\n').filter((line) => line.startsWith('ok '))
  assert.ok(told.length >= 2, stdout)
  for (const line of told)
    assert.match(
      line,
      /# SKIP no Chromium at \/nowhere\/chromium: apt-get install chromium.*npm run test:browser/,
    )
})
