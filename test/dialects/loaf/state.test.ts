import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { connect, type NativeClient } from '../../../src/client/client.ts'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { clientFor, DEMO, demoSession, startClient, turn, type Client } from './support.ts'

let daemon: TestDaemon
let native: NativeClient
let client: Client

before(async () => {
  // No agent is to be found but the demo agent.
  const names = ['CLAUDE', 'CODEX', 'GEMINI', 'OPENCODE']
  const env = Object.fromEntries(names.map((name) => [`CORRAL_${name}_BIN`, '/nowhere']))
  daemon = await startDaemon({ env })
  native = await connect(daemon.socket)
  client = startClient(daemon)
})

after(async () => {
  await client.close()
  native.close()
  await daemon.stop()
})

/** Where skills are looked for, of a project and of the user. */
const skillPlaces = (project: string): string[] => [
  join(project, '.agents/skills'),
  join(daemon.home, '.loaf/skills'),
  join(daemon.home, '.agents/skills'),
]

interface ModelList {
  providers: string[]
  models: { id: string; provider: string; label: string; description: string }[]
  selected_model: string
  selected_thinking: string
  selected_provider: string | null
  selected_openrouter_provider: string
}

describe('the state', () => {
  test('at the start: nothing is chosen, nothing is open', async (t) => {
    const fresh = clientFor(t, daemon)
    assert.deepEqual(await fresh.call('state.get'), {
      auth: {
        enabledProviders: ['demo'],
        hasOpenAiToken: false,
        hasOpenRouterKey: false,
        hasAntigravityToken: false,
        hasAnthropicKey: false,
        antigravityProfile: null,
      },
      onboarding: { completed: false },
      model: {
        selectedModel: '',
        selectedThinking: 'HIGH',
        selectedOpenRouterProvider: 'any',
        selectedProvider: null,
      },
      sessions: { count: 0, ids: [] },
      skills: { count: 0, directories: skillPlaces(daemon.project) },
    })
    assert.deepEqual(await fresh.call('auth.status'), {
      enabled_providers: ['demo'],
      has_openai_token: false,
      has_openrouter_key: false,
      has_antigravity_token: false,
      has_anthropic_key: false,
      antigravity_profile: null,
    })
  })

  test('changes with a new session, whose title is kept', async () => {
    const from = client.lines.length
    const sessionId = await demoSession(client, 'My Session')
    const { payload } = await client.event('state.changed', (it) => it.reason === 'session_created', from)
    assert.equal(payload.session_id, sessionId)
    const { sessions } = await client.call<{ sessions: { ids: string[] } }>('state.get')
    assert.ok(sessions.ids.includes(sessionId))
    const session = await native.call('session.get', { sessionId })
    assert.deepEqual(
      [session.title, session.agent, session.mode, session.origin, session.cwd],
      ['My Session', 'demo', 'auto', 'loaf', daemon.project],
    )
    const { sessions: listed } = await client.call<{ sessions: { id: string; title: string }[] }>(
      'session.list',
    )
    assert.equal(listed.find(({ id }) => id === sessionId)!.title, 'My Session')
  })

  test('of a new session has all its fields', async () => {
    const { session_id, state } = await client.call<{ session_id: string; state: object }>('session.create')
    assert.deepEqual(Object.keys(state), [
      'id',
      'createdAt',
      'updatedAt',
      'pending',
      'statusLabel',
      'messages',
      'history',
      'queue',
      'pendingSteerCount',
      'conversationProvider',
      'activeSessionId',
      'contextTokenEstimate',
      'contextTokenSource',
      'contextTokenProvider',
      'contextTokenBreakdown',
    ])
    assert.deepEqual(await client.call('session.get', { session_id }), state)
  })

  test('keeps that the first steps are done', async (t) => {
    const done = await client.call('onboarding.complete')
    assert.deepEqual(done, { completed: true })
    await client.event('state.changed', (it) => it.reason === 'onboarding_complete')
    const next = clientFor(t, daemon)
    assert.deepEqual(await next.call('onboarding.status'), { completed: true })
  })
})

