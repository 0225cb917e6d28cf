import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { eventsOf } from '../support/asking.ts'
import { goOn, HELD } from '../support/held.ts'
import { listed, newSession, started, turnThat } from './checkpoints-support.ts'

/** A git whose `add` waits until the test lets it go. */
function slowGit(home: string): { path: string; hold: () => void; release: () => void } {
  const bin = join(home, 'slow')
  const gate = join(home, 'gate')
  mkdirSync(bin, { recursive: true })
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  const wait = `case " $* " in *" add "*) while ! test -e '${gate}'; do sleep 0.05; done;; esac`
  writeFileSync(join(bin, 'git'), `#!/bin/sh\n${wait}\nexec '${real}' "$@"\n`, { mode: 0o755 })
  return {
    path: `${bin}:${process.env['PATH']}`,
    hold: () => rmSync(gate),
    release: () => writeFileSync(gate, ''),
  }
}

test('an agent does not wait for a git that takes too long, and what comes late is not kept', async (context) => {
  const home = mkdtempSync(join(tmpdir(), 'corral-engine-'))
  const { path, release } = slowGit(home)
  const {
    t,
    repo,
    next: withPatience,
  } = await started(context, {
    home,
    env: { PATH: path },
    checkpointWaitMs: 500,
  })
  const id = await newSession(t)
  const { turnId, seq } = await t.engine.turns.send({ sessionId: id, input: [{ type: 'text', text: HELD }] })
  const notice = await t.event('agent.notice', { sessionId: id, after: seq })
  assert.deepEqual([notice.code, notice.turnId], ['no_checkpoint', turnId])
  await t.event('approval.requested', { sessionId: id })
  repo.write('a.txt', 'by the agent\n')
  release()
  await goOn(t, id)
  const { seq: end } = await t.event('turn.completed', { sessionId: id })
  assert.deepEqual(await listed(t, id), [])
  // The state at its end is known, so the next turn is as any other.
  const again = await withPatience()
  const next = await turnThat(again, id, () => repo.write('a.txt', 'more\n'))
  assert.ok(end > 0)
  assert.deepEqual(
    (await listed(again, id)).map((one) => one.turnId),
    [next],
  )
})

test('an interrupt during a checkpoint stops the turn before its agent has heard of it', async (context) => {
  const home = mkdtempSync(join(tmpdir(), 'corral-engine-'))
  const { path, release } = slowGit(home)
  const { t } = await started(context, { home, env: { PATH: path } })
  const id = await newSession(t)
  await t.engine.turns.send({ sessionId: id, input: [{ type: 'text', text: '[[say unheard]]' }] })
  await t.engine.turns.interrupt({ sessionId: id })
  release()
  await t.event('turn.interrupted', { sessionId: id })
  assert.deepEqual(eventsOf(t, id, 'message.completed'), [])
})

test('an interrupt during a checkpoint leaves a warm agent alone, and the same process takes the next turn', async (context) => {
  const home = mkdtempSync(join(tmpdir(), 'corral-engine-'))
  const { path, release, hold } = slowGit(home)
  release()
  const { t } = await started(context, { home, env: { PATH: path } })
  const id = await newSession(t)
  await t.turn(id, '[[say warm]]')
  await listed(t, id)
  hold()
  const stopped: string[] = []
  const { interrupt } = t.host
  const noted: typeof interrupt = (sessionId) => {
    stopped.push(sessionId)
    interrupt(sessionId)
  }
  Object.assign(t.host, { interrupt: noted })
  const { seq } = await t.engine.turns.send({
    sessionId: id,
    input: [{ type: 'text', text: '[[say unheard]]' }],
  })
  await t.engine.turns.interrupt({ sessionId: id })
  release()
  await t.event('turn.interrupted', { sessionId: id, after: seq })
  assert.deepEqual(stopped, [])
  await t.turn(id, '[[say next]]')
  assert.equal(eventsOf(t, id, 'agent.started').length, 1)
  assert.equal(eventsOf(t, id, 'message.completed').length, 2)
})

test('a daemon that ends during a checkpoint is followed by one that takes it, and the turn runs once', async (context) => {
  const home = mkdtempSync(join(tmpdir(), 'corral-engine-'))
  const { path } = slowGit(home)
  const { t, next } = await started(context, { home, env: { PATH: path } })
  const id = await newSession(t)
  const { turnId } = await t.engine.turns.send({
    sessionId: id,
    input: [{ type: 'text', text: '[[say once]]' }],
  })
  const later = await next()
  await later.event('turn.completed', { sessionId: id })
  assert.deepEqual(
    (await listed(later, id)).map((one) => one.turnId),
    [turnId],
  )
  assert.equal(eventsOf(later, id, 'message.completed').length, 1)
})
