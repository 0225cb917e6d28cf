import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { uuid } from '../../src/core/ids.ts'
import { openLog } from '../../src/store/log.ts'
import { aSession } from '../support/session.ts'

test('sessions are counted as they are, and again only when one of them was written', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'corral-counts-'))
  const path = join(dir, 'corral.db')
  const log = openLog({ path, bootId: 'boot', newId: uuid, warn: assert.fail })
  t.after(async () => {
    await log.close(true)
    rmSync(dir, { recursive: true })
  })
  const put = (id: string, destroyed = false) =>
    log.append({ events: [], writes: [{ op: 'session', session: aSession({ id, destroyed }) }] })
  const idle = (): number => log.countSessions().idle
  assert.equal(idle(), 0)
  const first = put('a')
  idle() // it is not committed yet: what is counted now is not kept for when it is
  await first
  assert.equal(idle(), 1)
  await put('b')
  log.countSessions().idle = 99
  assert.equal(idle(), 2)
  const db = new DatabaseSync(path)
  db.exec("UPDATE sessions SET status = 'running' WHERE id = 'a'")
  db.close()
  assert.equal(idle(), 2, 'nobody of ours has written it')
  await put('b', true)
  assert.deepEqual(log.countSessions(), { idle: 0, running: 1, waiting: 0, paused: 0 })
})
