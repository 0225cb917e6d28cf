import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { startTime } from '../../src/agents/host/process.ts'
import { connect } from '../../src/client/client.ts'
import * as codecast from '../dialects/codecast/client.ts'
import { claudeAbsent } from '../support/claude-env.ts'
import { askUntil } from '../support/wait.ts'
import { claudeIn, only, processesIn, type Rig, startRig, words } from './rig.ts'

async function rigFor(t: TestContext, env: NodeJS.ProcessEnv = {}): Promise<Rig> {
  const rig = await startRig(env)
  t.after(() => rig.close())
  return rig
}

/** What the log says after the end, told by a daemon that is started again. */
async function lastTurn(rig: Rig, sessionId: string) {
  if (startTime(rig.daemon.pid) === null) await rig.daemon.restart()
  const client = await connect(rig.daemon.socket)
  try {
    return (await client.call('turn.list', { sessionId, limit: 1 })).turns[0]!
  } finally {
    client.close()
  }
}

/** It ended as it should: with 0, nothing left that says it runs, no process of its agents. */
async function assertStopped(rig: Rig): Promise<void> {
  assert.equal(await rig.daemon.terminate(), 0, rig.daemon.output())
  assert.ok(!existsSync(join(rig.daemon.corralHome, 'run.json')))
  assert.deepEqual(processesIn(rig.daemon.home), [])
}

