import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { RealAgent } from './agent.ts'
import { approvals } from './approvals.ts'
import { capabilities } from './capabilities.ts'
import { count, type Counts, isBackTo, leftIn } from './counts.ts'
import { daemons } from './daemons.ts'
import { directories } from './directories.ts'
import { faults } from './faults.ts'
import { modes } from './modes.ts'
import { rules } from './rules.ts'
import { type Rig, startRig } from './rig.ts'
import { turns } from './turns.ts'
import { until } from '../../support/wait.ts'

const SUITES = { turns, approvals, modes, rules, capabilities, faults, directories }

/** What holds for every real agent, through the whole engine. After each suite everything is as it was before. */
export function conforms(agent: RealAgent): void {
  const { title } = agent.driver
  describe(title, { skip: agent.absent, concurrency: false }, () => {
    let rig: Rig
    before(async () => {
      rig = await startRig(agent)
    })
    after(() => rig?.close())
    for (const [name, suite] of Object.entries(SUITES)) {
      describe(name, () => {
        let then: Counts
        before(() => {
          then = countOf(rig)
        })
        suite(agent, () => rig)
        test('nothing is left: no process, zombie, open file, socket, run, or file in a session', async () => {
          await leavesNothing(rig, then)
        })
      })
    }
    describe('daemons', () => daemons(agent))
  })
}

const countOf = ({ mark, now }: Rig): Counts => count('self', mark, join(now.home, 'runs'))

async function leavesNothing(rig: Rig, before: Counts): Promise<void> {
  await rig.now.host.endAll()
  await until(
    () => isBackTo(before, countOf(rig)),
    () => `${JSON.stringify(before)} again, but it is ${JSON.stringify(countOf(rig))}`,
  )
  const sessions = readdirSync(rig.now.cwd).map((name) => join(rig.now.cwd, name))
  assert.deepEqual(leftIn(sessions), [])
}
