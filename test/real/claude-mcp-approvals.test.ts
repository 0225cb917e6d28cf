import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { agentsIdOf } from '../../src/core/own-ids.ts'
import { MAIN } from '../support/program.ts'
import { openQuestion } from '../dialects/mcp/support.ts'
import { claudeAbsent } from '../support/claude-env.ts'
import { askUntil } from '../support/wait.ts'
import { call, nobodyIn, only, processesIn, type Rig, startRig } from './rig.ts'

let rig: Rig

const overStdio = () => ({ command: process.execPath, args: [MAIN, 'mcp', 'approvals'] })
const overHttp = () => ({ type: 'http', url: `${rig.daemon.listeners['corral']}/mcp` })

/** A claude that asks Corral's own MCP server instead of its pipes. */
async function asking(server: object) {
  const cwd = rig.directory()
  const settings = {
    permissionPromptTool: 'mcp__corral__request_permission',
    allowedTools: ['mcp__corral__contact_human'],
    mcpConfig: { mcpServers: { corral: server } },
  }
  const sessionId = await rig.session({ cwd, mode: 'ask', settings })
  return { cwd, sessionId, has: (file: string) => existsSync(join(cwd, file)) }
}

const servers = (cwd: string) => processesIn(cwd).filter(({ command }) => command.includes('mcp approvals'))

describe('claude with corral mcp approvals as its permission prompt tool', { skip: claudeAbsent }, () => {
  before(async () => {
    rig = await startRig()
  })
  after(() => rig.close())

  for (const [way, server] of Object.entries({ stdio: overStdio, http: overHttp })) {
    test(`a decision of another client decides, over ${way}`, async () => {
      const { sessionId, has } = await asking(server())
      const yes = await rig.send(sessionId, '[[shell touch yes.txt]]')
      const asked = await openQuestion(rig.client, 'yes.txt')
      assert.ok(!has('yes.txt'))
      assert.deepEqual([asked.tool, asked.kind, asked.external], ['Bash', 'tool', true])
      const approved = await rig.corral('approve', asked.id)
      assert.equal(approved.code, 0, approved.stderr)
      await yes.end('turn.completed')
      assert.ok(has('yes.txt'))
      // Over HTTP the question is in a session of the client's own, which knows the call by Claude's name only.
      const { callId } = only(yes.seen, 'tool.started')[0]!
      assert.equal(asked.callId, way === 'http' ? agentsIdOf(callId) : callId)

      const no = await rig.send(sessionId, '[[shell touch no.txt]]')
      const refused = await openQuestion(rig.client, 'no.txt')
      await rig.corral('deny', refused.id, 'not today')
      assert.match((await no.end('turn.completed')).text!, /not today/)
      assert.ok(!has('no.txt'))

      const edited = await rig.send(sessionId, '[[shell touch asked.txt]]')
      const { id: approvalId } = await openQuestion(rig.client, 'asked.txt')
      const input = { command: 'touch edited.txt', description: 'edited' }
      await rig.client.call('approval.decide', { approvalId, behavior: 'allow', input })
      await edited.end('turn.completed')
      assert.deepEqual([has('asked.txt'), has('edited.txt')], [false, true])
    })

    test(`the model asks a human and reads the answer, over ${way}`, async () => {
      const { sessionId } = await asking(server())
      const message = `Which branch, over ${way}?`
      const sent = await rig.send(
        sessionId,
        call('mcp__corral__contact_human', { message, options: ['main', 'next'] }),
      )
      const { id } = await openQuestion(rig.client, message)
      await rig.corral('approve', id, '--answer', '2')
      assert.match((await sent.end('turn.completed')).text!, /next/)
    })

    test(`an interrupted turn takes its question back, over ${way}`, async () => {
      const { sessionId, has } = await asking(server())
      const sent = await rig.send(sessionId, '[[shell touch interrupted.txt]]')
      const { id: approvalId } = await openQuestion(rig.client, 'interrupted.txt')
      await rig.client.call('session.interrupt', { sessionId })
      await sent.end('turn.interrupted')
      await askUntil(
        () => rig.client.call('approval.get', { approvalId }),
        ({ decision }) => decision !== null,
        'the question is closed',
      )
      assert.ok(!has('interrupted.txt'))
      const next = await rig.send(sessionId, '[[shell touch next.txt]]')
      const again = await openQuestion(rig.client, 'next.txt')
      await rig.client.call('approval.decide', { approvalId: again.id, behavior: 'allow' })
      await next.end('turn.completed')
      assert.ok(has('next.txt'))
    })
  }

  test('questions of the server that claude starts are questions of its own session', async () => {
    const { sessionId } = await asking(overStdio())
    const sent = await rig.send(sessionId, '[[shell touch own.txt]]')
    const asked = await openQuestion(rig.client, 'own.txt')
    assert.equal(asked.sessionId, sessionId)
    assert.equal((await rig.view(sessionId)).status, 'waiting')
    await rig.client.call('approval.decide', { approvalId: asked.id, behavior: 'allow' })
    await sent.end('turn.completed')
    assert.equal((await rig.view(sessionId)).status, 'idle')
  })

  test('a crash of the daemon while claude waits changes nothing', async () => {
    const { cwd, sessionId, has } = await asking(overStdio())
    const sent = await rig.send(sessionId, '[[shell touch crash.txt]]')
    const { id: approvalId } = await openQuestion(rig.client, 'crash.txt')
    const [server] = servers(cwd)
    await rig.daemon.kill9()
    await rig.daemon.restart()
    assert.equal((await rig.client.call('approval.get', { approvalId })).decision, null)
    await rig.client.call('approval.decide', { approvalId, behavior: 'allow' })
    await sent.end('turn.completed')
    assert.ok(has('crash.txt'))
    assert.deepEqual(
      servers(cwd).map(({ pid }) => pid),
      [server!.pid],
    )
  })

  test('the server ends with its session', async () => {
    const { cwd, sessionId } = await asking(overStdio())
    await rig.turn(sessionId, 'hello')
    await askUntil(
      () => servers(cwd),
      (found) => found.length === 1,
      'a server',
    )
    await rig.client.call('session.destroy', { sessionId })
    await nobodyIn(cwd)
  })
})