describe('the end of the daemon, with the real claude', { skip: claudeAbsent }, () => {
  test('corral stop ends idle agents and all that belongs to them', async (t) => {
    const rig = await rigFor(t)
    const ids = [await rig.session(), await rig.session()]
    for (const id of ids) await rig.turn(id, '[[remember STOP]] hello')
    assert.ok(processesIn(rig.daemon.project).length >= 4, 'a claude and its keeper each')
    const { pid } = rig.daemon
    const { code, stdout } = await rig.corral('stop')
    assert.deepEqual([code, stdout], [0, `stopped (pid ${pid})\n`])
    await assertStopped(rig)
    assert.equal(startTime(pid), null)
    assert.equal((await rig.corral('status')).code, 3)
    await rig.daemon.restart()
    assert.equal((await rig.turn(ids[0]!, '[[recall]]')).text, 'recall: STOP')
  })

  test('corral stop lets a running turn come to its end', async (t) => {
    const rig = await rigFor(t)
    const sessionId = await rig.session()
    const sent = await rig.send(sessionId, '[[drip 40 25]]')
    await sent.until('message.delta')
    assert.equal((await rig.corral('stop')).code, 0)
    await assertStopped(rig)
    assert.equal((await lastTurn(rig, sessionId)).state, 'completed')
  })

  test('corral stop interrupts a turn that takes longer than its time', async (t) => {
    const rig = await rigFor(t, { CORRAL_STOP_GRACE_MS: '300' })
    const sessionId = await rig.session()
    const sent = await rig.send(sessionId, '[[drip 5000 20]]')
    await sent.until('message.delta')
    assert.equal((await rig.corral('stop')).code, 0)
    await assertStopped(rig)
    assert.equal((await lastTurn(rig, sessionId)).state, 'interrupted')
  })

  test('corral stop --now ends a running turn and its command at once, as interrupted', async (t) => {
    const rig = await rigFor(t, { CORRAL_STOP_GRACE_MS: '600000' })
    const cwd = rig.directory()
    const sessionId = await rig.session({ cwd })
    const stream = await codecast.send(rig.daemon.codecast, sessionId, '[[shell tail -f /dev/null]]')
    await askUntil(
      () => processesIn(cwd).map(({ command }) => command),
      (found) => found.includes('tail -f /dev/null'),
      'the command runs',
    )
    assert.equal((await rig.corral('stop', '--now')).code, 0)
    await assertStopped(rig)
    assert.deepEqual(codecast.types(await stream.rest()).slice(-2), ['interrupted', '[DONE]'])
    assert.equal((await lastTurn(rig, sessionId)).state, 'interrupted')
  })

  test('corral stop --now with an open approval withdraws it', async (t) => {
    const rig = await rigFor(t)
    const sessionId = await rig.session({ mode: 'ask' })
    const sent = await rig.send(sessionId, '[[shell touch open.txt]]')
    await sent.until('approval.requested')
    assert.equal((await rig.corral('stop', '--now')).code, 0)
    await assertStopped(rig)
    assert.equal((await lastTurn(rig, sessionId)).state, 'interrupted')
    assert.match((await rig.corral('approval', 'ls')).stderr, /no approval waits/)
  })

  test('corral restart in the middle of a turn keeps the process, and the turn completes', async (t) => {
    const rig = await rigFor(t)
    const cwd = rig.directory()
    const sessionId = await rig.session({ cwd })
    const sent = await rig.send(sessionId, '[[drip 60 50]]')
    await sent.until('message.delta')
    const { pid } = claudeIn(cwd)
    const { code, stdout, stderr } = await rig.corral('restart')
    assert.equal(code, 0, stderr)
    assert.match(stdout, /runs in the background/)
    const { text } = await sent.end('turn.completed')
    assert.equal(text, words(60))
    assert.equal(claudeIn(cwd).pid, pid)
    assert.equal(only(sent.seen, 'message.completed').length, 1)
    assert.equal((await rig.turn(sessionId, '[[say again]]')).text, 'again')
    assert.equal(claudeIn(cwd).pid, pid)
  })

  test('corral restart keeps a command that runs, and an interrupt afterwards ends it', async (t) => {
    const rig = await rigFor(t)
    const cwd = rig.directory()
    const sessionId = await rig.session({ cwd })
    const sent = await rig.send(sessionId, '[[shell tail -f /dev/null]]')
    const tails = (): number[] =>
      processesIn(cwd).flatMap(({ command, pid }) => (command === 'tail -f /dev/null' ? [pid] : []))
    const before = await askUntil(tails, (found) => found.length === 1, 'the command runs')
    assert.equal((await rig.corral('restart')).code, 0)
    assert.deepEqual(tails(), before)
    await rig.client.call('session.interrupt', { sessionId })
    await sent.end('turn.interrupted')
    await askUntil(tails, (found) => found.length === 0, 'the command is gone')
  })

  test('corral stop --keep-agents leaves a turn running that the next daemon finds complete', async (t) => {
    const rig = await rigFor(t)
    const cwd = rig.directory()
    const sessionId = await rig.session({ cwd })
    writeFileSync(join(cwd, 'wait.sh'), "until [ -e go ]; do sleep 0.05; done; echo '[[drip 30 20]]'\n")
    const sent = await rig.send(sessionId, '[[shell sh wait.sh]]')
    await sent.until('tool.started')
    const { pid } = claudeIn(cwd)
    const { stdout } = await rig.corral('stop', '--keep-agents')
    assert.match(stdout, /agents keep running/)
    assert.equal(claudeIn(cwd).pid, pid)
    writeFileSync(join(cwd, 'go'), '')
    await rig.daemon.restart()
    assert.equal((await sent.end('turn.completed')).text, words(30))
  })

  test('SIGTERM leaves no process behind, whatever its agents are doing', async (t) => {
    const rig = await rigFor(t, { CORRAL_STOP_GRACE_MS: '300' })
    const idle = await rig.session()
    await rig.turn(idle, 'hello')
    const streaming = await rig.send(await rig.session(), '[[drip 5000 20]]')
    await streaming.until('message.delta')
    const asking = await rig.send(await rig.session({ mode: 'ask' }), '[[shell touch a.txt]]')
    await asking.until('approval.requested')
    const cwd = rig.directory()
    await rig.send(await rig.session({ cwd }), '[[shell tail -f /dev/null]]')
    const paused = await rig.session()
    await (await rig.send(paused, '[[drip 5000 20]]')).until('message.delta')
    await rig.client.call('session.pause', { sessionId: paused })
    await askUntil(
      () => processesIn(cwd).map(({ command }) => command),
      (found) => found.includes('tail -f /dev/null'),
      'the command runs',
    )
    await assertStopped(rig)
  })

  test('SIGTERM while agents are only just starting leaves nothing behind, and is no failure of theirs', async (t) => {
    const rig = await rigFor(t)
    const sessions = await Promise.all([rig.session(), rig.session(), rig.session()])
    await Promise.all(sessions.map((id) => rig.send(id, '[[drip 5000 20]]')))
    await assertStopped(rig)
    for (const id of sessions) assert.notEqual((await lastTurn(rig, id)).state, 'failed')
  })
})
