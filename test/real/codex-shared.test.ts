import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { codex } from './conformance/agents.ts'
import { type Rig, startRig, type Told, words } from './conformance/rig.ts'

let rig: Rig

const TEN = Array.from({ length: 10 }, (_, index) => index)

function pidsOf(ids: string[]): Set<number | undefined> {
  return new Set(ids.map((id) => rig.now.engine.sessions.get(id).run?.pid))
}

function processes(): string[] {
  return readdirSync(join(rig.now.home, 'runs'))
}

/** How a turn ended, and the last words of it. */
function endOf({ end }: Told): string {
  return end.type === 'turn.completed' ? `completed: ${end.text}` : end.type.replace('turn.', '')
}

describe('ten Codex sessions in one process', { skip: codex.absent }, () => {
  let ids: string[]

  before(async () => {
    rig = await startRig(codex)
    ids = await Promise.all(TEN.map(() => rig.session()))
  })
  after(() => rig?.close())

  /** The same message to all of them, which all of them are busy with. */
  async function busyWith(script: string) {
    const sent = await Promise.all(ids.map((id) => rig.send(id, script)))
    await Promise.all(sent.map(({ seq }, index) => rig.next('message.delta', ids[index]!, seq)))
    return () => Promise.all(sent.map((one, index) => rig.told(ids[index]!, one)))
  }

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
    for (const told of ends) assert.equal(endOf(told), `completed: ${words(40)}`)
  })

  test('go on while the engine is gone: not a word is lost or said twice', async () => {
    const told = await busyWith('[[drip 60 20]]')
    await rig.restart()
    for (const one of await told()) {
      assert.deepEqual([endOf(one), one.texts], [`completed: ${words(60)}`, [words(60)]])
    }
    assert.equal(pidsOf(ids).size, 1)
  })

  test('one that is stopped, and one that is removed, leave the others alone', async () => {
    const [stopped, removed, ...others] = ids as [string, string, ...string[]]
    const told = await busyWith('[[drip 80 20]]')
    await rig.interrupt(stopped)
    await rig.now.engine.sessions.destroy(removed)
    assert.deepEqual(
      (await told()).map((one) => endOf(one).split(':')[0]),
      ['interrupted', 'interrupted', ...others.map(() => 'completed')],
    )
    ids = [stopped, ...others]
    assert.equal(pidsOf(ids).size, 1)
    assert.equal(endOf(await rig.turn(stopped, '[[recall]]')), 'completed: recall: n0')
  })

  test('when it dies they all lose the turn, and all go on in the next one', async () => {
    const told = await busyWith('[[drip 2000 20]]')
    const [before] = pidsOf(ids)
    process.kill(-before!, 'SIGKILL')
    assert.deepEqual(
      (await told()).map(endOf),
      ids.map(() => 'failed'),
    )
    const answers = await Promise.all(ids.map((id) => rig.turn(id, '[[recall]]')))
    assert.ok(answers.every((one) => /^completed: recall: n\d$/.test(endOf(one))))
    const now = pidsOf(ids)
    assert.equal(now.size, 1)
    assert.ok(!now.has(before))
    assert.equal(processes().length, 1)
  })

  test('the last one out ends the process', async () => {
    await Promise.all(ids.map((id) => rig.endProcess(id)))
    assert.deepEqual(processes(), [])
  })
})

test('another account is another process', { skip: codex.absent }, async (t) => {
  const env: NodeJS.ProcessEnv = {}
  const own = await startRig(codex, env)
  t.after(() => own.close())
  const first = await own.session()
  assert.equal(endOf(await own.turn(first, '[[say one]]')), 'completed: one')
  env['CODEX_ACCOUNT_OF_TEST'] = 'another'
  await own.restart()
  const second = await own.session()
  const third = await own.session()
  assert.equal(endOf(await own.turn(second, '[[say two]]')), 'completed: two')
  assert.equal(endOf(await own.turn(first, '[[say still one]]')), 'completed: still one')
  assert.equal(endOf(await own.turn(third, '[[say three]]')), 'completed: three')
  assert.notEqual(own.groupOf(first), own.groupOf(second))
  assert.equal(own.groupOf(second), own.groupOf(third))
})
