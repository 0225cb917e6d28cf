import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { codexAbsent } from '../support/codex-env.ts'
import { endOf, only, type CodexRig, startCodexRig } from './codex-rig.ts'

let rig: CodexRig

const TEN = Array.from({ length: 10 }, (_, index) => index)

function pidsOf(ids: string[]): Set<number | undefined> {
  return new Set(ids.map((id) => rig.engine.engine.session(id).run?.pid))
}

function processes(): string[] {
  return readdirSync(join(rig.engine.home, 'runs'))
}

describe('ten Codex sessions in one process', { skip: codexAbsent }, () => {
  let ids: string[]

  before(async () => {
    rig = await startCodexRig()
    ids = await Promise.all(TEN.map(() => rig.session()))
  })
  after(() => rig.close())

  test('begin at once, and each gets its own answer', async () => {
    const ends = await Promise.all(
      ids.map((id, index) => rig.turn(id, `[[remember n${index}]] [[say ${index}]]`)),
    )
    assert.deepEqual(
      ends.map(endOf),
      TEN.map((index) => `completed: ${index}`),
    )
    assert.equal(pidsOf(ids).size, 1)
    assert.equal(processes().length, 1)
  })

  test('stream side by side, and nobody hears what is said to another', async () => {
    const ends = await Promise.all(ids.map((id) => rig.turn(id, '[[drip 40 10]]')))
    const words = Array.from({ length: 40 }, (_, index) => `w${index + 1}`).join(' ')
    for (const events of ends) assert.equal(endOf(events), `completed: ${words}`)
  })

  test('go on while the engine is gone: not a word is lost or said twice', async () => {
    const sent = await Promise.all(ids.map((id) => rig.send(id, '[[drip 60 20]]')))
    await Promise.all(sent.map((one) => one.until('message.delta')))
    await rig.restart()
    const ends = await Promise.all(sent.map((one) => one.end()))
    for (const events of ends) {
      const [message] = only(events, 'message.completed').filter(({ kind }) => kind === 'text')
      assert.equal(message!.text.split(' ').length, 60)
      assert.equal(endOf(events), `completed: ${message!.text}`)
    }
    assert.equal(pidsOf(ids).size, 1)
  })

  test('one that is stopped, and one that is removed, leave the others alone', async () => {
    const [stopped, removed, ...others] = ids as [string, string, ...string[]]
    const sent = await Promise.all(ids.map((id) => rig.send(id, '[[drip 80 20]]')))
    await Promise.all(sent.map((one) => one.until('message.delta')))
    await rig.engine.engine.interrupt({ sessionId: stopped })
    await rig.engine.engine.destroy(removed)
    const ends = await Promise.all(sent.map((one) => one.end()))
    assert.deepEqual(
      ends.map((events) => endOf(events).split(':')[0]),
      ['interrupted', 'interrupted', ...others.map(() => 'completed')],
    )
    ids = [stopped, ...others]
    assert.equal(pidsOf(ids).size, 1)
    assert.equal(endOf(await rig.turn(stopped, '[[recall]]')), 'completed: recall: n0')
  })

  test('when it dies they all lose the turn, and all go on in the next one', async () => {
    const sent = await Promise.all(ids.map((id) => rig.send(id, '[[drip 2000 20]]')))
    await Promise.all(sent.map((one) => one.until('message.delta')))
    const [before] = pidsOf(ids)
    process.kill(-before!, 'SIGKILL')
    const ends = await Promise.all(sent.map((one) => one.end()))
    assert.deepEqual(
      ends.map((events) => endOf(events)),
      ids.map(() => 'failed'),
    )
    const answers = await Promise.all(ids.map((id) => rig.turn(id, '[[recall]]')))
    assert.ok(answers.every((events) => /^completed: recall: n\d$/.test(endOf(events))))
    const now = pidsOf(ids)
    assert.equal(now.size, 1)
    assert.ok(!now.has(before))
    assert.equal(processes().length, 1)
  })

  test('the last one out ends the process', async () => {
    await Promise.all(ids.map((id) => rig.engine.host.end(id)))
    assert.deepEqual(processes(), [])
  })
})
