import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { methods } from '@agentclientprotocol/sdk/unstable'
import { connect as connectNative, type NativeClient } from '../../src/client/client.ts'
import { corral } from '../cli/support.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { until } from '../support/wait.ts'
import { editorFor, newSession, type TestEditor } from './acp/support.ts'
import { dial, type Client as ClawdeClient } from './clawde/support.ts'
import * as codecast from './codecast/client.ts'
import { connect as connectHumanlayer, type Client as HumanlayerClient } from './humanlayer/support.ts'
import { demoSession, startClient, type Client as LoafClient } from './loaf/support.ts'
import { readTo, turn } from './native/support.ts'

/*
 * One daemon, all its protocols: whoever asks about a session is told the same model, mode and agent.
 */

/** What the demo agent takes by itself. */
const OWN = 'demo-script'

let daemon: TestDaemon
let native: NativeClient
let humanlayer: HumanlayerClient
let clawde: ClawdeClient
let loaf: LoafClient
let editor: TestEditor
const ends: (() => void | Promise<void>)[] = []
const lasting = { after: (end: () => void | Promise<void>) => void ends.unshift(end) }

before(async () => {
  daemon = await startDaemon({ env: { CORRAL_RELAY_AGENT: 'demo', CORRAL_DEFAULTS_MODE: 'plan' } })
  lasting.after(() => daemon.stop())
  native = await connectNative(daemon.socket)
  lasting.after(() => native.close())
  humanlayer = await connectHumanlayer(daemon.listeners['humanlayer']!)
  lasting.after(() => humanlayer.close())
  clawde = await dial(lasting, daemon.listeners['clawde']!)
  const token = readFileSync(join(daemon.home, '.local/share/clawd/auth_token'), 'utf8')
  await clawde.call('daemon.auth', { token })
  loaf = startClient(daemon)
  lasting.after(() => loaf.close())
  editor = await editorFor(lasting as unknown as TestContext, daemon)
  // Editors can choose a model when the agent has told which there are.
  await turn(native, await create(), '[[say ready]]')
})
after(async () => {
  for (const end of ends) await end()
})

const listed = (sessions: codecast.Json[], sessionId: string, key = 'id'): codecast.Json =>
  sessions.find((session) => session[key] === sessionId)!

/** The model of a session, as everybody tells it; null for what is not there. */
async function models(sessionId: string): Promise<Record<string, unknown>> {
  const list = await native.call('session.list', { limit: 100 })
  const [plain, monitored] = await Promise.all(
    ['session.list', 'monitor.sessions'].map((method) =>
      codecast.result<{ sessions: codecast.Json[] }>(daemon.codecast, method),
    ),
  )
  const state = await humanlayer.call<{ session: codecast.Json }>('getSessionState', {
    session_id: sessionId,
  })
  const leaves = await humanlayer.call<{ sessions: codecast.Json[] }>('listSessions')
  const one = await clawde.call('session.get', { sessionId })
  const all = await clawde.call<codecast.Json[] | { sessions: codecast.Json[] }>('session.list')
  const open = await loaf.call<{ sessions: codecast.Json[] }>('session.list')
  const shown = await corral(daemon.env, ['ls', '--json'])
  return {
    native: (await native.call('session.get', { sessionId })).modelInUse,
    'native list': listed(list.sessions, sessionId)['modelInUse'],
    'corral ls': shown.json().find(({ id }) => id === sessionId)!['modelInUse'],
    'codecast list': listed(plain!.sessions, sessionId, 'sessionId')['model'],
    'codecast monitor': listed(monitored!.sessions, sessionId, 'sessionId')['model'],
    humanlayer: state.session['model'] ?? null,
    'humanlayer list': listed(leaves.sessions, sessionId)['model'] ?? null,
    clawde: one['model'] ?? null,
    'clawde list': listed(Array.isArray(all) ? all : all.sessions, sessionId)['model'] ?? null,
    loaf: listed(open.sessions, sessionId)['model'],
    acp: await modelOfEditor(sessionId),
  }
}

