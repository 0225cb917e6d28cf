import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { opencode } from '../../src/agents/acp/opencode.ts'
import type { AgentHome } from '../support/agent-home.ts'
import { opencodeAbsent, scriptedOpencode } from '../support/opencode-env.ts'
import { conforms } from './acp-conformance.ts'
import { type AcpRig, startAcpRig } from './acp-rig.ts'

conforms(opencode, opencodeAbsent, scriptedOpencode, {
  denialEndsTurn: true,
  acceptsEdits: true,
  cost: true,
  youngIsLost: false,
  models: ['scripted/scripted', 'scripted/other'],
  usedModel: ({ path, body }) => {
    const { model, tools } = body as { model?: string; tools?: unknown[] }
    // Titles are made by a model without tools.
    return path.endsWith('/chat/completions') && tools?.length ? (model ?? null) : null
  },
})

describe('OpenCode and its user', { skip: opencodeAbsent, concurrency: false }, () => {
  let rig: AcpRig
  before(async () => {
    rig = await startAcpRig(opencode, withDenial)
  })
  after(() => rig?.close())

  test('what the user has forbidden stays forbidden, also where everything is allowed', async (t) => {
    const sessionId = await rig.session({ mode: 'auto' }, t)
    await rig.turn(sessionId, '[[shell touch denied.txt]]')
    assert.ok(!existsSync(join(rig.cwdOf(sessionId), 'denied.txt')))
    const told = await rig.turn(sessionId, '[[shell echo hi > allowed.txt]]')
    assert.ok(existsSync(join(rig.cwdOf(sessionId), 'allowed.txt')))
    assert.equal(told.asked.length, 1)
  })

  test('looks around without asking, but not outside; and has no sub-agents', async (t) => {
    const sessionId = await rig.session({ mode: 'plan' }, t)
    const inside = join(rig.cwdOf(sessionId), 'in.txt')
    writeFileSync(inside, 'inside')
    const read = await rig.turn(sessionId, call('read', { filePath: inside }))
    assert.deepEqual([read.asked, read.outputs[0]!.output], [[], 'inside'])
    await rig.now.engine.configure({ sessionId, mode: 'ask' })
    const outside = await rig.turn(sessionId, call('read', { filePath: '/etc/hostname' }), {
      behavior: 'deny',
      comment: '',
    })
    const { tool, edits } = outside.asked[0]!.approval
    assert.deepEqual([tool, edits], ['ExternalDirectory', false])
    const task = { description: 'd', prompt: '[[shell touch sub.txt]]', subagent_type: 'general' }
    assert.match((await rig.turn(sessionId, call('task', task))).texts[0]!, /unavailable tool 'task'/)
  })

  test('a model that it does not know is refused before the first message', async (t) => {
    const { end } = await rig.turn(await rig.session({ model: 'no/such' }, t), 'hello')
    assert.ok(end.type === 'turn.failed')
    assert.deepEqual(
      [end.error.code, end.error.message],
      ['unsupported', 'OpenCode cannot be set to model no/such: Invalid params: model not found: no/such'],
    )
  })
})

const call = (tool: string, input: object): string =>
  `[[call ${tool} ${Buffer.from(JSON.stringify(input)).toString('base64')}]]`

async function withDenial(): Promise<AgentHome> {
  const at = await scriptedOpencode()
  const path = join(at.env['XDG_CONFIG_HOME']!, 'opencode/opencode.json')
  const config = JSON.parse(readFileSync(path, 'utf8')) as object
  const permission = { bash: { '*': 'allow', 'touch *': 'deny' } }
  writeFileSync(path, JSON.stringify({ ...config, permission }))
  return at
}
