import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { connect } from '../../src/client/client.ts'
import { corral } from '../cli/support.ts'
import { startDaemon } from '../support/daemon.ts'

test('a daemon whose lock and run file were deleted keeps its data to itself', async () => {
  const daemon = await startDaemon()
  try {
    const client = await connect(daemon.socket)
    const { id: sessionId } = await client.call('session.create', { agent: 'demo', cwd: daemon.project })
    await client.call('session.send', { sessionId, content: '[[hang]]' })
    for (const name of ['lock', 'run.json']) rmSync(join(daemon.corralHome, name))
    for (let round = 0; round < 2; round++) {
      const second = await corral(daemon.env, ['start'])
      assert.equal(second.code, 1)
      assert.ok(second.stderr.includes(`(pid ${daemon.pid}) already uses this data directory`), second.stderr)
    }
    assert.equal((await client.call('daemon.status')).pid, daemon.pid)
    client.close()
    // What it has noted of itself is worth nothing once it is dead.
    await daemon.kill9()
    await daemon.restart()
  } finally {
    await daemon.stop()
  }
})
