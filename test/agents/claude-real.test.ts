import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { LaunchPlan } from '../../src/agents/agent.ts'
import { claudeDriver } from '../../src/agents/claude/driver.ts'
import { claim, sparePlan } from '../../src/agents/claude/spare.ts'
import type { Approval, Decision } from '../../src/core/approval.ts'
import type { Content } from '../../src/core/content.ts'
import type { AgentOutput } from '../../src/core/event.ts'
import { uuid } from '../../src/core/ids.ts'
import type { Intent } from '../../src/core/ports.ts'
import type { Session } from '../../src/core/session.ts'
import { NO_USAGE } from '../../src/core/usage.ts'
import { type ScriptedModel, startScriptedModel } from '../support/model/server.ts'

const CLI = './cli/node_modules/@anthropic-ai/claude-code-linux-x64/claude'
const BINARY = fileURLToPath(new URL(CLI, import.meta.url))
const skip = existsSync(BINARY) ? false : 'claude is not installed: npm ci in test/agents/cli'
const DETECTION = { name: 'claude', installed: true, path: BINARY, version: null, problem: null }
const WAIT_MS = 30_000

type Ended = Extract<AgentOutput, { type: 'turn.ended' }>
type Of<T extends AgentOutput['type']> = Extract<AgentOutput, { type: T }>

let model: ScriptedModel
let root = ''
const running = new Set<ChildProcess>()

function session(patch: Partial<Session> = {}): Session {
  return {
    id: uuid(),
    agent: 'claude',
    cwd: join(root, 'work'),
    title: null,
    mode: 'ask',
    model: null,
    settings: {},
    nativeId: null,
    forkFrom: null,
    parentId: null,
    origin: null,
    createdAt: 0,
    activeAt: 0,
    turn: null,
    queue: [],
    approvals: [],
    run: null,
    paused: false,
    destroyed: false,
    turnCount: 0,
    usage: NO_USAGE,
    lastError: null,
    ...patch,
  }
}

function environment(): Record<string, string> {
  return {
    HOME: join(root, 'home'),
    TMPDIR: join(root, 'tmp'),
    PATH: '/usr/local/bin:/usr/bin:/bin',
    LANG: 'C.UTF-8',
    ANTHROPIC_API_KEY: 'sk-test',
    ANTHROPIC_BASE_URL: model.url,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    CLAUDE_CODE_MAX_RETRIES: '1',
  }
}

/** A process as the host runs it, but over pipes: lines in, outputs of the translator out. */
function launch(plan: LaunchPlan, env: Record<string, string> = {}) {
  const merged = { ...environment(), ...plan.env, ...env }
  const child = spawn(plan.command, plan.args, { cwd: plan.cwd, env: merged })
  running.add(child)
  const outputs: AgentOutput[] = []
  const waiting = new Set<() => void>()
  let state = claudeDriver.translator.initial()
  let rest = Buffer.alloc(0)
  child.stdout.on('data', (bytes: Buffer) => {
    rest = Buffer.concat([rest, bytes])
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      const step = claudeDriver.translator.step(state, JSON.parse(rest.toString('utf8', 0, end)))
      state = step.state
      outputs.push(...step.outputs)
      rest = rest.subarray(end + 1)
    }
    for (const look of waiting) look()
  })
  child.stderr.resume()
  child.stdin.on('error', () => undefined)
  const exit = once(child, 'close').then(([code]) => {
    running.delete(child)
    for (const look of waiting) look()
    return code as number | null
  })

  const write = (lines: string[]) => lines.forEach((line) => child.stdin.write(`${line}\n`))
  const tell = (intent: Intent) => write(claudeDriver.encode(intent))
  let read = 0
  /** The next output that fits, after the one that was waited for last. */
  const next = <T extends AgentOutput['type']>(...types: T[]) =>
    new Promise<Of<T>>((resolve, reject) => {
      const finish = (end: () => void) => {
        clearTimeout(timer)
        waiting.delete(look)
        end()
      }
      const look = () => {
        while (read < outputs.length) {
          const output = outputs[read++]!
          if ((types as string[]).includes(output.type)) return finish(() => resolve(output as Of<T>))
        }
        if (child.exitCode !== null) finish(() => reject(new Error(`ended with ${child.exitCode}`)))
      }
      const late = () => reject(new Error(`no ${types.join()}; last: ${JSON.stringify(outputs.slice(-5))}`))
      const timer = setTimeout(() => finish(late), WAIT_MS)
      waiting.add(look)
      look()
    })
  const say = (text: string | Content[]) => {
    const turnId = uuid()
    const input = typeof text === 'string' ? [{ type: 'text' as const, text }] : text
    tell({ kind: 'prompt', turnId, input })
    return turnId
  }
  return {
    outputs,
    exit,
    write,
    tell,
    next,
    say,
    decide: (approval: Approval, decision: Decision) => tell({ kind: 'decision', approval, decision }),
    /** A whole turn; `decide` answers what it asks. */
    async turn(text: string | Content[], decide?: (approval: Approval) => Decision): Promise<Ended> {
      say(text)
      for (;;) {
        const output = await next('turn.ended', 'approval.asked')
        if (output.type === 'turn.ended') return output
        assert.ok(decide, `nothing was to be asked, but ${output.approval.tool} was`)
        tell({ kind: 'decision', approval: output.approval, decision: decide(output.approval) })
      }
    },
    async end(): Promise<number | null> {
      write(claudeDriver.farewell())
      return exit
    },
  }
}

