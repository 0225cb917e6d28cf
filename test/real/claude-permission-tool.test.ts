import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test, type TestContext } from 'node:test'
import { agentsIdOf } from '../../src/core/own-ids.ts'
import { ANYWHERE } from '../../src/agents/agent.ts'
import { claudeDriver } from '../../src/agents/claude/driver.ts'
import { claim, sparePlan } from '../../src/agents/claude/spare.ts'
import { commandLine, startTime } from '../../src/agents/host/process.ts'
import type { Decision } from '../../src/core/approval.ts'
import type { Event } from '../../src/core/event.ts'
import { uuid } from '../../src/core/ids.ts'
import type { SessionSettings } from '../../src/core/settings.ts'
import { claudeAbsent, scriptedClaude } from '../support/claude-env.ts'
import { REAL, sandbox, session } from '../support/claude-process.ts'
import { startEngine, type TestEngine } from '../support/engine.ts'
import { askUntil } from '../support/wait.ts'
import { call, claudeIn, nobodyIn, only } from './rig.ts'

const KEY = 'a-key-for-nobody-else'

interface GateLine {
  pid?: number
  run?: string
  id?: number
  method?: string
  params?: { arguments?: Record<string, unknown>; requestId?: number }
}

describe('a permission prompt tool of the client', { skip: claudeAbsent }, () => {
  let t: TestEngine
  let scripted: Awaited<ReturnType<typeof scriptedClaude>>
  let gate: string
  before(async () => {
    scripted = await scriptedClaude()
    t = await startEngine({ drivers: [claudeDriver], env: scripted.env })
    gate = join(t.home, 'gate.mjs')
    writeFileSync(gate, GATE)
  })
  after(async () => {
    await t.stop()
    await scripted.close()
  })

  async function gated(context: TestContext, permissionPromptTool = 'mcp__gate__request_permission') {
    const cwd = mkdtempSync(join(t.cwd, 'gated-'))
    const log = join(cwd, 'gate.log')
    const server = { command: process.execPath, args: [gate], env: { LOG: log, KEY } }
    const settings = { permissionPromptTool, mcpConfig: { mcpServers: { gate: server } } }
    const { id } = await t.engine.sessions.create({ agent: 'claude', cwd, mode: 'ask', settings })
    context.after(() => t.host.end(id))
    const heard = (): GateLine[] => lines(log).map((line) => JSON.parse(line) as GateLine)
    return { id, cwd, heard, calls: () => heard().filter(({ method }) => method === 'tools/call') }
  }

  test('decides with yes and with no, and Corral is not asked', async (context) => {
    const { id, cwd, calls } = await gated(context)
    const allowed = await t.turn(id, call('Bash', { command: 'touch yes.txt' }))
    assert.ok(existsSync(join(cwd, 'yes.txt')))
    assert.deepEqual(calls()[0]!.params!.arguments, {
      tool_name: 'Bash',
      input: { command: 'touch yes.txt' },
      tool_use_id: agentsIdOf(only(allowed, 'tool.started')[0]!.callId),
    })
    const denied = await t.turn(id, '[[shell touch no.txt]]')
    assert.equal(textOf(denied), 'tool said: the gate is shut')
    assert.ok(!existsSync(join(cwd, 'no.txt')))
    assert.equal(calls().length, 2)
    assert.deepEqual(only([...allowed, ...denied], 'approval.requested'), [])
  })

  test('gets its secrets neither from a command line nor from a file of the run', async (context) => {
    const { id, cwd, heard } = await gated(context)
    await t.turn(id, 'hello')
    const run = join(t.home, 'runs', t.engine.sessions.get(id).run!.id)
    assert.equal(heard()[0]!.run, t.engine.sessions.get(id).run!.id)
    assert.ok(!commandLine(claudeIn(cwd).pid)!.includes(KEY))
    const files = readdirSync(run).filter((name) => name !== 'in')
    assert.ok(files.includes('out'))
    for (const name of files) assert.ok(!readFileSync(join(run, name), 'utf8').includes(KEY), name)
  })

  test('is told when a question is interrupted, and ends with its session', async (context) => {
    const { id, cwd, heard, calls } = await gated(context)
    const turn = t.turn(id, '[[shell touch wait.txt]]')
    const [asked] = await askUntil(calls, (found) => found.length > 0, 'the tool is asked')
    await t.engine.turns.interrupt({ sessionId: id })
    assert.equal((await turn).at(-1)!.type, 'turn.interrupted')
    const isCancelled = ({ method }: GateLine): boolean => method === 'notifications/cancelled'
    const told = await askUntil(heard, (found) => found.some(isCancelled), 'the tool is told')
    assert.equal(told.find(isCancelled)!.params!.requestId, asked!.id)
    const { pid } = heard()[0]!
    const run = join(t.home, 'runs', t.engine.sessions.get(id).run!.id)
    assert.notEqual(startTime(pid!), null)
    await t.host.end(id)
    await nobodyIn(cwd)
    assert.equal(startTime(pid!), null)
    assert.ok(!existsSync(run))
    assert.ok(!existsSync(join(cwd, 'wait.txt')))
  })

  test('that no server has allows nothing, and the turn says why it failed', async (context) => {
    const { id, cwd } = await gated(context, 'mcp__gate__nothing')
    const end = (await t.turn(id, '[[shell touch nobody.txt]]')).at(-1)!
    assert.equal(end.type, 'turn.failed')
    assert.match(JSON.stringify(end), /mcp__gate__nothing .* not found/)
    assert.ok(!existsSync(join(cwd, 'nobody.txt')))
    await nobodyIn(cwd)
  })
})

