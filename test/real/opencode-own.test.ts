import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { AgentHome } from '../support/agent-home.ts'
import { opencode } from './conformance/agents.ts'
import { call, deciders, type Rig, startRig } from './conformance/rig.ts'

describe('what only OpenCode has', { skip: opencode.absent, concurrency: false }, () => {
  let rig: Rig
  let at: AgentHome
  let id: string
  before(async () => {
    rig = await startRig({ ...opencode, home: async () => (at = await withDenial()) })
    id = await rig.session({ mode: 'auto' })
  })
  after(() => rig?.close())

  test('what the user has forbidden stays forbidden, also where everything is allowed', async () => {
    await rig.turn(id, '[[shell touch denied.txt]]')
    assert.ok(!rig.has(id, 'denied.txt'))
    const told = await rig.turn(id, '[[shell echo hi > allowed.txt]]')
    assert.deepEqual([told.asked.length, rig.has(id, 'allowed.txt')], [1, true])
  })

  test('looks around without asking, but not outside; and has no sub-agents', async () => {
    await rig.now.engine.sessions.configure({ sessionId: id, mode: 'plan' })
    const filePath = rig.inside(id, 'in.txt')
    writeFileSync(filePath, 'inside')
    const read = await rig.turn(id, call(['read', { filePath }]))
    assert.deepEqual([read.asked, read.outputs[0]!.output], [[], 'inside'])
    await rig.now.engine.sessions.configure({ sessionId: id, mode: 'ask' })
    const outside = await rig.turn(id, call(['read', { filePath: '/etc/hostname' }]), {
      behavior: 'deny',
      comment: '',
    })
    const { tool, edits } = outside.asked[0]!.approval
    assert.deepEqual([tool, edits], ['ExternalDirectory', false])
    const task = { description: 'd', prompt: '[[shell touch sub.txt]]', subagent_type: 'general' }
    assert.match((await rig.turn(id, call(['task', task]))).texts[0]!, /unavailable tool 'task'/)
  })

  test('a refusal to read holds for a file outside, although it asks about the directory', async () => {
    const rules = { allow: [], deny: ['read(/etc/*)'], acceptEdits: false, skipUntil: null }
    await rig.now.engine.sessions.configure({ sessionId: id, mode: 'auto', rules })
    const read = call(['read', { filePath: '/etc/hostname' }])
    assert.deepEqual(deciders(await rig.turn(id, read)), ['rule'])
    await rig.now.engine.sessions.configure({
      sessionId: id,
      rules: { deny: ['read(/usr/*)', 'edit(/etc/*)'] },
    })
    assert.deepEqual(deciders(await rig.turn(id, read)), ['mode:auto'])
    await rig.now.engine.sessions.configure({ sessionId: id, rules: { deny: [] } })
  })

  test('tools of the user’s own are no MCP servers’, and asked about only if they ask themselves', async () => {
    const rules = { deny: ['mcp'] }
    await rig.now.engine.sessions.configure({ sessionId: id, mode: 'auto', rules })
    const silent = await rig.turn(id, call(['my_silent', {}]))
    assert.deepEqual([silent.asked, silent.texts], [[], ['tool said: it was silent']])
    const asking = await rig.turn(id, call(['my_asking', {}]))
    assert.deepEqual([deciders(asking), asking.texts], [['mode:auto'], ['tool said: it has asked']])
    assert.deepEqual(asking.asked[0]!.approval.about, { class: 'other', subjects: ['/x'] })
    await rig.now.engine.sessions.configure({ sessionId: id, rules: { deny: ['search'] } })
    const search = await rig.turn(id, call(['websearch', { query: 'git_push' }]))
    assert.deepEqual([deciders(search), search.asked[0]!.approval.tool], [['rule'], 'WebSearch'])
    await rig.now.engine.sessions.configure({ sessionId: id, rules: { deny: [] } })
  })

  test('a patch of several files is refused for any of them, also for where one is moved to, and passes when each passes', async () => {
    // Only for such models has it a tool for patches.
    const patching = await rig.session({ mode: 'ask', model: 'scripted/gpt-5' })
    const rules = { allow: ['edit(one*)', 'edit(two*)'], deny: ['edit(*/secret*)'] }
    await rig.now.engine.sessions.configure({ sessionId: patching, rules })
    const patch = async (...lines: string[]) => {
      const patchText = ['*** Begin Patch', ...lines, '*** End Patch'].join('\n')
      return deciders(await rig.turn(patching, call(['apply_patch', { patchText }])))
    }
    assert.deepEqual(await patch('*** Add File: one.txt', '+a', '*** Add File: secret.txt', '+b'), ['rule'])
    assert.deepEqual([rig.has(patching, 'one.txt'), rig.has(patching, 'secret.txt')], [false, false])
    assert.deepEqual(await patch('*** Add File: one.txt', '+a', '*** Add File: two.txt', '+b'), ['rule'])
    assert.deepEqual([rig.has(patching, 'one.txt'), rig.has(patching, 'two.txt')], [true, true])
    const moved = ['*** Update File: one.txt', '*** Move to: secret.txt', '@@', '-a', '+c']
    assert.deepEqual(await patch(...moved), ['rule'])
    assert.deepEqual([rig.has(patching, 'one.txt'), rig.has(patching, 'secret.txt')], [true, false])
  })

  test('is not offered its tool for questions where nobody can answer them, whatever the user has set', async () => {
    const offered = async (settings: { questions?: boolean }) => {
      await rig.turn(await rig.session({ settings }), '[[say hello]]')
      const asked = at.model.requests.map(
        ({ body }) => (body as { tools?: { function: { name: string } }[] }).tools,
      )
      const tools = asked.findLast((one) => one !== undefined)!
      return tools.some((tool) => tool.function.name === 'question')
    }
    assert.deepEqual([await offered({}), await offered({ questions: false })], [true, false])
  })

  test('a model that it does not know is refused before the first message', async () => {
    const { end } = await rig.turn(await rig.session({ model: 'no/such' }), 'hello')
    assert.ok(end.type === 'turn.failed')
    assert.deepEqual(
      [end.error.code, end.error.message],
      ['unsupported', 'OpenCode cannot be set to model no/such: Invalid params: model not found: no/such'],
    )
  })
})

async function withDenial(): Promise<AgentHome> {
  const at = await opencode.home()
  const path = join(at.env['XDG_CONFIG_HOME']!, 'opencode/opencode.json')
  const config = JSON.parse(readFileSync(path, 'utf8')) as {
    provider: { scripted: { models: Record<string, object> } }
  }
  const { models } = config.provider.scripted
  models['gpt-5'] = models['scripted']!
  const permission = { bash: { '*': 'allow', 'touch *': 'deny' } }
  writeFileSync(path, JSON.stringify({ ...config, permission }))
  const tools = join(at.env['XDG_CONFIG_HOME']!, 'opencode/tool')
  mkdirSync(tools)
  const ask = `await context.ask({ permission: 'my_asking', patterns: ['*'], always: [], metadata: { path: '/x' } })`
  writeFileSync(join(tools, 'my_silent.ts'), toolThat(`return 'it was silent'`))
  writeFileSync(join(tools, 'my_asking.ts'), toolThat(`${ask}; return 'it has asked'`))
  return { ...at, env: { ...at.env, OPENCODE_ENABLE_QUESTION_TOOL: 'true', OPENCODE_ENABLE_EXA: 'true' } }
}

const toolThat = (does: string): string =>
  `export default { description: 'd', args: {}, async execute(_, context) { ${does} } }`