/** The model that is chosen, or the one that this comes to where that is said beside it. */
async function modelOfEditor(sessionId: string): Promise<string | null> {
  const { configOptions } = await editor.agent.request(methods.agent.session.resume, {
    sessionId,
    cwd: daemon.project,
  })
  const option = configOptions?.find(({ id }) => id === 'model') as
    | { currentValue: string; options: { value: string; description?: string }[] }
    | undefined
  const chosen = option?.options.find(({ value }) => value === option.currentValue)
  const inUse = /^in use: (.*)$/.exec(chosen?.description ?? '')?.[1]
  return inUse ?? (option === undefined || option.currentValue === 'default' ? null : option.currentValue)
}

async function told(sessionId: string, model: string | null, when: string): Promise<void> {
  const said = await models(sessionId)
  assert.deepEqual(said, Object.fromEntries(Object.keys(said).map((who) => [who, model])), when)
}

const create = async (model?: string): Promise<string> => {
  const wish = { agent: 'demo', cwd: daemon.project, mode: 'auto' as const }
  return (await native.call('session.create', { ...wish, ...(model !== undefined && { model }) })).id
}

const configure = (sessionId: string, patch: { model?: string | null; mode?: 'plan' | 'auto' }) =>
  native.call('session.configure', { sessionId, ...patch })

test('clients of other products begin as in those products, whatever `defaults.mode` says', async () => {
  const { project } = daemon
  assert.equal((await native.call('session.defaults', {})).mode, 'plan')
  const launched = await humanlayer.call<{ session_id: string }>('launchSession', {
    query: '[[say hello]]',
    agent: 'demo',
    working_dir: project,
  })
  const begun = await clawde.call<{ id: string }>('session.create', { provider: 'demo', repoPath: project })
  const ids = {
    codecast: await codecast.create(daemon.codecast, project),
    humanlayer: launched.session_id,
    clawde: begun.id,
    loaf: await demoSession(loaf),
    editor: await newSession(editor, daemon),
  }
  const modes = Object.entries(ids).map(async ([client, sessionId]) => {
    const { mode } = await native.call('session.get', { sessionId })
    return [client, mode] as const
  })
  assert.deepEqual(Object.fromEntries(await Promise.all(modes)), {
    codecast: 'auto',
    humanlayer: 'ask',
    clawde: 'auto',
    loaf: 'auto',
    editor: 'auto',
  })
})

test('nobody has chosen: nothing before the agent has said what it uses, then that', async () => {
  const id = await create()
  await told(id, null, 'before the first turn')
  await turn(native, id, '[[say hello]]')
  await told(id, OWN, 'after it')
  const saved = await loaf.call<{ sessions: codecast.Json[] }>('history.list')
  assert.equal(listed(saved.sessions, id)['model'], OWN)
  const stream = await codecast.send(daemon.codecast, id, '[[say again]]')
  const init = (await stream.rest()).find(({ subtype }) => subtype === 'init')
  assert.ok(init === undefined || init['model'] === OWN)
})

test('a choice is told at once, before and after the agent has heard of it, until it is taken back', async () => {
  const id = await create('first')
  await told(id, 'first', 'before the first turn')
  await turn(native, id, '[[say hello]]')
  await told(id, 'first', 'after it')
  await configure(id, { model: 'second' })
  await told(id, 'second', 'chosen while it rests')
  await turn(native, id, '[[say hello]]')
  await told(id, 'second', 'after a turn with it')
  await configure(id, { model: null })
  await told(id, null, 'given back to the agent')
  await turn(native, id, '[[say hello]]')
  await told(id, OWN, 'and said by it')
})

test('a choice in the middle of a turn: the session has the new one, the turn the old one', async () => {
  const id = await create('first')
  const { turnId, seq } = await native.call('session.send', { sessionId: id, content: '[[hang]]' })
  await readTo(native.events({ sessionId: id, after: seq }), 'agent.init')
  await configure(id, { model: 'second' })
  await told(id, 'second', 'while a turn runs that began with the first')
  const { turn: running } = await native.call('session.get', { sessionId: id })
  assert.deepEqual([running?.mode, running?.model], ['auto', 'first'])
  await native.call('session.interrupt', { sessionId: id })
  await readTo(native.events({ sessionId: id, after: seq }), 'turn.interrupted')
  await told(id, 'second', 'when it is over')
  assert.equal((await native.call('turn.get', { turnId })).model, 'first')
})

test('an agent that falls back on another model says so, and everybody tells it', async () => {
  const id = await create('best')
  await turn(native, id, '[[fallback next-best]] [[say hello]]')
  await told(id, 'next-best', 'after the fallback')
  await turn(native, id, '[[say hello]]')
  await told(id, 'best', 'when the chosen one is there again')
  const { turns } = await native.call('turn.list', { sessionId: id, limit: 2 })
  assert.deepEqual(
    turns.map(({ model }) => model),
    ['best', 'next-best'],
  )
})