describe('models', () => {
  test('of the demo agent where there is no other, of every provider on request', async () => {
    const { providers, models } = await client.call<ModelList>('model.list')
    assert.deepEqual(providers, ['demo'])
    assert.ok(models.some(({ id, provider }) => id === 'demo' && provider === 'demo'))
    for (const provider of ['openai', 'openrouter', 'antigravity', 'anthropic', 'demo']) {
      const list = await client.call<ModelList>('model.list', { provider })
      assert.deepEqual(list.providers, [provider])
      assert.ok(list.models.length > 1)
      assert.ok(list.models.every((model) => model.provider === provider && model.label && model.description))
    }
  })

  test('are chosen for the process; an unknown level becomes the usual one', async (t) => {
    const own = clientFor(t, daemon)
    const wish = { model_id: 'opus', provider: 'anthropic', thinking_level: 'enormous' }
    assert.deepEqual(await own.call('model.select', wish), {
      selected_model: 'opus',
      selected_provider: 'anthropic',
      selected_thinking: 'HIGH',
      selected_openrouter_provider: 'any',
    })
    await own.event('state.changed', (it) => it.reason === 'model_selected')
    const level = await own.call('model.select', { ...wish, thinking_level: 'xhigh' })
    assert.equal(level['selected_thinking'], 'XHIGH')
    const { selected_model, selected_provider } = await own.call<ModelList>('model.list')
    assert.deepEqual([selected_model, selected_provider], ['opus', 'anthropic'])
  })

  test('that nobody knows are refused', async () => {
    const { code, message } = await client.fails('model.select', { ...DEMO, model_id: 'gpt-0' })
    assert.deepEqual([code, message], [-32603, 'unknown model for provider demo: gpt-0'])
    const needs = await client.fails('model.select', { ...DEMO, compress_immediately: true })
    assert.equal(needs.message, 'session_id is required when compress_immediately is true')
  })

  test('are chosen for one session, and the session gets them', async () => {
    const sessionId = await demoSession(client)
    const other = await demoSession(client)
    await client.call('model.select', { ...DEMO, model_id: 'default', session_id: sessionId })
    await turn(client, sessionId, 'hello')
    await turn(client, other, 'hello')
    assert.equal((await native.call('session.get', { sessionId })).model, null)
    assert.equal((await native.call('session.get', { sessionId: other })).model, 'demo')
    assert.equal((await client.call<ModelList>('model.list')).selected_model, 'demo')
  })

  test('with compress_immediately have the conversation summed up, once there is one', async () => {
    const session_id = await demoSession(client)
    const select = async () => {
      const wish = { ...DEMO, session_id, compress_immediately: true }
      return (await client.call<{ compression: object }>('model.select', wish)).compression
    }
    const known = { requested: true, model_context_window: 100_000, target_limit: null }
    assert.deepEqual(await select(), {
      ...known,
      applied: false,
      reason: 'none',
      estimated_tokens_before: 0,
      estimated_tokens_after: 0,
      anchor_event_index_before: 0,
      anchor_event_index_after: 0,
      message: 'nothing has been said yet',
    })
    await turn(client, session_id, '[[words 40]]')
    assert.deepEqual(await select(), {
      ...known,
      applied: true,
      reason: 'auto',
      estimated_tokens_before: 41,
      estimated_tokens_after: 3,
      anchor_event_index_before: 0,
      anchor_event_index_after: 2,
    })
  })

  test('of another agent do not move a session that has one', async (t) => {
    const own = clientFor(t, daemon)
    const sessionId = await demoSession(own)
    await turn(own, sessionId, 'one')
    await own.call('model.select', { model_id: 'opus', provider: 'anthropic', thinking_level: 'LOW' })
    await turn(own, sessionId, 'two')
    await turn(own, sessionId, 'three')
    const { messages } = await own.state(sessionId)
    const remarks = messages.filter(({ kind }) => kind === 'system')
    assert.deepEqual(
      remarks.map(({ text }) => text),
      ['this session stays with demo; new sessions use anthropic.'],
    )
  })

  test('whose agent is missing fail when they are used', async (t) => {
    const own = clientFor(t, daemon)
    await own.call('model.select', { model_id: 'opus', provider: 'anthropic', thinking_level: 'LOW' })
    const { session_id } = await own.call<{ session_id: string }>('session.create')
    await own.call('session.send', { session_id, text: 'hello' })
    const { payload } = await own.event('session.error')
    assert.match(payload.message, /claude/i)
    assert.equal(payload['kind'], 'agent_missing')
  })

  test('of OpenRouter have no list of who serves them', async () => {
    const answer = await client.call('model.openrouter.providers', { model_id: 'author/slug' })
    assert.deepEqual(answer, { model_id: 'author/slug', providers: [] })
  })
})

describe('skills and tools', () => {
  test('are found in the repository and at home', async (t) => {
    mkdirSync(join(daemon.project, '.git'), { recursive: true })
    const skill = (root: string, name: string, text: string): void => {
      mkdirSync(join(root, name), { recursive: true })
      writeFileSync(join(root, name, 'SKILL.md'), text)
    }
    const top = join(daemon.project, '.agents/skills')
    skill(top, 'review', '---\nname: other\ndescription: "Looks at changes"\n---\n# Review\n')
    skill(join(top, 'a/b/c/d/e'), 'deep', '# Deep\n\nSix down.\n')
    skill(join(top, 'a/b/c/d/e/f'), 'deeper', 'too deep')
    const home = join(daemon.home, '.agents/skills')
    skill(home, 'write', `${'long '.repeat(50)}\n`)
    skill(join(daemon.home, '.loaf/skills'), 'loaf', 'from loaf')
    const inner = join(daemon.project, 'inner')
    mkdirSync(inner)
    const own = clientFor(t, { env: daemon.env, project: inner })
    const { directories, errors, skills } = await own.call<{
      directories: string[]
      errors: string[]
      skills: { name: string; description: string; description_preview: string; source_path: string }[]
    }>('skills.list')
    assert.deepEqual(directories, [top, ...skillPlaces(inner)], 'also those that are not there')
    assert.deepEqual(errors, [])
    assert.deepEqual(
      skills.map(({ name }) => name),
      ['deep', 'loaf', 'review', 'write'],
    )
    assert.deepEqual(skills[2], {
      name: 'review',
      description: 'Looks at changes',
      description_preview: 'Looks at changes',
      source_path: join(top, 'review/SKILL.md'),
    })
    assert.ok(skills[3]!.description_preview.length <= 100)
  })

  test('are none where the agent does not tell', async () => {
    assert.deepEqual(await client.call('tools.list'), { tools: [] })
  })
})
