import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { makePushing, removePushing } from '../support/pushing.ts'
import { PUSHES } from '../support/spellings.ts'

test('each spelling pushes when nothing forbids it', () => {
  const pushing = makePushing(mkdtempSync(join(tmpdir(), 'corral-spellings-')))
  try {
    for (const command of PUSHES) {
      // Some end as the command does that they are made of.
      const run = `set +e; ${command}\nexit 0`
      execFileSync('bash', ['-c', run], { cwd: pushing.work, stdio: 'ignore', timeout: 60_000 })
      assert.deepEqual(pushing.arrived(), ['refs/heads/main'], command)
      pushing.takeBack()
    }
  } finally {
    removePushing(pushing)
  }
})
