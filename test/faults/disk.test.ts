import assert from 'node:assert/strict'
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, symlinkSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Event } from '../../src/core/event.ts'
import { connect, NativeError, type NativeClient } from '../../src/client/client.ts'
import { corral } from '../cli/support.ts'
import { COMPILED, startDaemon } from '../support/daemon.ts'
import { mountSmallDisk } from '../support/small-disk.ts'

const disk = mountSmallDisk(8)
const skip = disk ? false : 'a small file system cannot be mounted here (needs root)'
after(() => disk?.remove())

/** Takes what is left of the disk; returns how to give it back. */
function fill(path: string): () => void {
  const file = join(path, 'ballast')
  const fd = openSync(file, 'w')
  for (const size of [64 * 1024, 4096, 512]) {
    try {
      for (let i = 0; i < 10_000; i++) writeSync(fd, Buffer.alloc(size))
    } catch {
      // Full, to this grain.
    }
  }
  closeSync(fd)
  return () => rmSync(file, { force: true })
}

/** Sends until the log refuses: what the file system has set aside already may still hold a little. */
async function sendUntilRefused(
  client: NativeClient,
  sessionId: string,
): Promise<{ sent: string[]; error: unknown }> {
  const sent: string[] = []
  for (let i = 0; i < 2000; i++) {
    try {
      const content = `message ${i} ${'x'.repeat(20_000)}`
      sent.push((await client.call('session.send', { sessionId, content })).turnId)
    } catch (error) {
      return { sent, error }
    }
  }
  return { sent, error: null }
}

test(
  'a full disk refuses clearly, loses nothing that was acknowledged, and is over when there is room',
  { skip },
  async () => {
    const daemon = await startDaemon({ home: join(disk!.path, 'home'), env: { CORRAL_QUEUE_MAX: '5000' } })
    const client = await connect(daemon.socket, { reconnect: true })
    try {
      const { id: sessionId } = await client.call('session.create', { agent: 'demo', cwd: daemon.project })
      await client.call('session.pause', { sessionId })
      const release = fill(disk!.path)
      const { sent, error } = await sendUntilRefused(client, sessionId)
      assert.ok(error instanceof NativeError, `refused: ${String(error)}`)
      assert.equal(error.code, 'storage')
      assert.match(error.message, /cannot be written/)
      assert.equal((await client.call('daemon.status')).pid, daemon.pid, 'it lives and answers')
      release()
      const { turnId } = await client.call('session.send', { sessionId, content: 'there is room again' })
      await daemon.kill9()
      await daemon.restart()
      const { turns } = await client.call('queue.list', { sessionId })
      assert.deepEqual(
        turns.map((turn) => turn.id),
        [...sent, turnId],
      )
    } finally {
      client.close()
      await daemon.stop()
    }
  },
)

test('a data directory that cannot be written is said so at start', { skip }, async () => {
  const home = join(disk!.path, 'read-only')
  disk!.remount('ro')
  try {
    const env = {
      PATH: process.env['PATH'],
      ...COMPILED,
      HOME: home,
      CORRAL_HOME: join(home, '.corral'),
      CORRAL_PORT: '0',
      CORRAL_CODECAST_PORT: '0',
      CORRAL_CLAWDE_PORT: '0',
      CORRAL_RELAY_PORT: '0',
    }
    const { code, stderr } = await corral(env, ['start'])
    assert.equal(code, 1)
    assert.match(stderr, /data directory .*read-only.* cannot be used/)
    assert.doesNotMatch(stderr, /\n\s+at /, 'no stack trace')
  } finally {
    disk!.remount('rw')
  }
})

test(
  'an agent that goes on talking while the disk is full is heard completely, each event once',
  { skip },
  async () => {
    const home = join(disk!.path, 'streaming')
    const elsewhere = mkdtempSync(join(tmpdir(), 'corral-runs-'))
    mkdirSync(join(home, '.corral'), { recursive: true })
    symlinkSync(elsewhere, join(home, '.corral', 'runs'))
    const daemon = await startDaemon({ home, env: { CORRAL_DEMO_STATE: join(elsewhere, 'demo') } })
    const client = await connect(daemon.socket)
    try {
      const { id: sessionId } = await client.call('session.create', { agent: 'demo', cwd: daemon.project })
      const { turnId } = await client.call('session.send', { sessionId, content: '[[drip 150 20]]' })
      const seen: Event[] = []
      let release: (() => void) | null = null
      for await (const event of client.events({ after: 0, sessionId })) {
        seen.push(event as Event)
        if (event.type === 'message.delta' && !release) {
          release = fill(disk!.path)
          const { id: paused } = await client.call('session.get', { sessionId })
          const refused = sendUntilRefused(client, paused)
          refused.then(release, release)
        }
        if (event.type === 'turn.completed' && event.turnId === turnId) break
      }
      const seqs = seen.map((event) => event.seq)
      assert.deepEqual(
        seqs,
        [...new Set(seqs)].sort((a, b) => a - b),
      )
      const deltas = seen.flatMap((e) => (e.type === 'message.delta' && e.turnId === turnId ? [e.text] : []))
      assert.equal(deltas.join(''), Array.from({ length: 150 }, (_, i) => `w${i + 1}`).join(' '))
    } finally {
      client.close()
      await daemon.stop()
      rmSync(elsewhere, { recursive: true, force: true })
    }
  },
)

test('an agent that ends because the disk is full is said to have ended for that', { skip }, async () => {
  const runs = join(disk!.path, 'runs')
  const home = mkdtempSync(join(tmpdir(), 'corral-'))
  mkdirSync(runs)
  mkdirSync(join(home, '.corral'))
  symlinkSync(runs, join(home, '.corral', 'runs'))
  const daemon = await startDaemon({ home })
  const client = await connect(daemon.socket)
  let release: (() => void) | null = null
  try {
    const { id: sessionId } = await client.call('session.create', { agent: 'demo', cwd: daemon.project })
    const { turnId } = await client.call('session.send', { sessionId, content: '[[drip 100000 5]]' })
    for await (const event of client.events({ after: 0, sessionId })) {
      if (event.type === 'message.delta') release ??= fill(disk!.path)
      if (event.type === 'agent.exited') assert.deepEqual([event.code, event.signal], [1, null])
      if (event.type !== 'turn.failed') continue
      assert.equal(event.turnId, turnId)
      assert.match(event.error.message, /exited with code 1 during the turn: the disk is full/)
      break
    }
    release!()
    const again = await client.call('session.send', { sessionId, content: 'there is room again' })
    for await (const event of client.events({ after: again.seq - 1, sessionId }))
      if (event.type === 'turn.completed' && event.turnId === again.turnId) break
  } finally {
    release?.()
    client.close()
    await daemon.stop()
  }
})
