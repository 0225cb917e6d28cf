import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startEngine } from '../../support/engine.ts'
import { askUntil } from '../../support/wait.ts'

const SIZE = 3

/** As their own files say it, of all that have got so far. */
function pidsIn(runs: string): number[] {
  return readdirSync(runs).flatMap((run) => {
    try {
      return Number(readFileSync(join(runs, run, 'pid'), 'utf8')) || []
    } catch {
      return []
    }
  })
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('processes that were just being started end with all others', async () => {
  const t = await startEngine()
  const runs = join(t.home, 'runs')
  t.host.spares.keep('demo', { cwd: t.cwd, ownTools: true }, SIZE)
  const pids = await askUntil(
    () => pidsIn(runs),
    ({ length }) => length === SIZE,
    `${SIZE} are being started`,
  )
  await t.stop()
  assert.deepEqual(pids.filter(isAlive), [])
})
