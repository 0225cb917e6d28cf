import { z } from 'zod'
import { Streaming } from '../../../transports/jsonrpc.ts'
import { unsupportedVersion } from '../errors.ts'
import { method, type Context, type LoafMethod } from '../method.ts'
import { AGENT_OF } from '../models.ts'
import { flag, noParams, optionalFlag, optionalParams, optionalText, params } from '../params.ts'
import { findSkills } from '../skills.ts'
import { sayLast, snapshot } from '../snapshot.ts'
import * as wire from '../wire.ts'
import { within } from '../within.ts'

export const PROTOCOL_VERSION = '1.0.0'
/** How long what was asked for before may take. */
const QUIET_MS = 2000
/** How long the daemon may take to stop what runs when this process ends. */
const STOP_MS = 4000

/** Ends what was begun here, and then this process; what others run goes on. */
export async function shutDown<T>(context: Context, reason: string, result: T): Promise<Streaming<T>> {
  const { corral, sessions, refuseNew, end } = context
  refuseNew()
  // A message that came before this request is stopped as well.
  await within(QUIET_MS, sessions.quiet())
  const ours = sessions.all.filter(({ used, conversation }) => used && conversation.busy)
  await within(STOP_MS, Promise.allSettled(ours.map(({ id }) => corral.interrupt(id, true))))
  await sayLast(context, reason)
  return new Streaming(result, end)
}

/** What the agent of the chosen model has told about its tools, in a session that is open here. */
export function listTools({ sessions, choices }: Context): z.output<typeof wire.tools> {
  const { provider } = choices.selected()
  const telling = sessions.all.filter(({ agent }) => provider === null || agent === AGENT_OF[provider])
  const names =
    telling.map(({ conversation }) => conversation.tools).findLast(({ length }) => length > 0) ?? []
  return {
    tools: [...names].sort().map((name) => ({
      name,
      description: '',
      input_schema: { type: 'object', properties: {}, required: [], additionalProperties: true },
    })),
  }
}

export const systemMethods = [
  method({
    name: 'system.ping',
    scope: 'read',
    repeat: 'read',
    errors: [],
    summary: 'Answers with the time.',
    params: noParams,
    result: z.strictObject({ ok: z.literal(true), time: z.string() }),
    handler: (_, { now }) => ({ ok: true as const, time: new Date(now()).toISOString() }),
  }),
  method({
    name: 'system.shutdown',
    scope: 'use',
    repeat: 'never',
    errors: [],
    summary: 'Stops the turns of sessions that this client has sent messages to, and ends the process.',
    params: optionalParams({ reason: optionalText.describe('shown in the last `state.changed`') }),
    result: z.strictObject({ accepted: z.literal(true), reason: z.string().exactOptional() }),
    handler({ reason }, context) {
      const result = { accepted: true as const, ...(reason !== undefined && { reason }) }
      return shutDown(context, reason ?? 'shutdown', result)
    },
  }),
  method({
    name: 'state.get',
    scope: 'read',
    repeat: 'read',
    errors: [],
    summary: 'Returns everything that is not about one session, as in `state.changed`.',
    params: noParams,
    result: wire.snapshot,
    handler: (_, context) => snapshot(context),
  }),
  method({
    name: 'skills.list',
    scope: 'read',
    repeat: 'read',
    errors: [],
    summary: 'Lists the skills of the repository and the user, read from disk each time.',
    params: noParams,
    result: wire.skills,
    handler: (_, { cwd, home }) => findSkills(cwd, home),
  }),
  method({
    name: 'tools.list',
    scope: 'read',
    repeat: 'read',
    errors: [],
    summary:
      'Lists the tool names that the agent of the chosen model has reported in a session that is open here.',
    params: noParams,
    result: wire.tools,
    handler: (_, context) => listTools(context),
  }),
  method({
    name: 'debug.set',
    scope: 'use',
    repeat: 'idempotent',
    errors: [],
    summary: 'Turns `session.debug` events on or off.',
    params: params({ super_debug: flag }),
    result: z.strictObject({ super_debug: z.boolean() }),
    handler({ super_debug }, { debug }) {
      debug.on = super_debug
      return { super_debug }
    },
  }),
]

const handshakeResult = z.strictObject({
  protocol_version: z.literal(PROTOCOL_VERSION),
  server_name: z.literal('loaf'),
  capabilities: z.strictObject({
    events: z.literal(true),
    command_execute: z.literal(true),
    multi_session: z.literal(true),
    image_inputs: z.tuple([z.literal('path'), z.literal('data_url')]),
  }),
  methods: z.array(z.string()),
  extensions: z.array(z.string()).describe('methods that the original does not have'),
})

/** It tells which methods there are, so it has to be told. */
export function handshakeMethod(all: () => readonly Pick<LoafMethod, 'name' | 'extension'>[]) {
  const names = (extension: boolean): string[] =>
    all()
      .flatMap((one) => ((one.extension ?? false) === extension ? [one.name] : []))
      .sort()
  return method({
    name: 'rpc.handshake',
    scope: 'read',
    repeat: 'read',
    errors: ['unsupported_protocol_version'],
    summary: 'Says what this server can do. Calling it is optional.',
    params: optionalParams({
      client_name: optionalText,
      client_version: optionalText,
      protocol_version: optionalText,
      strict: optionalFlag.describe('fail if `protocol_version` is not supported'),
    }),
    result: handshakeResult,
    handler({ strict, protocol_version: version }): z.output<typeof handshakeResult> {
      if (strict && version !== undefined && version !== PROTOCOL_VERSION) {
        throw unsupportedVersion(version, PROTOCOL_VERSION)
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
        methods: names(false),
        extensions: names(true),
      }
    },
  })
}
