import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { ANYWHERE } from '../../src/agents/agent.ts'
import { claudeDriver } from '../../src/agents/claude/driver.ts'
import { claim, sparePlan } from '../../src/agents/claude/spare.ts'
import type { Decision } from '../../src/core/approval.ts'
import type { DriverOutput } from '../../src/agents/output.ts'
import { uuid } from '../../src/core/ids.ts'
import { type ScriptedModel, startScriptedModel } from '../support/model/server.ts'
import { claudeAbsent } from '../support/claude-env.ts'
import { REAL, sandbox, session } from '../support/claude-process.ts'

let model: ScriptedModel
let box: ReturnType<typeof sandbox>

const allow = (): Decision => ({ behavior: 'allow' })
const call = (tool: string, input: object) =>
  `[[call ${tool} ${Buffer.from(JSON.stringify(input)).toString('base64')}]]`
const touch = (name: string) => call('Bash', { command: `touch ${name}` })
const initOf = (outputs: DriverOutput[]) => outputs.findLast((it) => it.type === 'agent.init')!
const modelOf = () => (model.requests.at(-1)!.body as { model: string }).model

describe('what only Claude Code has', { skip: claudeAbsent }, () => {
  before(async () => {
    model = await startScriptedModel()
    box = sandbox(model.url)
  })
  after(async () => {
    await box.close()
    await model.close()
  })

  test('asks questions and takes the answers', async () => {
    const claude = box.start()
    const options = ['Red', 'Blue'].map((label) => ({ label, description: label }))
    const questions = [{ question: 'Red or blue?', header: 'Colour', multiSelect: false, options }]
    const ended = await claude.turn(call('AskUserQuestion', { questions }), (approval) => {
      assert.equal(approval.kind, 'question')
      return { behavior: 'allow', answers: { 'Red or blue?': 'Blue' } }
    })
    assert.match(ended.text!, /"Red or blue\?"="Blue"/)
    await claude.end()
  })

  test('in plan mode it asks even for edits, and leaves the mode when the plan is agreed to', async () => {
    const claude = box.start({ mode: 'plan' })
    const write = call('Write', { file_path: box.inWork('planned.txt'), content: 'x' })
    await claude.turn(write, () => ({ behavior: 'deny', comment: 'plan mode' }))
    assert.ok(!existsSync(box.inWork('planned.txt')))
    await claude.turn(call('ExitPlanMode', { plan: 'do it' }), (approval) => {
      assert.equal(approval.kind, 'plan')
      return { behavior: 'allow' }
    })
    assert.deepEqual(
      claude.outputs.filter((it) => it.type === 'mode.observed'),
      [{ type: 'mode.observed', mode: 'ask' }],
    )
    await claude.end()
  })

  test('system prompts are taken over stdin, and kept for a resume', async () => {
    const settings = {
      systemPrompt: 'You are a test. [[sysword ONE]]',
      appendSystemPrompt: '[[sysword TWO]]',
    }
    const claude = box.start({ settings })
    assert.equal((await claude.turn('[[system]]')).text, 'system: ONE TWO')
    await claude.end()
    const resumed = box.start({ settings, nativeId: initOf(claude.outputs).nativeId })
    assert.equal((await resumed.turn('[[system]]')).text, 'system: ONE TWO')
    await resumed.end()
    const appended = box.start({ settings: { appendSystemPrompt: '[[sysword THREE]]' } })
    assert.equal((await appended.turn('[[system]]')).text, 'system: THREE')
    await appended.end()
  })

  test('without a key it is not signed in', async () => {
    const claude = box.start({}, { ANTHROPIC_API_KEY: '' })
    assert.equal((await claude.turn('hello')).error?.code, 'not_signed_in')
    await claude.end()
  })

  test('settings hold: tools allowed and forbidden, directories, a limit of turns', async () => {
    const claude = box.start({
      settings: {
        allowedTools: ['Bash(touch *)', 'Read'],
        disallowedTools: ['WebSearch', 'WebFetch'],
        additionalDirectories: [join(box.root, 'parking')],
        maxTurns: 2,
      },
    })
    await claude.turn(touch('allowed.txt'))
    assert.ok(existsSync(box.inWork('allowed.txt')))
    const { tools } = initOf(claude.outputs).raw as { tools: string[] }
    assert.ok(tools.includes('Read') && !tools.includes('WebSearch') && !tools.includes('WebFetch'))
    await claude.end()
    const limited = box.start({ settings: { maxTurns: 1, allowedTools: ['Bash(touch *)'] } })
    assert.equal((await limited.turn(touch('limit.txt'))).error?.code, 'limit')
    await limited.end()
  })

  test('MCP servers are there for the first message', async () => {
    const server = join(box.root, 'mcp.mjs')
    writeFileSync(server, MCP_SERVER)
    const env = { KEY: 'the key' }
    const mcpConfig = {
      mcpServers: {
        x: { command: process.execPath, args: [server], env },
        gone: { command: join(box.root, 'nowhere') },
      },
    }
    const claude = box.start({ settings: { mcpConfig } })
    const { text } = await claude.turn(call('mcp__x__ping', {}), allow)
    assert.match(text!, /pong the key/)
    const failed = claude.outputs.find((it) => it.type === 'agent.notice')
    assert.equal(failed?.code, 'mcp_failed')
    await claude.end()
  })

  test('a sub-agent is part of its turn and named by its tool call', async () => {
    const claude = box.start()
    const prompt = touch('sub.txt')
    const task = call('Task', { description: 'sub', prompt, subagent_type: 'general-purpose' })
    let parent: string | null = null
    const ended = await claude.turn(task, (approval) => {
      parent = approval.parent
      return { behavior: 'allow' }
    })
    assert.equal(ended.outcome, 'completed')
    assert.ok(existsSync(box.inWork('sub.txt')))
    const started = claude.outputs.filter((it) => it.type === 'tool.started')
    assert.deepEqual(
      started.map((it) => it.parent),
      [null, started[0]!.callId],
    )
    assert.equal(parent, started[0]!.callId)
    assert.ok(!claude.outputs.some((it) => it.type === 'agent.notice'))
    await claude.end()
  })

  test('a barrier is reached after the message before it, and a message written twice runs once', async () => {
    const claude = box.start()
    const turnId = claude.say('[[say one]]')
    claude.write(claudeDriver.barrier('b1'))
    assert.equal((await claude.next('turn.accepted')).turnId, turnId)
    assert.equal((await claude.next('barrier.reached')).id, 'b1')
    claude.tell({ kind: 'prompt', turnId, input: [{ type: 'text', text: '[[say one]]' }] })
    await claude.next('turn.ended')
    await claude.turn('[[say two]]')
    const ends = claude.outputs.filter((it) => it.type === 'turn.ended').map((it) => it.text)
    assert.deepEqual(ends, ['one', 'two'])
    await claude.end()
  })

  test('an outer session of Claude in the environment changes nothing', async () => {
    const claude = box.start({}, { CLAUDECODE: '1', CLAUDE_CODE_ENTRYPOINT: 'cli' })
    assert.equal((await claude.turn('[[say nested]]')).text, 'nested')
    await claude.end()
  })

  test('a spare becomes the session that claims it', async () => {
    const plan = sparePlan(REAL, ANYWHERE, join(box.root, 'parking'), uuid)
    const claude = box.run(plan)
    claude.write(claudeDriver.barrier('parked'))
    await claude.next('barrier.reached')
    const settings = { appendSystemPrompt: '[[sysword SPARE]]' }
    claude.write(claim(session({ cwd: box.inWork(''), mode: 'code', model: 'sonnet', settings }), ANYWHERE))
    assert.equal((await claude.turn('[[system]]')).text, 'system: SPARE')
    const { raw, nativeId } = initOf(claude.outputs)
    assert.equal((raw as { cwd: string }).cwd, join(box.root, 'work'))
    assert.ok(plan.args.includes(`--session-id=${nativeId}`))
    assert.match(modelOf(), /sonnet/)
    await claude.turn(call('Write', { file_path: box.inWork('spare.txt'), content: 'x' }), allow)
    assert.ok(existsSync(box.inWork('spare.txt')))
    assert.ok(!claude.outputs.some((it) => it.type === 'agent.notice' || it.type === 'mode.observed'))
    await claude.end()
    const cold = box.start({ nativeId })
    assert.equal((await cold.turn('[[say resumed]]')).text, 'resumed')
    await cold.end()
  })

  test('a claim that fails is said so before any message fails', async () => {
    const plan = sparePlan(REAL, ANYWHERE, join(box.root, 'parking'), uuid)
    const claude = box.run(plan)
    claude.write(claim(session({ cwd: join(box.root, 'nowhere') }), ANYWHERE))
    assert.equal((await claude.next('agent.notice')).code, 'claim_failed')
    assert.equal(await claude.end(), 0)
  })
})

const MCP_SERVER = `
import { createInterface } from 'node:readline'
const results = {
  initialize: (params) => ({
    protocolVersion: params.protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'x', version: '1' },
  }),
  'tools/list': () => ({ tools: [{ name: 'ping', inputSchema: { type: 'object' } }] }),
  'tools/call': () => ({ content: [{ type: 'text', text: 'pong ' + process.env.KEY }] }),
}
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (results[method]) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: results[method](params) }))
})
`
