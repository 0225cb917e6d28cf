import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { connect, type Client, type Json } from '../dialects/humanlayer/support.ts'
import { claudeAbsent } from '../support/claude-env.ts'
import { askUntil, exitOf } from '../support/wait.ts'
import { processesIn, type Rig, startRig } from './rig.ts'

/** HumanLayer's own command line, as published. */
const HUMANLAYER = join(import.meta.dirname, './cli/node_modules/humanlayer/dist/index.js')
const absent = existsSync(HUMANLAYER) ? claudeAbsent : 'humanlayer is not installed: npm run agents:install'

let rig: Rig
let client: Client

async function humanlayer(...args: string[]): Promise<{ code: number | null; output: string }> {
  const { HOME, PATH, TMPDIR } = rig.daemon.env
  const env = { HOME, PATH, TMPDIR, HUMANLAYER_DAEMON_SOCKET: socket() }
  const child = spawn(process.execPath, [HUMANLAYER, ...args], { env, cwd: rig.daemon.project })
  let output = ''
  child.stdout.on('data', (data: Buffer) => (output += data.toString()))
  child.stderr.on('data', (data: Buffer) => (output += data.toString()))
  const code = await exitOf(child, () => `humanlayer ${args.join(' ')} ends; it says:\n${output}`)
  return { code, output }
}

function socket(): string {
  return rig.daemon.listeners['humanlayer']!
}

async function launch(...args: string[]): Promise<string> {
  const { code, output } = await humanlayer('launch', ...args)
  assert.equal(code, 0, output)
  return /Session ID: (\S+)/.exec(output)![1]!
}

async function state(sessionId: string): Promise<Json> {
  return (await client.call<{ session: Json }>('getSessionState', { session_id: sessionId })).session
}

function reaches(sessionId: string, status: string): Promise<Json> {
  return askUntil(
    () => state(sessionId),
    (session) => session['status'] === status,
    `${sessionId} ${status}`,
  )
}

async function asked(sessionId: string): Promise<Json> {
  const { approvals } = await askUntil(
    () => client.call<{ approvals: Json[] }>('fetchApprovals', { session_id: sessionId }),
    (answer) => answer.approvals.length > 0,
    'an approval',
  )
  return approvals[0]!
}

describe('the published HumanLayer command line, unmodified', { skip: absent }, () => {
  before(async () => {
    rig = await startRig()
    client = await connect(socket())
  })
  after(async () => {
    client.close()
    await rig.close()
  })

  test('launch starts a session with its title, model and directory', async () => {
    const cwd = rig.directory()
    const id = await launch('[[say hello]]', '-t', 'from npm', '-m', 'haiku', '-w', cwd, '--max-turns', '5')
    const session = await reaches(id, 'completed')
    assert.deepEqual(
      [session['title'], session['working_dir'], session['query']],
      ['from npm', cwd, '[[say hello]]'],
    )
    assert.match(String(session['model']), /^claude-haiku-/, 'the model that it uses, by its full name')
  })

  test('what it launches asks, and the answer counts', async () => {
    const cwd = rig.directory()
    const id = await launch('[[shell touch asked.txt]]', '-w', cwd)
    const approval = await asked(id)
    await client.call('sendDecision', { approval_id: approval['id'], decision: 'approve' })
    await reaches(id, 'completed')
    assert.ok(existsSync(join(cwd, 'asked.txt')))
  })

  test('launch --dangerously-skip-permissions asks nothing', async () => {
    const cwd = rig.directory()
    const skip = ['--dangerously-skip-permissions', '--dangerously-skip-permissions-timeout', '10']
    const id = await launch('[[shell touch skipped.txt]]', '-w', cwd, ...skip)
    const session = await reaches(id, 'completed')
    assert.equal(session['dangerously_skip_permissions'], true)
    assert.ok(existsSync(join(cwd, 'skipped.txt')))
  })

  const decisions = [
    { decision: 'approve', runs: true },
    { decision: 'deny', comment: 'ask me tomorrow', runs: false },
  ]
  for (const { runs, ...decision } of decisions) {
    test(`its own MCP server asks this daemon, and ${decision.decision} is what claude gets`, async () => {
      const cwd = rig.directory()
      const launched = await client.call('launchSession', {
        query: '[[shell touch through-mcp.txt]]',
        working_dir: cwd,
        permission_prompt_tool: 'mcp__approvals__request_permission',
        mcp_config: {
          mcpServers: {
            approvals: { command: process.execPath, args: [HUMANLAYER, 'mcp', 'claude_approvals'] },
          },
        },
      })
      const id = String(launched['session_id'])
      const approval = await asked(id)
      assert.equal(approval['tool_name'], 'Bash')
      assert.ok(processesIn(cwd).some(({ command }) => command.includes('claude_approvals')))
      assert.equal((await state(id))['status'], 'waiting_input')
      await client.call('sendDecision', { approval_id: approval['id'], ...decision })
      await reaches(id, 'completed')
      assert.equal(existsSync(join(cwd, 'through-mcp.txt')), runs)
      const { events } = await client.call<{ events: Json[] }>('getConversation', { session_id: id })
      const toolCall = events.find((event) => event['event_type'] === 'tool_call')!
      assert.equal(toolCall['approval_id'], approval['id'])
      assert.equal(toolCall['approval_status'], runs ? 'approved' : 'denied')
      if (decision.comment) assert.match(String(events.at(-1)!['content']), /ask me tomorrow/)
    })
  }

  test('it says so when no daemon is there', async () => {
    const { HOME, PATH, TMPDIR } = rig.daemon.env
    const env = { HOME, PATH, TMPDIR, HUMANLAYER_DAEMON_SOCKET: join(rig.daemon.home, 'nobody.sock') }
    const child = spawn(process.execPath, [HUMANLAYER, 'launch', 'x'], { env, cwd: rig.daemon.project })
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
    assert.equal(code, 1)
  })
})
