import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gemini } from '../../src/agents/acp/gemini.ts'
import { geminiAbsent, scriptedGemini } from '../support/gemini-env.ts'
import { startAcpRig } from './acp-rig.ts'

/** As its users have it: gemini tidies up among its records at every start. */
test(
  'conversations of Gemini CLI outlive its processes, again and again',
  { skip: geminiAbsent },
  async (t) => {
    const rig = await startAcpRig(gemini, scriptedGemini)
    t.after(() => rig.close())
    const first = await rig.session()
    const second = await rig.session({ cwd: rig.cwdOf(first) })
    await rig.turn(first, '[[remember PLUM]] [[say noted]]')
    await rig.turn(second, '[[remember PEAR]] [[say noted]]')
    for (let round = 0; round < 3; round++) {
      for (const [id, word] of [
        [first, 'PLUM'],
        [second, 'PEAR'],
      ] as const) {
        const { seq } = await rig.send(id, '[[say still here]]')
        await rig.next('turn.completed', id, seq)
        process.kill(-rig.pidOf(id), 'SIGKILL')
        const { seq: gone } = await rig.next('agent.exited', id, seq)
        const told = await rig.turn(id, '[[recall]]')
        assert.ok(gone > seq)
        assert.deepEqual([told.texts, told.notices], [[`recall: ${word}`], []], `round ${round}`)
      }
    }
  },
)
