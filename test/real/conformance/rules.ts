import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Silence } from '../../../src/core/about.ts'
import { makePushing, type Pushing, removePushing } from '../../support/pushing.ts'
import { HARMLESS, PUSHES } from '../../support/spellings.ts'
import type { RealAgent } from './agent.ts'
import { PIXEL } from './capabilities.ts'
import { call, type Rig, type Told } from './rig.ts'

const RULE = 'shell(git push*)'

/** A rule holds for every agent, in the mode that allows everything, however a command is spelled. */
export function rules({ driver, shell, patchTwo, asks }: RealAgent, rigOf: () => Rig): void {
  let rig: Rig
  let id: string
  let pushing: Pushing
  before(async () => {
    rig = rigOf()
    pushing = makePushing(mkdtempSync(join(tmpdir(), 'corral-pushing-')))
    await rig.now.engine.directories.configure(pushing.work, { deny: [RULE, 'edit(*/secret*)'] })
    id = await rig.session({ mode: 'auto', cwd: pushing.work })
  })
  after(() => removePushing(pushing))

  const run = (command: string): Promise<Told> => rig.turn(id, call(shell(command)))
  const denials = ({ events }: Told): number =>
    events.filter((one) => one.type === 'approval.resolved' && one.by === 'rule').length

  for (const command of PUSHES) {
    test(`refused: ${JSON.stringify(command)}`, async () => {
      const told = await run(command)
      assert.ok(denials(told) >= 1, JSON.stringify(told.asked.map(({ approval }) => approval.input)))
      assert.deepEqual(pushing.arrived(), [])
    })
  }

  test('what only speaks of it passes', async () => {
    for (const command of HARMLESS) assert.equal(denials(await run(command)), 0, command)
  })

  test('a file that must not be changed is not, alone or with others', async () => {
    await rig.turn(id, '[[write secret.txt x]]')
    assert.ok(!existsSync(join(pushing.work, 'secret.txt')))
    await rig.turn(id, '[[write open.txt x]]')
    assert.ok(existsSync(join(pushing.work, 'open.txt')))
    if (!patchTwo) return
    await rig.turn(id, call(patchTwo('beside.txt', 'secret.txt')))
    assert.ok(!existsSync(join(pushing.work, 'secret.txt')))
    await rig.turn(id, call(patchTwo('one.txt', 'two.txt')))
    assert.ok(existsSync(join(pushing.work, 'two.txt')))
  })

  test('what is said about its silence is so', async () => {
    const asking = await rig.session({ mode: 'ask', cwd: pushing.work })
    const far = join(pushing.work, '..', 'far.txt')
    writeFileSync(far, 'far')
    writeFileSync(join(pushing.work, 'pixel.png'), Buffer.from(PIXEL, 'base64'))
    for (const [about, asked, tool, input] of asks(join(pushing.work, 'a.txt'), far)) {
      const told = await rig.turn(asking, call([tool, input]), { behavior: 'deny', comment: '' })
      const what = `${tool} ${JSON.stringify(input)}`
      assert.equal(told.asked.length > 0, asked, what)
      const silence: Silence | undefined = driver.unasked[about]
      assert.ok(asked ? silence?.all !== true : silence !== undefined, what)
    }
  })

  test('without the rule it is pushed', async () => {
    await rig.now.engine.directories.configure(pushing.work, { deny: [] })
    const told = await run(PUSHES[0]!)
    assert.deepEqual(pushing.arrived(), ['refs/heads/main'], JSON.stringify(told.outputs))
  })
}
