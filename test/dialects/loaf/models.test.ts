import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { clientFor as nativeFor } from '../native/support.ts'
import { clientFor, turn, type Client } from './support.ts'

const AGENT = join(import.meta.dirname, '../../support/acp-agent.ts')

let daemon: TestDaemon
let bin: string

before(async () => {
  bin = mkdtempSync(join(tmpdir(), 'corral-agents-'))
  daemon = await startDaemon({
    env: {
      CORRAL_GEMINI_BIN: program('gemini', '--models'),
      CORRAL_OPENCODE_BIN: program('opencode', '--model-options'),
    },
  })
})

after(async () => {
  await daemon.stop()
  rmSync(bin, { recursive: true, force: true })
})

/** An agent that is none, and has two models to choose from. */
function program(name: string, option: string): string {
  const path = join(bin, name)
  const script = `#!/bin/sh\n[ "$1" = --version ] && echo 1.2.3 && exit\nexec "${process.execPath}" "${AGENT}" ${option}\n`
  writeFileSync(path, script, { mode: 0o755 })
  return path
}

interface Model {
  id: string
  label: string
}

async function models(client: Client, provider: string): Promise<Model[]> {
  const { models } = await client.call<{ models: Model[] }>('model.list', { provider })
  return models.map(({ id, label }) => ({ id, label }))
}

async function used(client: Client, provider: string, model_id: string): Promise<string> {
  await client.call('model.select', { model_id, provider, thinking_level: 'HIGH' })
  const { session_id } = await client.call<{ session_id: string }>('session.create')
  await turn(client, session_id, '"hello"')
  return session_id
}

test('an agent that has never run is asked for its models', async (t) => {
  const listed = await clientFor(t, daemon).call<{ models: object[] }>('model.list', { provider: 'demo' })
  assert.partialDeepStrictEqual(listed.models[1], { id: 'demo', defaultThinkingLevel: 'MEDIUM' })
})

test('what an agent has told about its models takes the place of what is known', async (t) => {
  const client = clientFor(t, daemon)
  const before = await models(client, 'antigravity')
  assert.ok(before.some(({ id }) => id === 'gemini-2.5-pro'))
  await used(client, 'antigravity', 'default')
  assert.deepEqual(await models(client, 'antigravity'), [
    { id: 'default', label: 'Default' },
    { id: 'openrouter/author/slug', label: 'OPENROUTER/AUTHOR/SLUG' },
    { id: 'house/small', label: 'HOUSE/SMALL' },
  ])
})

test("OpenCode's models are named as OpenRouter names them, and those from elsewhere reach it as they are", async (t) => {
  const client = clientFor(t, daemon)
  await used(client, 'openrouter', 'default')
  const listed = await models(client, 'openrouter')
  assert.deepEqual(
    listed.map(({ id }) => id),
    ['default', 'author/slug', 'opencode:house/small'],
  )
  const native = await nativeFor(t, daemon)
  for (const [id, name] of [
    ['author/slug', 'openrouter/author/slug'],
    ['opencode:house/small', 'house/small'],
  ] as const) {
    const sessionId = await used(client, 'openrouter', id)
    assert.equal((await native.call('session.get', { sessionId })).model, name)
  }
  assert.deepEqual(await models(client, 'openrouter'), listed)
  const answer = await client.call('auth.set.openrouter_key', { api_key: 'sk-or' })
  assert.deepEqual(answer, { configured: true, model_count: 3, source: 'cache' })
  await native.call('signin.forget', { name: 'openrouter' })
})

const ASKED = '[[effort]]'

/** What the demo agent says about how long it is to think. */
async function effortIn(client: Client, sessionId: string): Promise<string> {
  const { lines } = await turn(client, sessionId, ASKED)
  const messages = lines.flatMap(({ params }) =>
    params?.type === 'session.message.appended' ? [params.payload.message] : [],
  )
  return messages.find(({ kind }) => kind === 'assistant')!.text
}

function chosen(thinking_level: string, session_id?: string) {
  return { model_id: 'demo', provider: 'demo', thinking_level, ...(session_id && { session_id }) }
}

test('the level that is chosen reaches the agent, and what the agent says of its levels reaches the list', async (t) => {
  const client = clientFor(t, daemon)
  await client.call('model.select', chosen('LOW'))
  const made = () => client.call<{ session_id: string }>('session.create')
  const [{ session_id: one }, { session_id: other }] = [await made(), await made()]
  assert.equal(await effortIn(client, one), 'effort: low')

  const { models: listed } = await clientFor(t, daemon).call<{ models: object[] }>('model.list', {
    provider: 'demo',
  })
  assert.deepEqual(listed[1], {
    id: 'demo',
    provider: 'demo',
    label: 'Demo',
    description: 'obeys the script in the prompt',
    supportedThinkingLevels: ['OFF', 'LOW', 'MEDIUM', 'HIGH'],
    defaultThinkingLevel: 'MEDIUM',
    contextWindowTokens: 100_000,
  })

  await client.call('model.select', chosen('OFF', other))
  await client.call('model.select', chosen('HIGH'))
  assert.equal(await effortIn(client, one), 'effort: high', 'in the same session, from the next message on')
  assert.equal(await effortIn(client, other), 'effort: off', 'a choice of its own stays')
  for (const unknown of ['TURBO', 'XHIGH']) {
    const { selected_thinking } = await client.call('model.select', chosen(unknown))
    assert.equal(selected_thinking, 'MEDIUM')
  }
  assert.equal(await effortIn(client, one), 'effort: medium')
})

test('an agent that cannot be told how long to think is not told, and works all the same', async (t) => {
  const client = clientFor(t, daemon)
  const native = await nativeFor(t, daemon)
  const sessionId = await used(client, 'antigravity', 'default')
  assert.equal((await native.call('session.get', { sessionId })).effort, null)
})
