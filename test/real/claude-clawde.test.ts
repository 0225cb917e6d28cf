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
      const { toolCall } = (await client.push('session.toolCallCreated')) as { toolCall: Json }
      assert.equal(toolCall['status'], 'pending')
      const toolCallId = toolCall['id']
      await client.call(method, { sessionId, toolCallId })
      await client.until(() => client.pushes.at(-1)?.params['status'] === 'idle')
      assert.equal(existsSync(join(cwd, 'made.txt')), is)
      const last = client.pushes.findLast(({ params }) => params['toolCallId'] === toolCallId)
      assert.equal(last?.params['status'], status)
    })
  }

  test('of two calls at once each begins as pending, and can be answered the moment it is told', async (t) => {
    const client = await connected(t)
    const { sessionId, cwd } = await create(client, { permissions: ['file_read'] })
    const created = (): Json[] =>
      client.pushes.flatMap(({ method, params }) =>
        method === 'session.toolCallCreated' ? [params['toolCall'] as Json] : [],
      )
    const writes = ['a.txt', 'b.txt'].map((name) => {
      const input = JSON.stringify({ file_path: join(cwd, name), content: name })
      return `Write ${Buffer.from(input).toString('base64')}`
    })
    await client.call('session.sendMessage', { sessionId, content: `[[call ${writes.join(' ')}]]` })
    for (let n = 0; n < 2; n++) {
      await client.until(() => created().length > n)
      assert.equal(created()[n]!['status'], 'pending')
      await client.call('tool.approve', { sessionId, toolCallId: created()[n]!['id'] })
    }
    await client.until(() => client.pushes.at(-1)?.params['status'] === 'idle')
    for (const name of ['a.txt', 'b.txt']) assert.ok(existsSync(join(cwd, name)))
  })

  test('cancelled, it is at rest when that is answered', async (t) => {
    const client = await connected(t)
    const { sessionId } = await create(client)
    await client.call('session.sendMessage', { sessionId, content: '[[drip 400 50]]' })
    await client.push('session.messageUpdated')
    assert.equal((await client.call('session.cancel', { sessionId }))['status'], 'idle')
  })

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
