import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { gemini } from './conformance/agents.ts'
import { startRig } from './conformance/rig.ts'

describe('what only Gemini CLI has', { skip: gemini.absent, concurrency: false }, () => {
  test('without a key it says how to sign in', async (t) => {
    const rig = await startRig(gemini, { GEMINI_API_KEY: '' })
    t.after(() => rig.close())
    const { end } = await rig.turn(await rig.session(), 'hello')
    assert.ok(end.type === 'turn.failed')
    assert.equal(end.error.code, 'not_signed_in')
    assert.match(end.error.message, /run gemini once and sign in, or set GEMINI_API_KEY/)
  })

  test('in a directory that it does not trust it asks about edits', async (t) => {
    const rig = await startRig(gemini, { GEMINI_CLI_TRUST_WORKSPACE: undefined })
    t.after(() => rig.close())
    const id = await rig.session({ mode: 'code' })
    const told = await rig.turn(id, '[[write asked.txt x]]', { behavior: 'allow' })
    assert.ok(rig.has(id, 'asked.txt'))
    assert.deepEqual([told.end.type, told.asked.length, told.notices], ['turn.completed', 1, []])
  })

  test('two conversations in one directory outlive its processes, which tidy up among its records', async (t) => {
    const rig = await startRig(gemini)
    t.after(() => rig.close())
    const cwd = rig.directory()
    const sessions = [
      [await rig.session({ cwd }), 'PLUM'],
      [await rig.session({ cwd }), 'PEAR'],
    ] as const
    for (const [id, word] of sessions) await rig.turn(id, `[[remember ${word}]] [[say noted]]`)
    for (let round = 0; round < 2; round++) {
      for (const [id, word] of sessions) {
        const { seq } = await rig.send(id, '[[say still here]]')
        await rig.next('turn.completed', id, seq)
        process.kill(-rig.groupOf(id), 'SIGKILL')
        await rig.next('agent.exited', id, seq)
        const { texts, notices } = await rig.turn(id, '[[recall]]')
        assert.deepEqual([texts, notices], [[`recall: ${word}`], []], `round ${round}`)
      }
    }
  })
})
