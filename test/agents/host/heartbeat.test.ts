import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, statSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startHeartbeat } from '../../../src/agents/host/heartbeat.ts'
import type { HostDeps } from '../../../src/agents/host/deps.ts'
import { until } from '../../support/wait.ts'

test('the file that keeps agents alive is touched, and made again when somebody deletes it', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'corral-heartbeat-'))
  const aliveFile = join(dir, 'alive')
  const options = { aliveFile, orphanMs: 2000 } as HostDeps['options']
  const beats = startHeartbeat({ options, warn: assert.fail })
  t.after(() => {
    clearInterval(beats)
    rmSync(dir, { recursive: true })
  })
  for (let round = 0; round < 2; round++) {
    rmSync(aliveFile)
    await until(() => existsSync(aliveFile), 'the file is there again')
    utimesSync(aliveFile, 1, 1)
    await until(() => statSync(aliveFile).mtimeMs > 1000, 'it is touched')
  }
})
