import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startClient, turn, type Client } from '../dialects/loaf/support.ts'
import type { AgentHome } from '../support/agent-home.ts'
import { until } from '../support/wait.ts'
import type { RealAgent } from './conformance/agent.ts'
import { codex, gemini, opencode } from './conformance/agents.ts'
import { marked } from './conformance/counts.ts'
import { call, words } from './conformance/rig.ts'

/** Codex, Gemini CLI and OpenCode under the names that loaf's clients know, with no daemon: `corral rpc` has the engine. */
const PROVIDERS: [provider: string, agent: RealAgent][] = [
  ['openai', codex],
  ['antigravity', gemini],
  ['openrouter', opencode],
]

for (const [provider, agent] of PROVIDERS) {
  describe(`loaf with the real ${agent.driver.name}`, { skip: agent.absent }, () => {
    let at: AgentHome
    let client: Client
    let sessionId: string

    before(async () => {
      at = await agent.home()
      // A turn that never ended leaves an agent which waits for the next engine.
      const env = { ...at.env, CORRAL_AGENTS_ORPHAN_MS: '4000' }
      client = startClient({ env, project: at.work }, ['--standalone'])
      await client.call('model.select', { model_id: 'default', provider, thinking_level: 'HIGH' })
      sessionId = (await client.call<{ session_id: string }>('session.create')).session_id
    })
    after(async () => {
      await client.close()
      const running = (): string[] => marked(`HOME=${at.env['HOME']}`).map(({ command }) => command)
      try {
        await until(
          () => running().length === 0,
          () => running().join(' | '),
        )
      } finally {
        await at.close()
      }
    })

    test('streams an answer', async () => {
      await turn(client, sessionId, '[[drip 12 20]]')
      const pieces = client.events('session.stream.chunk').map(({ payload }) => payload.chunk.answerText)
      assert.ok(pieces.length > 2, JSON.stringify(pieces))
      assert.equal(pieces.join('').trim(), words(12))
    })

    test('runs a tool without a question', async () => {
      await turn(client, sessionId, call(agent.shell('echo from the tool')))
      const started = client.events('session.tool.call.started')[0]!.payload.data.call
      const { executed } = client.events('session.tool.call.completed')[0]!.payload.data
      assert.deepEqual([executed.callId, executed.name, executed.ok], [started.callId, started.name, true])
      assert.match(executed.result, /from the tool/)
      assert.equal(client.events('session.tool.results')[0]!.payload.data.executed[0]!.callId, started.callId)
    })

    test('is interrupted before its first word', async () => {
      await client.call('session.send', { session_id: sessionId, text: '[[hang]]' })
      await client.call('session.interrupt', { session_id: sessionId })
      await client.event('session.interrupted')
      assert.deepEqual(client.events('session.error'), [])
    })

    test(agent.steers === 'never' ? 'says that it cannot be steered' : 'is steered', async () => {
      const from = client.lines.length
      await client.call('session.send', { session_id: sessionId, text: '[[drip 20 50]]' })
      await client.event('session.stream.chunk', () => true, from)
      const steer = { session_id: sessionId, text: '[[say steered]]' }
      const { accepted, reason } = await client.call<{ accepted: boolean; reason?: string }>(
        'session.steer',
        steer,
      )
      await client.event('session.completed', () => true, from)
      assert.equal(accepted, agent.steers !== 'never', reason)
      if (accepted) {
        await client.event('session.status', (it) => it.status_label === 'steer applied; continuing...')
      }
    })

    test('tells its models, and takes one of them', async () => {
      const { models } = await client.call<{ models: { id: string }[] }>('model.list', { provider })
      const { id } = models.at(-1)!
      assert.notEqual(id, 'default')
      await client.call('model.select', { model_id: id, provider, thinking_level: 'LOW' })
      const asked = at.model.requests.length
      await turn(client, sessionId, 'hello')
      const used = at.model.requests.slice(asked).flatMap((request) => agent.usedModel(request) ?? [])
      assert.ok(used.length > 0 && used.every((name) => id.endsWith(name)), `${id}: ${used.join()}`)
    })
  })
}
