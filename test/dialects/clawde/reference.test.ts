import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CODES } from '../../../src/dialects/clawde/errors.ts'
import { METHODS } from '../../../src/dialects/clawde/methods.ts'
import { PUSHES } from '../../../src/dialects/clawde/pushes.ts'
import { aPlace } from '../../workspace/support.ts'
import { rigFor, type Client, type Json, type Rig } from './support.ts'

/*
 * The tables of the protocol's reference, in the words of either half of it: what is sent as it stands there is answered
 * with what stands there.
 */

type Facts = Record<string, unknown>
/** The name of a method, what it is sent, and the fields of its answer, dotted where they are nested. */
type Line = [method: string, params: (facts: Facts) => Json, fields: string]

const none = (): Json => ({})
const session = ({ sessionId }: Facts): Json => ({ sessionId })

const FIRST_HALF: Line[] = [
  ['daemon.ping', none, 'pong'],
  ['daemon.status', none, 'version uptimeSecs activeSessions port daemonId'],
  ['daemon.checkUpdate', none, 'current latest available update_available'],
  ['daemon.applyUpdate', none, 'applied message'],
  ['repo.open', ({ repo }) => ({ path: repo }), 'path branch remotes isClean'],
  [
    'repo.status',
    ({ repo }) => ({ path: repo }),
    'repoPath branch ahead behind files hasConflicts lastUpdated',
  ],
  ['repo.diff', ({ repo }) => ({ path: repo, staged: false }), ''],
  ['repo.fileDiff', ({ repo }) => ({ path: repo, file: 'a.txt' }), ''],
  ['repo.close', ({ repo }) => ({ path: repo }), 'closed'],
  ['session.list', none, ''],
  ['session.get', session, 'id repoPath provider status messageCount createdAt'],
  [
    'session.sendMessage',
    (facts) => ({ ...session(facts), content: '[[drip 2 1]]' }),
    'id sessionId role content status createdAt',
  ],
  ['session.getMessages', (facts) => ({ ...session(facts), limit: 50 }), ''],
  ['session.pause', session, 'id status'],
  ['session.resume', session, 'id status'],
  ['session.cancel', session, 'id status'],
  [
    'system.resources',
    none,
    'ram.totalBytes ram.usedBytes ram.daemonBytes ram.usedPercent sessions.active sessions.warm sessions.cold',
  ],
  [
    'system.resourceHistory',
    () => ({ limit: 60 }),
    'count history.0.timestamp history.0.totalRamBytes history.0.usedRamBytes history.0.daemonRamBytes ' +
      'history.0.activeSessions history.0.warmSessions history.0.coldSessions history.0.poolWorkers ' +
      'history.0.contextCompressions',
  ],
  ['project.create', ({ repo }) => ({ name: 'MyApp', repoPaths: [repo] }), 'id name repoPaths createdAt'],
  ['project.list', none, '0.id'],
  ['project.get', ({ project }) => ({ projectId: project }), 'id name repoPaths'],
  ['project.update', ({ project }) => ({ projectId: project, name: 'Renamed' }), 'id name'],
  [
    'project.addRepo',
    ({ project, other }) => ({ projectId: project, repoPath: other }),
    'projectId repoPath',
  ],
  ['project.removeRepo', ({ project, other }) => ({ projectId: project, repoPath: other }), 'removed'],
  ['project.delete', ({ project }) => ({ projectId: project }), 'deleted id'],
  ['daemon.pairPin', none, 'pin expiresAt qrPayload'],
  ['device.pair', ({ pin }) => ({ pin }), 'deviceToken deviceId expiresAt'],
  ['device.list', none, '0.id'],
  ['device.rename', ({ device }) => ({ deviceId: device, name: 'Mine' }), 'ok'],
  ['device.revoke', ({ device }) => ({ deviceId: device }), 'revoked'],
  ['daemon.doctor', none, 'checks.7.name checks.7.status checks.7.message overallStatus'],
  ['daemon.checkProvider', () => ({ provider: 'claude' }), 'provider available version authenticated error'],
  ['daemon.setName', () => ({ name: 'Mac Mini' }), 'ok name'],
  ['session.delete', session, 'deleted id'],
]

const SECOND_HALF: Line[] = [
  [
    'project.create',
    ({ root }) => ({ name: 'B', root_path: root, description: 'd', org_slug: 'o' }),
    'id name root_path description org_slug created_at updated_at last_active_at',
  ],
  [
    'project.addRepo',
    ({ project, other }) => ({ project_id: project, repo_path: other }),
    'project_id repo_path added_at last_opened_at',
  ],
  ['project.get', ({ project }) => ({ id: project }), 'id name project.root_path repos.0.repo_path'],
  [
    'project.update',
    ({ project }) => ({ id: project, name: 'C', description: 'e', org_slug: 'p' }),
    'id name description org_slug',
  ],
  ['project.removeRepo', ({ project, other }) => ({ project_id: project, repo_path: other }), 'removed'],
  ['project.delete', ({ project }) => ({ id: project }), 'deleted'],
  ['daemon.pairPin', none, 'pin expires_in_seconds daemon_id relay_url host_name'],
  [
    'device.pair',
    ({ pin }) => ({ pin, name: 'Phone', platform: 'android' }),
    'device_id device_token host_name daemon_id relay_url',
  ],
  ['device.rename', ({ device }) => ({ id: device, name: 'Mine' }), 'ok'],
  ['device.revoke', ({ device }) => ({ id: device }), 'revoked'],
  ['daemon.checkProvider', () => ({ provider: 'codex' }), 'installed authenticated version path'],
]