const start = (patch: Partial<Session> = {}, env: Record<string, string> = {}) => {
  const plan = claudeDriver.plan(session(patch), DETECTION, uuid)
  const claude = launch(plan, env)
  claude.write(plan.greeting)
  return claude
}

const allow = (): Decision => ({ behavior: 'allow' })
const call = (tool: string, input: object) =>
  `[[call ${tool} ${Buffer.from(JSON.stringify(input)).toString('base64')}]]`
const touch = (name: string) => call('Bash', { command: `touch ${name}` })
const inWork = (name: string) => join(root, 'work', name)
const initOf = (outputs: AgentOutput[]) => outputs.findLast((it) => it.type === 'agent.init')!
const modelOf = () => (model.requests.at(-1)!.body as { model: string }).model

describe('the real claude', { skip }, () => {
  before(async () => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'corral-claude-real-')))
    for (const name of ['home', 'tmp', 'work', 'parking']) mkdirSync(join(root, name))
    model = await startScriptedModel()
  })
  after(async () => {
    for (const child of running) {
      child.kill('SIGKILL')
      await once(child, 'close')
    }
    await model.close()
    rmSync(root, { recursive: true, force: true, maxRetries: 3 })
  })

  test('answers prompts with streamed text, thinking and a price, and ends when told to', async () => {
    const claude = start()
    const ended = await claude.turn('[[words 20]]')
    assert.equal(ended.outcome, 'completed')
    assert.ok(ended.usage.inputTokens > 0 && ended.usage.costUsd! > 0 && ended.usage.durationMs > 0)
    const thought = await claude.turn('[[think let me see]]')
    assert.equal(thought.text, 'done')
    const completed = claude.outputs.filter((it) => it.type === 'message.completed')
    assert.deepEqual(
      completed.map((it) => it.kind),
      ['text', 'thinking', 'text'],
    )
    for (const message of completed) {
      const deltas = claude.outputs.filter(
        (it) => it.type === 'message.delta' && it.messageId === message.messageId,
      )
      assert.equal(deltas.map((it) => (it as Of<'message.delta'>).text).join(''), message.text)
    }
    assert.equal(claude.outputs.filter((it) => it.type === 'turn.accepted').length, 2)
    assert.deepEqual(
      claude.outputs.filter((it) => it.type === 'agent.other'),
      [],
    )
    assert.equal(await claude.end(), 0)
  })

  test('asks before it changes something: yes, no, and yes to something else', async () => {
    const claude = start()
    await claude.turn(touch('yes.txt'), allow)
    assert.ok(existsSync(inWork('yes.txt')))
    const denied = await claude.turn(touch('no.txt'), () => ({ behavior: 'deny', comment: 'rather not' }))
    assert.equal(denied.outcome, 'completed')
    assert.match(denied.text!, /rather not/)
    assert.ok(!existsSync(inWork('no.txt')))
    await claude.turn(touch('asked.txt'), () => ({
      behavior: 'allow',
      input: { command: 'touch edited.txt' },
    }))
    assert.ok(existsSync(inWork('edited.txt')) && !existsSync(inWork('asked.txt')))
    await claude.end()
  })

  test('a yes for the session is not asked again', async () => {
    const claude = start()
    const forSession = (): Decision => ({ behavior: 'allow', forSession: true })
    await claude.turn(touch('again.txt'), forSession)
    await claude.turn(touch('again.txt'))
    await claude.turn(call('Write', { file_path: inWork('w1.txt'), content: '1' }), forSession)
    await claude.turn(call('Write', { file_path: inWork('w2.txt'), content: '2' }))
    assert.equal(readFileSync(inWork('w2.txt'), 'utf8'), '2')
    assert.ok(!claude.outputs.some((it) => it.type === 'mode.observed'))
    await claude.end()
  })

  test('asks questions and takes the answers', async () => {
    const claude = start()
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
    const claude = start({ mode: 'plan' })
    const write = call('Write', { file_path: inWork('planned.txt'), content: 'x' })
    await claude.turn(write, () => ({ behavior: 'deny', comment: 'plan mode' }))
    assert.ok(!existsSync(inWork('planned.txt')))
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

  test('takes another mode and model while it runs, which is no change of its own', async () => {
    const claude = start({ model: 'haiku', mode: 'plan' })
    await claude.turn('hello')
    assert.match(modelOf(), /haiku|sonnet/)
    claude.tell({ kind: 'mode', mode: 'code' })
    claude.tell({ kind: 'model', model: 'sonnet' })
    await claude.turn(call('Write', { file_path: inWork('code.txt'), content: 'x' }))
    assert.ok(existsSync(inWork('code.txt')))
    assert.match(modelOf(), /sonnet/)
    claude.tell({ kind: 'mode', mode: 'auto' })
    claude.tell({ kind: 'model', model: null })
    await claude.turn(touch('auto.txt'), allow)
    assert.match(modelOf(), /opus/)
    assert.ok(!claude.outputs.some((it) => it.type === 'mode.observed' || it.type === 'agent.notice'))
    await claude.end()
  })

  test('stops while it streams, and while it waits for an answer', async () => {
    const claude = start()
    claude.say('[[drip 500 20]]')
    await claude.next('message.delta')
    claude.write(claudeDriver.interrupt())
    assert.equal((await claude.next('turn.ended')).outcome, 'interrupted')
    const aborted = claude.outputs.find((it) => it.type === 'message.completed')!
    assert.equal(aborted.aborted, true)
    claude.say(touch('open.txt'))
    const { approval } = await claude.next('approval.asked')
    claude.write(claudeDriver.interrupt())
    assert.equal((await claude.next('approval.withdrawn')).requestId, approval.requestId)
    claude.decide(approval, { behavior: 'cancelled', reason: 'interrupted' })
    assert.equal((await claude.next('turn.ended')).outcome, 'interrupted')
    assert.equal((await claude.turn('[[say still there]]')).text, 'still there')
    await claude.end()
  })

  test('a conversation goes on in another process, and a fork has its memory', async () => {
    const first = start()
    await first.turn('[[remember PLUM]] hello')
    const { nativeId } = initOf(first.outputs)
    await first.end()
    const second = start({ nativeId })
    assert.equal((await second.turn('[[recall]]')).text, 'recall: PLUM')
    assert.equal(initOf(second.outputs).nativeId, nativeId)
    await second.turn('[[remember PEAR]] hello')
    await second.end()
    const fork = start({ forkFrom: nativeId })
    assert.equal((await fork.turn('[[recall]]')).text, 'recall: PEAR')
    assert.notEqual(initOf(fork.outputs).nativeId, nativeId)
    await fork.end()
  })

  test('a conversation that is not there is said to be lost', async () => {
    const claude = start({ nativeId: uuid() })
    assert.equal((await claude.turn('hello')).error?.code, 'conversation_lost')
    await claude.exit
  })

  test('system prompts are taken over stdin, and kept for a resume', async () => {
    const settings = {
      systemPrompt: 'You are a test. [[sysword ONE]]',
      appendSystemPrompt: '[[sysword TWO]]',
    }
    const claude = start({ settings })
    assert.equal((await claude.turn('[[system]]')).text, 'system: ONE TWO')
    await claude.end()
    const resumed = start({ settings, nativeId: initOf(claude.outputs).nativeId })
    assert.equal((await resumed.turn('[[system]]')).text, 'system: ONE TWO')
    await resumed.end()
    const appended = start({ settings: { appendSystemPrompt: '[[sysword THREE]]' } })
    assert.equal((await appended.turn('[[system]]')).text, 'system: THREE')
    await appended.end()
  })

  test('sees images', async () => {
    const data =
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    const claude = start()
    const { text } = await claude.turn([
      { type: 'text', text: '[[attachments]]' },
      { type: 'image', mediaType: 'image/png', data },
    ])
    assert.match(text!, /^attachments: 1 image\/png\/70/)
    await claude.end()
  })

  test('tells errors of the model with their status, and lives on', async () => {
    const claude = start()
    for (const status of [401, 429, 529]) {
      const { outcome, error } = await claude.turn(`[[fail ${status}]]`)
      assert.equal(outcome, 'failed')
      assert.deepEqual([error?.code, error?.detail?.status], ['model_error', status])
    }
    assert.ok(claude.outputs.some((it) => it.type === 'agent.notice' && it.code === 'model_retry'))
    assert.equal((await claude.turn('[[say back]]')).text, 'back')
    await claude.end()
  })

  test('without a key it is not signed in', async () => {
    const claude = start({}, { ANTHROPIC_API_KEY: '' })
    assert.equal((await claude.turn('hello')).error?.code, 'not_signed_in')
    await claude.end()
  })

  test('settings hold: tools allowed and forbidden, directories, a limit of turns', async () => {
    const claude = start({
      settings: {
        allowedTools: ['Bash(touch *)', 'Read'],
        disallowedTools: ['WebSearch', 'WebFetch'],
        additionalDirectories: [join(root, 'parking')],
        maxTurns: 2,
      },
    })
    await claude.turn(touch('allowed.txt'))
    assert.ok(existsSync(inWork('allowed.txt')))
    const { tools } = initOf(claude.outputs).raw as { tools: string[] }
    assert.ok(tools.includes('Read') && !tools.includes('WebSearch') && !tools.includes('WebFetch'))
    await claude.end()
    const limited = start({ settings: { maxTurns: 1, allowedTools: ['Bash(touch *)'] } })
    assert.equal((await limited.turn(touch('limit.txt'))).error?.code, 'limit')
    await limited.end()
  })

  test('MCP servers are there for the first message', async () => {
    const server = join(root, 'mcp.mjs')
    writeFileSync(server, MCP_SERVER)
    const env = { KEY: 'the key' }
    const mcpConfig = {
      mcpServers: {
        x: { command: process.execPath, args: [server], env },
        gone: { command: join(root, 'nowhere') },
      },
    }
    const claude = start({ settings: { mcpConfig } })
    const { text } = await claude.turn(call('mcp__x__ping', {}), allow)
    assert.match(text!, /pong the key/)
    const failed = claude.outputs.find((it) => it.type === 'agent.notice')
    assert.equal(failed?.code, 'mcp_failed')
    await claude.end()
  })

  test('a sub-agent is part of its turn and named by its tool call', async () => {
    const claude = start()
    const prompt = touch('sub.txt')
    const task = call('Task', { description: 'sub', prompt, subagent_type: 'general-purpose' })
    let parent: string | null = null
    const ended = await claude.turn(task, (approval) => {
      parent = approval.parent
      return { behavior: 'allow' }
    })
    assert.equal(ended.outcome, 'completed')
    assert.ok(existsSync(inWork('sub.txt')))
    const started = claude.outputs.filter((it) => it.type === 'tool.started')
    assert.deepEqual(
      started.map((it) => it.parent),
      [null, started[0]!.callId],
    )
    assert.equal(parent, started[0]!.callId)
    assert.ok(!claude.outputs.some((it) => it.type === 'agent.notice'))
    await claude.end()
  })

  test('a barrier is reached after the message before it was taken', async () => {
    const claude = start()
    const turnId = claude.say('[[say one]]')
    claude.write(claudeDriver.barrier('b1'))
    assert.equal((await claude.next('turn.accepted')).turnId, turnId)
    assert.equal((await claude.next('barrier.reached')).id, 'b1')
    claude.tell({ kind: 'prompt', turnId, input: [{ type: 'text', text: '[[say one]]' }] })
    claude.write(claudeDriver.barrier('b2'))
    await claude.next('barrier.reached')
    await claude.turn('[[say two]]')
    const ends = claude.outputs.filter((it) => it.type === 'turn.ended').map((it) => it.text)
    assert.deepEqual(ends, ['one', 'two'])
    await claude.end()
  })

  test('an outer session of Claude in the environment changes nothing', async () => {
    const claude = start({}, { CLAUDECODE: '1', CLAUDE_CODE_ENTRYPOINT: 'cli' })
    assert.equal((await claude.turn('[[say nested]]')).text, 'nested')
    await claude.end()
  })

  test('a spare becomes the session that claims it', async () => {
    const plan = sparePlan(DETECTION, join(root, 'parking'), uuid)
    const claude = launch(plan)
    claude.write([...plan.greeting, ...claudeDriver.barrier('parked')])
    await claude.next('barrier.reached')
    const settings = { appendSystemPrompt: '[[sysword SPARE]]' }
    claude.write(claim(session({ mode: 'code', model: 'sonnet', settings })))
    assert.equal((await claude.turn('[[system]]')).text, 'system: SPARE')
    const { raw, nativeId } = initOf(claude.outputs)
    assert.equal((raw as { cwd: string }).cwd, join(root, 'work'))
    assert.ok(plan.args.includes(`--session-id=${nativeId}`))
    assert.match(modelOf(), /sonnet/)
    await claude.turn(call('Write', { file_path: inWork('spare.txt'), content: 'x' }))
    assert.ok(existsSync(inWork('spare.txt')))
    assert.ok(!claude.outputs.some((it) => it.type === 'agent.notice' || it.type === 'mode.observed'))
    await claude.end()
    const cold = start({ nativeId })
    assert.equal((await cold.turn('[[say resumed]]')).text, 'resumed')
    await cold.end()
  })

  test('a claim that fails is said so before any message fails', async () => {
    const plan = sparePlan(DETECTION, join(root, 'parking'), uuid)
    const claude = launch(plan)
    claude.write([...plan.greeting, ...claim(session({ cwd: join(root, 'nowhere') }))])
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
