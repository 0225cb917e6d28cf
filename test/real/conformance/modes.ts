import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Mode } from '../../../src/core/mode.ts'
import type { RealAgent } from './agent.ts'
import type { Rig } from './rig.ts'

type Happens = 'done' | 'not done' | 'asked'

/** The table of docs/agents.md: what happens without a human. In `plan` a process starts, and is once more at the end. */
const TABLE: [Mode, { edit: Happens; command: Happens }][] = [
  ['plan', { edit: 'not done', command: 'not done' }],
  ['ask', { edit: 'asked', command: 'asked' }],
  ['code', { edit: 'done', command: 'asked' }],
  ['auto', { edit: 'done', command: 'done' }],
  ['plan', { edit: 'not done', command: 'not done' }],
]

export function modes(_: RealAgent, rigOf: () => Rig): void {
  let rig: Rig
  let id: string
  before(async () => {
    rig = rigOf()
    id = await rig.session({ mode: 'plan' })
  })

  for (const [round, [mode, expected]] of TABLE.entries()) {
    test(`${mode}: an edit is ${expected.edit}, a command is ${expected.command}`, async () => {
      await rig.now.engine.sessions.configure({ sessionId: id, mode })
      assert.deepEqual(
        {
          edit: await attempt(`edit${round}.txt`, (file) => `[[write ${file} text]]`),
          command: await attempt(`command${round}.txt`, (file) => `[[shell touch ${file} && true]]`),
        },
        expected,
      )
      assert.equal(rig.now.engine.sessions.get(id).mode, mode)
    })
  }

  async function attempt(file: string, script: (file: string) => string): Promise<Happens> {
    const sent = await rig.send(id, script(file))
    const first = await rig.endOrQuestion(id, sent)
    if (first.type !== 'approval.requested') {
      assert.equal(first.type, 'turn.completed')
      return rig.has(id, file) ? 'done' : 'not done'
    }
    assert.ok(!rig.has(id, file), 'not before the answer')
    await rig.interrupt(id)
    await rig.told(id, sent)
    assert.ok(!rig.has(id, file), 'not after an interrupt')
    return 'asked'
  }
}
