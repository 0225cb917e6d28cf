import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gemini } from '../../src/agents/acp/gemini.ts'
import { geminiAbsent, scriptedGemini } from '../support/gemini-env.ts'
import { conforms } from './acp-conformance.ts'
import { startAcpRig } from './acp-rig.ts'

conforms(gemini, geminiAbsent, scriptedGemini, {
  denialEndsTurn: false,
  acceptsEdits: true,
  cost: false,
  youngIsLost: false,
  models: ['gemini-2.5-flash', 'gemini-2.5-flash-lite'],
  usedModel: ({ path }) => /models\/([^:]+):streamGenerateContent/.exec(path)?.[1] ?? null,
})

test('Gemini CLI without a key says how to sign in', { skip: geminiAbsent }, async (t) => {
  const rig = await startAcpRig(gemini, scriptedGemini, { GEMINI_API_KEY: '' })
  t.after(() => rig.close())
  const { end } = await rig.turn(await rig.session(), 'hello')
  assert.ok(end.type === 'turn.failed')
  assert.equal(end.error.code, 'not_signed_in')
  assert.match(end.error.message, /run gemini once and sign in, or set GEMINI_API_KEY/)
})

test(
  'Gemini CLI in a directory that it does not trust asks about edits',
  { skip: geminiAbsent },
  async (t) => {
    const rig = await startAcpRig(gemini, scriptedGemini, { GEMINI_CLI_TRUST_WORKSPACE: undefined })
    t.after(() => rig.close())
    const sessionId = await rig.session({ mode: 'code' })
    const told = await rig.turn(sessionId, '[[write asked.txt x]]', { behavior: 'allow' })
    assert.ok(existsSync(join(rig.cwdOf(sessionId), 'asked.txt')))
    assert.deepEqual([told.end.type, told.asked.length, told.notices], ['turn.completed', 1, []])
  },
)
