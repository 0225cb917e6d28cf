import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { claudeAbsent } from '../support/claude-env.ts'
import { until } from '../support/wait.ts'
import { nobodyIn, only, type Rig, startRig } from './rig.ts'

let rig: Rig

describe('the real claude, idle', { skip: claudeAbsent }, () => {
  before(async () => {
    rig = await startRig({ CORRAL_AGENTS_IDLE_MS: '1000' })
  })
  after(() => rig.close())

  test('goes cold after its time, and the next message resumes it with all it knew', async () => {
    const cwd = rig.directory()
    const sessionId = await rig.session({ cwd })
    const first = await rig.send(sessionId, 'hello [[remember COLD]]')
    await first.end('turn.completed')
    const { nativeId, usage, pid } = await rig.view(sessionId)
    const follower = rig.follow(sessionId, first.seq)
    const exited = await follower.until('agent.exited')
    follower.close()
    assert.deepEqual([exited.expected, exited.code, exited.stderr], [true, 0, ''])
    const cold = await rig.view(sessionId)
    assert.deepEqual([cold.tier, cold.pid, cold.status], ['cold', null, 'idle'])
    await nobodyIn(cwd)
    const next = await rig.send(sessionId, '[[recall]]')
    const ended = await next.end('turn.completed')
    assert.equal(ended.text, 'recall: COLD')
    assert.deepEqual(
      only(next.seen, 'agent.started').map(({ resumed }) => resumed),
      [true],
    )
    const warm = await rig.view(sessionId)
    assert.equal(warm.nativeId, nativeId)
    assert.notEqual(warm.pid, pid)
    const cost = usage.costUsd! + ended.usage.costUsd!
    assert.ok(Math.abs(warm.usage.costUsd! - cost) < 1e-9, 'the price is not counted twice over a resume')
    assert.ok(ended.usage.costUsd! < 2 * usage.costUsd!, JSON.stringify([usage, ended.usage]))
  })

  test('a mode and a model set while it is cold hold for the process that resumes it', async () => {
    const cwd = rig.directory()
    const sessionId = await rig.session({ cwd })
    const first = await rig.send(sessionId, 'hello')
    await first.end('turn.completed')
    const follower = rig.follow(sessionId, first.seq)
    await follower.until('agent.exited')
    follower.close()
    await rig.corral('set', sessionId, '--mode', 'plan', '--model', 'sonnet')
    const next = await rig.send(sessionId, '[[write cold.txt x]]')
    await next.end('turn.completed')
    assert.ok(!existsSync(join(cwd, 'cold.txt')))
    assert.match(only(next.seen, 'agent.init').at(-1)!.model!, /sonnet/)
  })

  test('a session waiting for an answer is not idle', async () => {
    const cwd = rig.directory()
    const sessionId = await rig.session({ cwd, mode: 'ask' })
    const sent = await rig.send(sessionId, '[[shell touch late.txt]]')
    const { approval } = await sent.until('approval.requested')
    const other = await rig.session()
    const second = await rig.send(other, 'hello')
    await second.end('turn.completed')
    const follower = rig.follow(other, second.seq)
    await follower.until('agent.exited')
    follower.close()
    await rig.client.call('approval.decide', { approvalId: approval.id, behavior: 'allow' })
    await sent.end('turn.completed')
    await until(() => existsSync(join(cwd, 'late.txt')), 'the file')
  })
})