test('beside the model in use, those who can tell what was chosen', async () => {
  const id = await create('best')
  await turn(native, id, '[[fallback next-best]] [[say hello]]')
  assert.equal((await native.call('session.get', { sessionId: id })).model, 'best')
  assert.equal((await clawde.call('session.get', { sessionId: id }))['modelOverride'], 'best')
  const { session } = await humanlayer.call<{ session: codecast.Json }>('getSessionState', { session_id: id })
  assert.equal(session['model_id'], 'next-best')
})

test('what the relay asks for is the model of its session', async () => {
  const body = {
    model: 'relayed',
    max_tokens: 100,
    messages: [{ role: 'user', content: '[[say hello]]' }],
  }
  const answer = await fetch(`${daemon.listeners['relay']}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-ir-session-id': 'alike', connection: 'close' },
    body: JSON.stringify(body),
  })
  assert.equal(((await answer.json()) as codecast.Json)['model'], 'relayed')
  const { sessions } = await native.call('session.list', { limit: 100 })
  await told(sessions.find(({ title }) => title === 'relay: alike')!.id, 'relayed', 'through the relay')
})

test('an editor hears of the model that the agent names while it looks on', async () => {
  const id = await create()
  await modelOfEditor(id)
  const from = editor.updates.length
  await turn(native, id, '[[say hello]]')
  const update = await until(
    () => editor.updates.slice(from).find(({ sessionUpdate }) => sessionUpdate === 'config_option_update'),
    'the update',
  )
  assert.match(JSON.stringify(update), new RegExp(`in use: ${OWN}`))
})

test('a turn keeps the agent, the mode and the model that it ran with, wherever it is shown', async () => {
  const id = await create('first')
  await turn(native, id, '[[say one]]')
  await configure(id, { model: 'second', mode: 'plan' })
  await turn(native, id, '[[say two]]')
  const { turns } = await native.call('turn.list', { sessionId: id })
  const ran = turns.map(({ agent, mode, model }) => [agent, mode, model])
  assert.deepEqual(ran, [
    ['demo', 'plan', 'second'],
    ['demo', 'auto', 'first'],
  ])
  const { items } = await native.call('history.read', { sessionId: id })
  assert.deepEqual(
    items.flatMap((item) => (item.kind === 'user' ? [[item.mode, item.model]] : [])),
    [
      ['auto', 'first'],
      ['plan', 'second'],
    ],
  )
  const { stdout: history } = await corral(daemon.env, ['history', id])
  assert.match(history, /one\n[^]*-- now plan, second\n[^]*two\n/)
  const { stdout: document } = await corral(daemon.env, ['export', id])
  assert.match(document, /- Agent: demo \(second\)\n/)
  assert.match(
    document,
    /<sub>\S+ · auto · first<\/sub>[^]*\*From now on: plan, second\*[^]*<sub>\S+ · plan · second<\/sub>/,
  )
})

test('what waits has no model yet; a mode that changes in the middle of a turn is that of the turn', async () => {
  const id = await create('first')
  const { turnId, seq } = await native.call('session.send', { sessionId: id, content: '[[hang]]' })
  const waiting = await native.call('session.send', { sessionId: id, content: '[[say late]]' })
  await readTo(native.events({ sessionId: id, after: seq }), 'agent.init')
  const queued = await native.call('turn.get', { turnId: waiting.turnId })
  assert.deepEqual([queued.agent, queued.mode, queued.model], [null, null, null])
  await configure(id, { mode: 'plan', model: 'second' })
  const { turn: running } = await native.call('session.get', { sessionId: id })
  assert.deepEqual([running?.mode, running?.model], ['plan', 'first'])
  await native.call('session.interrupt', { sessionId: id })
  await readTo(native.events({ sessionId: id, after: waiting.seq }), 'turn.completed')
  const shown = await Promise.all(
    [turnId, waiting.turnId].map((one) => native.call('turn.get', { turnId: one })),
  )
  assert.deepEqual(
    shown.map(({ mode, model }) => [mode, model]),
    [
      ['plan', 'first'],
      ['plan', 'second'],
    ],
  )
})
