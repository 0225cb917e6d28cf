import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test, type TestContext } from 'node:test'
import { dial, type Client, type Json } from '../dialects/clawde/support.ts'
import { claudeAbsent } from '../support/claude-env.ts'
import { type Rig, startRig } from './rig.ts'

let rig: Rig

async function connected(t: TestContext): Promise<Client> {
  const { daemon } = rig
  const client = await dial(t, daemon.listeners['clawde']!)
  const token = readFileSync(join(daemon.home, '.local/share/clawd/auth_token'), 'utf8')
  await client.call('daemon.auth', { token })
  return client
}

async function create(client: Client, params: Json = {}): Promise<{ sessionId: string; cwd: string }> {
  const cwd = rig.directory()
  const made = await client.call('session.create', { repoPath: cwd, provider: 'claude', ...params })
  return { sessionId: made['id'] as string, cwd }
}

describe('ClawDE with the real claude', { skip: claudeAbsent }, () => {
  before(async () => {
    rig = await startRig()
  })
  after(() => rig.close())

  test('a reply grows and is done; tools run without a question', async (t) => {
    const client = await connected(t)
    const { sessionId, cwd } = await create(client)
    const pushes = await client.turn(sessionId, '[[drip 12 20]]')
    const texts = pushes.flatMap(({ method, params }) =>
      method === 'session.messageUpdated' ? [params['content'] as string] : [],
    )
    assert.ok(texts.length > 2)
    assert.match(texts.at(-1)!, /^w1 .* w12$/)
    await client.turn(sessionId, '[[write made.txt hello]]')
    assert.equal(readFileSync(join(cwd, 'made.txt'), 'utf8').trim(), 'hello')
    const messages = await client.call<Json[]>('session.getMessages', { sessionId })
    assert.equal((await client.call('session.get', { sessionId }))['messageCount'], messages.length)
    assert.ok(messages.every(({ status }) => status === 'done'))
  })

  for (const [method, status, is] of [
    ['tool.approve', 'done', true],
    ['tool.reject', 'rejected', false],
  ] as const) {
    test(`a call that waits: ${method}`, async (t) => {
      const client = await connected(t)
      const { sessionId, cwd } = await create(client, { permissions: ['file_read'] })
      await client.call('session.sendMessage', { sessionId, content: '[[write made.txt hello]]' })
      await client.until(() => client.pushes.some(({ params }) => isPending(params)))
      const { pendingToolCalls } = await client.call('session.get', { sessionId })
      const [toolCallId] = pendingToolCalls as string[]
      await client.call(method, { sessionId, toolCallId })
      await client.until(() => client.pushes.at(-1)?.params['status'] === 'idle')
      assert.equal(existsSync(join(cwd, 'made.txt')), is)
      const last = client.pushes.findLast(({ params }) => params['toolCallId'] === toolCallId)
      assert.equal(last?.params['status'], status)
    })
  }

  test('paused in the middle, it goes on with the same message', async (t) => {
    const client = await connected(t)
    const { sessionId } = await create(client)
    await client.call('session.sendMessage', { sessionId, content: '[[drip 40 50]]' })
    const begun = await client.push('session.messageUpdated')
    await client.call('session.pause', { sessionId })
    assert.equal((await client.refusal('session.sendMessage', { sessionId, content: 'x' })).code, -32006)
    await client.call('session.resume', { sessionId })
    const done = await client.push('session.messageUpdated', ({ status }) => status === 'done')
    assert.equal(done['messageId'], begun['messageId'])
    assert.match(done['content'] as string, /w40$/)
  })
})

function isPending(params: Json): boolean {
  return params['status'] === 'pending' || (params['toolCall'] as Json | undefined)?.['status'] === 'pending'
}