/** What each push carries. Corral has no relay that it could tell of. */
const TOLD: Record<string, string> = {
  'daemon.ready': 'version port',
  'session.statusChanged': 'sessionId status',
  'session.messageCreated': 'sessionId message.id message.status message.content',
  'session.messageUpdated': 'sessionId messageId content status',
  'session.toolCallCreated': 'sessionId toolCall.name toolCall.input',
  'session.toolCallUpdated': 'sessionId toolCallId status',
  'project.created': 'project.id',
  'project.updated': 'project.id',
  'project.deleted': 'project_id',
  'project.repoAdded': 'project_id repo.repo_path',
  'project.repoRemoved': 'project_id repo_path',
  'device.paired': 'device_id name platform',
  'device.revoked': 'device_id',
}
const ABSENT = ['relay.connected', 'relay.disconnected']

const REFERENCE_CODES = [
  -32700, -32600, -32601, -32602, -32603, -32001, -32002, -32003, -32004, -32005, -32006, -32007, -32020,
  -32021, -32022, -32023, -32024,
]

function has(value: unknown, fields: string, what: string): void {
  for (const field of fields.split(' ').filter(Boolean)) {
    let at: unknown = value
    for (const key of field.split('.')) {
      assert.ok(typeof at === 'object' && at !== null && key in at, `${what} has no ${field}`)
      at = (at as Json)[key]
    }
  }
}

/** What later lines need of earlier answers. */
function remember(facts: Facts, method: string, answer: Json): void {
  if (method === 'project.create') facts['project'] = answer['id']
  if (method === 'daemon.pairPin') facts['pin'] = answer['pin']
  if (method === 'device.pair') facts['device'] = answer['deviceId']
}

async function goThrough(lines: readonly Line[], facts: Facts, client: Client): Promise<void> {
  for (const [method, params, fields] of lines) {
    const answer = await client.call(method, params(facts))
    has(answer, fields, method)
    remember(facts, method, answer)
    if (method === 'session.sendMessage') {
      const said = (): boolean => client.pushes.some(({ params: told }) => told['status'] === 'done')
      await client.until(() => said() && client.pushes.at(-1)?.params['status'] === 'idle')
    }
  }
}

async function everything(rig: Rig, client: Client, facts: Facts): Promise<void> {
  await client.call('events.subscribe', {})
  await goThrough(FIRST_HALF, facts, client)
  await goThrough(SECOND_HALF, facts, client)
  const sessionId = await rig.session(client)
  await client.turn(sessionId, '[[write made.txt hello]]')
}

test('what stands in the reference is answered, and told, as it stands there', async (t) => {
  const place = aPlace()
  t.after(() => place.close())
  const rig = await rigFor(t)
  const client = await rig.client()
  const facts: Facts = {
    root: place.root,
    repo: place.repo('one').path,
    other: place.repo('two').path,
    sessionId: await rig.session(client, { repoPath: place.root }),
  }
  await everything(rig, client, facts)
  for (const [method, fields] of Object.entries(TOLD)) has(await client.push(method), fields, method)
  assert.deepEqual(
    client.pushes.filter(({ method }) => ABSENT.includes(method)),
    [],
  )
  const paired = await client.call('daemon.pairPin')
  assert.deepEqual([paired['relayUrl'], paired['relay_url']], ['', ''])
})

test('nothing of the reference is forgotten', () => {
  const methods = new Set([...FIRST_HALF, ...SECOND_HALF].map(([name]) => name))
  for (const own of ['daemon.auth', 'session.create', 'tool.approve', 'tool.reject']) methods.add(own)
  const known = METHODS.map(({ name }) => name)
  assert.deepEqual(
    [...methods].filter((name) => !known.includes(name)),
    [],
  )
  assert.equal(methods.size, 38)
  const updates = ['daemon.updating', 'daemon.updateAvailable', 'daemon.updateFailed', 'repo.statusChanged']
  for (const push of [...Object.keys(TOLD), ...updates]) assert.ok(push in PUSHES, push)
  for (const push of ABSENT) assert.ok(!(push in PUSHES), push)
  const codes: readonly number[] = Object.values(CODES)
  assert.deepEqual(
    REFERENCE_CODES.filter((code) => !codes.includes(code)),
    [],
  )
})

test('a turn that the provider’s limit ends says so with the code of the reference', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  const sessionId = await rig.session(client)
  const { params } = (await client.turn(sessionId, '[[fail 429]]')).at(-1)!
  assert.equal(params['reason'], 'RATE_LIMITED')
  assert.equal((params['error'] as Json)['rpcCode'], CODES.rateLimited)
})
