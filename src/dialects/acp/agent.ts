import { Readable, Writable } from 'node:stream'
import {
  agent,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  RequestError,
  type AgentApp,
  type AgentConnection,
  type AgentContext,
  type InitializeResponse,
  type ListSessionsResponse,
  type NewSessionRequest,
  type SetSessionConfigOptionResponse,
} from '@agentclientprotocol/sdk/unstable'
import { textOf } from '../../core/content.ts'
import { EXTERNAL_AGENT } from '../../core/external.ts'
import { isMode, type Mode } from '../../core/mode.ts'
import { contentOf, mcpConfigOf } from './content.ts'
import { asRequestError, invalid } from './errors.ts'
import { OpenSessions } from './open-sessions.ts'
import { configOptions, modelOf } from './options.ts'
import type { Corral, NewSession, SessionView } from './port.ts'

export interface AgentOptions {
  corral: Corral
  version: string
  input: NodeJS.ReadableStream
  output: NodeJS.WritableStream
  newKey(): string
}

const { session: on } = methods.agent
const NAME_LIMIT = 100
type Patch = Parameters<Corral['configure']>[1]

/** As long as an image that the daemon takes. */
const LINE_LIMIT = 64 * 1024 ** 2

/** Serves one editor. The connection is over when it has closed our stdin. */
export function serve({ corral, version, input, output, newKey }: AgentOptions): AgentConnection {
  const sessions = new OpenSessions(corral, newKey)
  const app = agent({ name: 'corral' })
    .onRequest(methods.agent.initialize, ({ params }) => {
      sessions.notices = params.clientCapabilities?.session?.notices != null
      return introduction(version)
    })
    .onRequest(methods.agent.authenticate, () => ({}))
  openingMethods(app, corral, sessions)
  workingMethods(app, corral, sessions)
  return app.connect(
    ndJsonStream(
      Writable.toWeb(output as Writable) as WritableStream<Uint8Array>,
      Readable.toWeb(input as Readable) as ReadableStream<Uint8Array>,
      { maxMessageBytes: LINE_LIMIT },
    ),
  )
}

/** How an editor finds a session, makes one, opens and leaves it. */
function openingMethods(app: AgentApp, corral: Corral, sessions: OpenSessions): void {
  async function openNew(client: AgentContext, session: SessionView) {
    const { opening } = await sessions.open(client, session, 'none')
    return { sessionId: session.id, ...opening }
  }

  async function openKnown(client: AgentContext, sessionId: string, past: 'tell' | 'skip') {
    return (await sessions.open(client, await corral.session(sessionId), past)).opening
  }

  app
    .onRequest(on.list, ({ params }) =>
      answering(() => list(corral, params.cwd ?? null, params.cursor ?? null)),
    )
    .onRequest(on.new, ({ params, client }) =>
      answering(async () => openNew(client, await corral.create(newSessionOf(params)))),
    )
    .onRequest(on.fork, ({ params: { sessionId }, client }) =>
      answering(async () => openNew(client, await corral.fork(sessionId)), sessionId),
    )
    .onRequest(on.load, ({ params: { sessionId }, client }) =>
      answering(() => openKnown(client, sessionId, 'tell'), sessionId),
    )
    .onRequest(on.resume, ({ params: { sessionId }, client }) =>
      answering(() => openKnown(client, sessionId, 'skip'), sessionId),
    )
    .onRequest(on.close, ({ params: { sessionId } }) => answering(() => sessions.leave(sessionId), sessionId))
    .onRequest(on.delete, ({ params: { sessionId } }) =>
      answering(async () => {
        await sessions.leave(sessionId)
        await corral.destroy(sessionId)
      }, sessionId),
    )
}

