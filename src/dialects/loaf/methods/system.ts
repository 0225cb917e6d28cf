import type { Context, Methods } from '../context.ts'
import { Followed } from '../context.ts'
import { INVALID_PARAMS, LoafError } from '../errors.ts'
import { AGENT_OF } from '../models.ts'
import { optionalParams, paramsOf } from '../params.ts'
import type { Room } from '../room.ts'
import { findSaved, listSaved, loadSaved } from '../saved.ts'
import { findSkills } from '../skills.ts'
import { sayLast, snapshot } from '../snapshot.ts'
import { within } from '../within.ts'

export const PROTOCOL_VERSION = '1.0.0'
/** How long a turn may take to end when its conversation is to be forgotten. */
const END_MS = 10_000
/** How long what was asked for before may take. */
const QUIET_MS = 2000
/** How long the daemon may take to stop what runs when this process ends. */
const STOP_MS = 4000

/** Ends what was begun here, and then this process; what others run goes on. */
export async function shutDown(context: Context, reason: string, result: unknown): Promise<Followed> {
  const { corral, rooms, refuseNew, end } = context
  refuseNew()
  // A message that came before this request is stopped as well.
  await within(QUIET_MS, rooms.quiet())
  const ours = rooms.all.filter((room) => room.used && room.conversation.busy)
  await within(STOP_MS, Promise.allSettled(ours.map(({ id }) => corral.interrupt(id, true))))
  await sayLast(context, reason)
  return new Followed(result, end)
}

/** The agent begins afresh; what runs is stopped first, so that nothing of before comes after. */
export async function clearSession(room: Room, { corral }: Context): Promise<void> {
  if (room.agent !== null) {
    if (room.conversation.busy) {
      await corral.interrupt(room.id, true)
      await room.idle(END_MS)
    }
    await corral.configure(room.id, { fresh: true })
  }
  room.conversation.record.clear()
}

/** What the agent of the chosen model has told about its tools, in a session that is open here. */
export function listTools({ rooms, choices }: Context) {
  const { provider } = choices.selected()
  const telling = rooms.all.filter(({ agent }) => provider === null || agent === AGENT_OF[provider])
  const names = telling.map((room) => room.conversation.tools).findLast((tools) => tools.length > 0) ?? []
  return {
    tools: [...names].sort().map((name) => ({
      name,
      description: '',
      input_schema: { type: 'object', properties: {}, required: [], additionalProperties: true },
    })),
  }
}

export const systemMethods: Methods = {
  'system.ping': (_, { now }) => ({ ok: true, time: new Date(now()).toISOString() }),
  'system.shutdown'(params, context) {
    const reason = optionalParams('system.shutdown', params).optionalText('reason')
    const result = { accepted: true, ...(reason !== undefined && { reason }) }
    return shutDown(context, reason ?? 'shutdown', result)
  },
  'state.get': (_, context) => snapshot(context),
  'history.list'(params, context) {
    const given = optionalParams('history.list', params)
    const limit = given.optionalNumber('limit')
    const cursor = given.optionalNumber('cursor')
    return listSaved(context, {
      ...(limit !== undefined && { limit }),
      ...(cursor !== undefined && { cursor }),
    })
  },
  async 'history.get'(params, context) {
    const given = optionalParams('history.get', params)
    const wish = {
      last: given.optionalFlag('last'),
      rolloutPath: given.optionalText('rollout_path'),
      id: given.optionalText('id'),
    }
    return loadSaved(context, await findSaved(context, wish))
  },
  async 'history.clear_session'(params, context) {
    const sessionId = paramsOf('history.clear_session', params).text('session_id')
    await context.rooms.inTurn(sessionId, (room) => clearSession(room, context))
    return { session_id: sessionId, cleared: true }
  },
  'skills.list': (_, { cwd, home }) => findSkills(cwd, home),
  'tools.list': (_, context) => listTools(context),
  'debug.set'(params, { debug }) {
    debug.on = paramsOf('debug.set', params).flag('super_debug')
    return { super_debug: debug.on }
  },
}

export function handshake(params: unknown, names: readonly string[], more: readonly string[]) {
  const given = optionalParams('rpc.handshake', params)
  given.optionalText('client_name')
  given.optionalText('client_version')
  const version = given.optionalText('protocol_version')
  if (given.optionalFlag('strict') && version !== undefined && version !== PROTOCOL_VERSION) {
    throw new LoafError(INVALID_PARAMS, `unsupported protocol_version: ${version}`, {
      reason: 'unsupported_protocol_version',
      supported: PROTOCOL_VERSION,
    })
  }
  return {
    protocol_version: PROTOCOL_VERSION,
    server_name: 'loaf',
    capabilities: {
      events: true,
      command_execute: true,
      multi_session: true,
      image_inputs: ['path', 'data_url'],
    },
    methods: names,
    extensions: more,
  }
}
