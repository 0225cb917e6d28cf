import { Readable, Writable } from 'node:stream'
import {
  agent,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  RequestError,
  type AgentConnection,
  type AgentContext,
  type InitializeResponse,
  type ListSessionsResponse,
  type RequestPermissionRequest,
  type SetSessionConfigOptionResponse,
} from '@agentclientprotocol/sdk/unstable'
import { textOf } from '../../core/content.ts'
import { EXTERNAL_AGENT } from '../../core/external.ts'
import { isMode, type Mode } from '../../core/mode.ts'
import { contentOf, mcpConfigOf } from './content.ts'
import { asRequestError, invalid } from './errors.ts'
import { configOptions, modelOf, openingOf } from './options.ts'
import type { Corral, SessionView } from './port.ts'
import { createPrompts } from './prompts.ts'
import { openRoom, type Editor, type Room } from './room.ts'
import { TYPES } from './updates.ts'

export interface AgentOptions {
  corral: Corral
  version: string
  input: NodeJS.ReadableStream
  output: NodeJS.WritableStream
  newKey(): string
}

const NAME_LIMIT = 100
/** As long as an image that the daemon takes. */
const LINE_LIMIT = 64 * 1024 ** 2

/** Serves one editor. The connection is over when it has closed our stdin. */
export function serve({ corral, version, input, output, newKey }: AgentOptions): AgentConnection {
  const rooms = new Map<string, Room>()
  let notices = false

  function editorOf(client: AgentContext, sessionId: string): Editor {
    return {
      notices,
      update: (update) => client.notify(methods.client.session.update, { sessionId, update }),
      async ask(request, cancellationSignal) {
        const options = { cancellationSignal, stopWaitingOnCancel: true }
        const params: RequestPermissionRequest = { sessionId, ...request }
        return (await client.request(methods.client.session.requestPermission, params, options)).outcome
      },
    }
  }

  async function open(client: AgentContext, session: SessionView, past: 'tell' | 'skip' | 'none') {
    const { id } = session
    const models = await corral.models(session.agent)
    const until = past === 'none' ? 0 : await corral.lastSeq(id, TYPES)
    const before = rooms.get(id)
    before?.close()
    const prompts = before?.prompts ?? createPrompts({ corral, sessionId: id, newKey })
    const editor = editorOf(client, id)
    const room = openRoom({ corral, editor, session, models, until, tellPast: past === 'tell', prompts })
    rooms.set(id, room)
    void room.over.then(() => rooms.get(id) === room && rooms.delete(id))
    await room.ready
    return { room, opening: openingOf(room.chosen, models) }
  }

  async function roomOf(client: AgentContext, sessionId: string): Promise<Room> {
    return rooms.get(sessionId) ?? (await open(client, await corral.session(sessionId), 'skip')).room
  }

  /** What was begun here ends, what others have begun goes on. */
  async function leave(sessionId: string): Promise<void> {
    const room = rooms.get(sessionId)
    rooms.delete(sessionId)
    await room?.prompts.cancelAll()
    room?.close()
    room?.prompts.leave()
  }

  async function configure(
    sessionId: string,
    patch: { mode?: Mode; model?: string | null },
  ): Promise<SetSessionConfigOptionResponse> {
    const session = await corral.configure(sessionId, patch)
    return { configOptions: configOptions(session, await corral.models(session.agent)) }
  }

  const { session: on } = methods.agent
  const app = agent({ name: 'corral' })
    .onRequest(methods.agent.initialize, ({ params }) => {
      notices = params.clientCapabilities?.session?.notices != null
      return introduction(version)
    })
    .onRequest(methods.agent.authenticate, () => ({}))
    .onRequest(on.new, ({ params, client }) =>
      answering(async () => {
        const mcpConfig = mcpConfigOf(params.mcpServers)
        const { additionalDirectories = [] } = params
        const settings = {
          ...(mcpConfig && { mcpConfig }),
          ...(additionalDirectories.length > 0 && { additionalDirectories }),
        }
        const session = await corral.create({ cwd: params.cwd, settings })
        const { opening } = await open(client, session, 'none')
        return { sessionId: session.id, ...opening }
      }),
    )
    .onRequest(on.load, ({ params: { sessionId }, client }) =>
      answering(async () => (await open(client, await corral.session(sessionId), 'tell')).opening, sessionId),
    )
    .onRequest(on.resume, ({ params: { sessionId }, client }) =>
      answering(async () => (await open(client, await corral.session(sessionId), 'skip')).opening, sessionId),
    )
    .onRequest(on.fork, ({ params: { sessionId }, client }) =>
      answering(async () => {
        const session = await corral.fork(sessionId)
        const { opening } = await open(client, session, 'none')
        return { sessionId: session.id, ...opening }
      }, sessionId),
    )
    .onRequest(on.list, ({ params }) =>
      answering(() => list(corral, params.cwd ?? null, params.cursor ?? null)),
    )
    .onRequest(on.prompt, ({ params: { sessionId, prompt }, client, signal }) =>
      answering(
        async () => (await roomOf(client, sessionId)).prompts.prompt(contentOf(prompt), signal),
        sessionId,
      ),
    )
    .onNotification(on.cancel, ({ params: { sessionId } }) =>
      answering(async () => {
        const room = rooms.get(sessionId)
        await (room ? room.cancel() : corral.interrupt(sessionId))
      }, sessionId),
    )
    .onRequest(on.setMode, ({ params: { sessionId, modeId } }) =>
      answering(async () => void (await configure(sessionId, { mode: modeOf(modeId) })), sessionId),
    )
    .onRequest(on.setConfigOption, ({ params }) =>
      answering(() => configure(params.sessionId, patchOf(params.configId, params.value)), params.sessionId),
    )
    // How editors from before config options choose a model.
    .onRequest('session/set_model', modelParams, ({ params: { sessionId, modelId } }) =>
      answering(async () => {
        await configure(sessionId, { model: modelOf(modelId) })
        return {}
      }, sessionId),
    )
    .onRequest(on.close, ({ params: { sessionId } }) => answering(() => leave(sessionId), sessionId))
    .onRequest(on.delete, ({ params: { sessionId } }) =>
      answering(async () => {
        await leave(sessionId)
        await corral.destroy(sessionId)
      }, sessionId),
    )

  return app.connect(
    ndJsonStream(
      Writable.toWeb(output as Writable) as WritableStream<Uint8Array>,
      Readable.toWeb(input as Readable) as ReadableStream<Uint8Array>,
      { maxMessageBytes: LINE_LIMIT },
    ),
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

function modeOf(value: string): Mode {
  if (!isMode(value)) throw invalid(`there is no mode ${value}`)
  return value
}

function patchOf(configId: string, value: unknown): { mode?: Mode; model?: string | null } {
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