/** What is done in a session. */
function workingMethods(app: AgentApp, corral: Corral, sessions: OpenSessions): void {
  async function configure(sessionId: string, patch: Patch): Promise<SetSessionConfigOptionResponse> {
    const session = await corral.configure(sessionId, patch)
    return { configOptions: configOptions(session, await corral.models(session.agent)) }
  }

  app
    .onRequest(on.prompt, ({ params: { sessionId, prompt }, client, signal }) =>
      answering(
        async () => (await sessions.find(client, sessionId)).prompts.prompt(contentOf(prompt), signal),
        sessionId,
      ),
    )
    .onNotification(on.cancel, ({ params: { sessionId } }) =>
      answering(() => sessions.cancel(sessionId), sessionId),
    )
    .onRequest(on.setMode, ({ params: { sessionId, modeId } }) =>
      answering(async () => void (await configure(sessionId, { mode: modeOf(modeId) })), sessionId),
    )
    .onRequest(on.setConfigOption, ({ params }) =>
      answering(
        async () => configure(params.sessionId, patchOf(params.configId, params.value)),
        params.sessionId,
      ),
    )
    // How editors from before config options choose a model.
    .onRequest('session/set_model', modelParams, ({ params: { sessionId, modelId } }) =>
      answering(async () => {
        await configure(sessionId, { model: modelOf(modelId) })
        return {}
      }, sessionId),
    )
}

function introduction(version: string): InitializeResponse {
  return {
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: { name: 'corral', title: 'Corral', version },
    authMethods: [],
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, embeddedContext: true },
      mcpCapabilities: { http: true, sse: true },
      sessionCapabilities: {
        list: {},
        resume: {},
        fork: {},
        close: {},
        delete: {},
        additionalDirectories: {},
      },
    },
  }
}

async function answering<T>(work: () => Promise<T>, sessionId?: string): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw asRequestError(error, sessionId)
  }
}

/** A page of sessions. A directory is looked for page by page, until there is something to show. */
async function list(
  corral: Corral,
  cwd: string | null,
  cursor: string | null,
): Promise<ListSessionsResponse> {
  for (let at = cursor; ;) {
    const page = await corral.sessions(at)
    const found = page.sessions.filter(
      (one) => one.agent !== EXTERNAL_AGENT && (cwd === null || one.cwd === cwd),
    )
    if (found.length === 0 && page.next !== null) {
      at = page.next
      continue
    }
    const sessions = await Promise.all(found.map((session) => infoOf(corral, session)))
    return { sessions, ...(page.next !== null && { nextCursor: page.next }) }
  }
}

async function infoOf(corral: Corral, { id, cwd, title, activeAt }: SessionView) {
  const name = title ?? textOf(await corral.lastMessage(id))
  const short = name.replace(/\s+/g, ' ').trim().slice(0, NAME_LIMIT)
  return { sessionId: id, cwd, title: short || null, updatedAt: new Date(activeAt).toISOString() }
}

function newSessionOf({ cwd, mcpServers, additionalDirectories = [] }: NewSessionRequest): NewSession {
  const mcpConfig = mcpConfigOf(mcpServers)
  const settings = {
    ...(mcpConfig && { mcpConfig }),
    ...(additionalDirectories.length > 0 && { additionalDirectories }),
  }
  return { cwd, settings }
}

function modeOf(value: string): Mode {
  if (!isMode(value)) throw invalid(`there is no mode ${value}`)
  return value
}

function patchOf(configId: string, value: unknown): Patch {
  if (typeof value !== 'string') throw invalid(`${configId} is chosen by name`)
  if (configId === 'mode') return { mode: modeOf(value) }
  if (configId === 'model') return { model: modelOf(value) }
  throw invalid(`there is no option ${configId}`)
}

function modelParams(params: unknown): { sessionId: string; modelId: string } {
  const { sessionId, modelId } = (params ?? {}) as Record<string, unknown>
  if (typeof sessionId === 'string' && typeof modelId === 'string') return { sessionId, modelId }
  throw RequestError.invalidParams(undefined, 'sessionId and modelId are needed')
}