describe('words for claude', { skip: claudeAbsent }, () => {
  let scripted: Awaited<ReturnType<typeof scriptedClaude>>
  let box: ReturnType<typeof sandbox>
  before(async () => {
    scripted = await scriptedClaude()
    box = sandbox(scripted.model.url)
  })
  after(async () => {
    await box.close()
    await scripted.close()
  })

  const settings = (word: string): SessionSettings => ({
    appendSystemPrompt: '[[sysword APPENDED]]',
    customInstructions: `[[sysword ${word}]]`,
  })

  /** The words of its system prompt that the model sees, and the conversation's id. */
  async function heard(claude: ReturnType<typeof box.start>) {
    const { text } = await claude.turn('[[system]]')
    const init = claude.outputs.find((it) => it.type === 'agent.init')!
    await claude.end()
    return { text, nativeId: init.nativeId }
  }

  test('custom instructions reach the model, and those of today hold in a conversation that began with others', async () => {
    const first = await heard(box.start({ settings: settings('FIRST') }))
    assert.equal(first.text, 'system: APPENDED FIRST')
    const fork = await heard(box.start({ forkFrom: first.nativeId, settings: settings('FORK') }))
    assert.equal(fork.text, 'system: APPENDED FORK')
    const resumed = await heard(box.start({ nativeId: fork.nativeId, settings: settings('FORK') }))
    assert.equal(resumed.text, 'system: APPENDED FORK')
  })

  test('custom instructions reach the model through a spare', async () => {
    const spare = box.run(sparePlan(REAL, ANYWHERE, join(box.root, 'parking'), uuid))
    spare.write(claim(session({ cwd: box.inWork(''), settings: settings('SPARE') }), ANYWHERE))
    assert.equal((await heard(spare)).text, 'system: APPENDED SPARE')
  })

  test('a human may answer in words: a question is answered, anything else is not done', async () => {
    const options = ['Red', 'Blue'].map((label) => ({ label, description: label }))
    const about = (question: string) => ({ question, header: 'Colour', multiSelect: false, options })
    const inWords = (): Decision => ({ behavior: 'respond', text: 'rather green' })
    const claude = box.start()
    const ask = (...questions: object[]) => claude.turn(call('AskUserQuestion', { questions }), inWords)
    assert.match((await ask(about('Which?'))).text!, /"Which\?"="rather green"/)
    assert.equal((await ask(about('Which?'), about('And then?'))).text, 'tool said: rather green')
    const refused = await claude.turn(call('Bash', { command: 'touch words.txt' }), inWords)
    assert.equal(refused.text, 'tool said: rather green')
    assert.ok(!existsSync(box.inWork('words.txt')))
    await claude.end()
  })
})

function lines(path: string): string[] {
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : []
}

function textOf(events: readonly Event[]): string | null {
  return only(events, 'turn.completed')[0]?.text ?? null
}

/** An MCP server with one tool: it answers by the name of the file that a command touches, and writes down all it hears. */
const GATE = `
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
const note = (what) => appendFileSync(process.env.LOG, JSON.stringify(what) + '\\n')
const verdict = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] })
const results = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'gate', version: '1' },
  }),
  'tools/list': () => ({ tools: [{ name: 'request_permission', inputSchema: { type: 'object' } }] }),
  'tools/call': ({ arguments: { input } }) => {
    if (input.command.includes('wait')) return null
    if (input.command.includes('no.txt')) return verdict({ behavior: 'deny', message: 'the gate is shut' })
    return verdict({ behavior: 'allow', updatedInput: input })
  },
}
const unknown = { error: { code: -32601, message: 'no such method' } }
note({ pid: process.pid, run: process.env.CORRAL_RUN })
createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line)
  note(message)
  const { id, method, params } = message
  const result = results[method]?.(params)
  const answer = results[method] ? result && { result } : unknown
  if (id !== undefined && answer) console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
})
`
