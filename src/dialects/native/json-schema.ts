import { z } from 'zod'
import { ERRORS, type ErrorCode } from '../../core/error.ts'
import { ALWAYS, ERROR_CODES, UNAUTHORIZED } from './errors.ts'
import { METHODS } from './methods.ts'
import * as wire from './wire.ts'
import { conversationParts } from './wire-conversation.ts'
import { about, eventContent, EVENTS, question } from './wire-event.ts'
import type { Method } from '../method.ts'

/* The native protocol as JSON Schema (2020-12): for the documents in docs/schema, and for whoever asks with `rpc.discover`. */

export type Json = z.core.JSONSchema.BaseSchema
export type Definitions = Record<string, Json>

const DIALECT = 'https://json-schema.org/draft/2020-12/schema'

/** What a document says of a method. */
export type Documented = Pick<
  Method<never>,
  'name' | 'summary' | 'scope' | 'repeat' | 'params' | 'result' | 'errors'
> & { streaming?: string }

export const methods = METHODS as unknown as readonly Documented[]

/** What the schemas of the methods have in common, by the names of docs/native.md. */
export const SHAPES = {
  Session: wire.sessionView,
  SessionRow: wire.sessionRow,
  Marks: wire.marks,
  Counts: wire.counts,
  Turn: wire.turnView,
  Approval: wire.approvalView,
  HistoryItem: wire.historyItem,
  SearchHit: wire.searchHit,
  Project: wire.projectView,
  Device: wire.device,
  AgentReport: wire.agentReport,
  Check: wire.check,
  Content: wire.content,
  Decision: wire.decision,
  Usage: wire.usage,
  Failure: wire.failure,
  Settings: wire.settings,
}

/** Those that only the documents for programs name. */
const MORE_SHAPES = {
  AgentModel: wire.agentModel,
  Rules: wire.rules,
  FileChange: wire.fileChange,
  Hunk: wire.hunk,
  PlanEntry: wire.planEntry,
  About: about,
  Question: question,
  EventContent: eventContent,
  ConversationParts: conversationParts,
}

const NAMES = new Map<unknown, string>(
  Object.entries({ ...SHAPES, ...MORE_SHAPES }).map(([name, schema]) => [schema, name]),
)

/** What the wire checks for its frame only is described in full elsewhere. */
const STAND_INS = new Map<unknown, string>([
  [wire.event, 'Event'],
  [wire.conversationParts, 'ConversationParts'],
])

const names = new (class extends z.core.$ZodRegistry<{ id?: string }> {
  override get(schema: z.core.$ZodType): { id?: string } | undefined {
    const known = z.globalRegistry.get(schema) as { id?: string } | undefined
    const id = NAMES.get(schema)
    return id === undefined ? known : { ...known, id }
  }
})()

interface SchemaOptions {
  /** A field that no schema names is wrong. What is published is open: newer daemons may say more. */
  strict?: boolean
}

/** Every shape, event, error, and the parameters and the result of every method. */
export function definitions({ strict = false }: SchemaOptions = {}): Definitions {
  const found: Definitions = {}
  /** The schema without the shapes in it, which are put beside it. */
  function add(schema: z.ZodType, io: 'input' | 'output'): Json {
    const made = z.toJSONSchema(schema, {
      io,
      metadata: names as never,
      unrepresentable: 'any',
      override({ zodSchema, jsonSchema }) {
        const standIn = STAND_INS.get(zodSchema)
        if (standIn !== undefined) jsonSchema.$ref = `#/$defs/${standIn}`
        tidy(zodSchema, jsonSchema, strict)
      },
    }) as Json
    const { $schema: _, $defs = {}, ...rest } = made
    for (const [name, shape] of Object.entries($defs)) found[name] ??= withoutId(shape as Json)
    return withoutId(rest)
  }

  for (const [schema, name] of NAMES) {
    const made = add(schema as z.ZodType, 'output')
    found[name] ??= made
  }
  for (const [type, schema] of Object.entries(EVENTS)) found[`${type}.event`] = add(schema, 'output')
  found['Event'] = { oneOf: Object.keys(EVENTS).map((type) => ({ $ref: `#/$defs/${type}.event` })) }
  for (const { name, params, result } of methods) {
    found[`${name}.params`] = refOr(params, () => add(params, 'input'))
    found[`${name}.result`] = refOr(result, () => add(result, 'output'))
  }
  return { ...found, ...errorDefinitions(), ...messageDefinitions() }
}

function refOr(schema: z.ZodType, make: () => Json): Json {
  const name = NAMES.get(schema)
  return name === undefined ? make() : { $ref: `#/$defs/${name}` }
}

/** zod closes every object that it reads; only those that it refuses to read otherwise are closed. */
function tidy(schema: z.core.$ZodTypes, json: Json, strict: boolean): void {
  if (schema._zod.def.type !== 'object') return
  const isClosed = schema._zod.def.catchall?._zod.def.type === 'never'
  if (!isClosed && !strict && json.additionalProperties === false) delete json.additionalProperties
}

function withoutId(json: Json): Json {
  const { id: _, ...rest } = json
  return rest
}

function errorDefinitions(): Definitions {
  const all = Object.entries(ERROR_CODES).map(([code, number]) => {
    const { meaning, remedy } = ERRORS[code as ErrorCode]
    return [`${code}.error`, errorDefinition(code, number, `${meaning} ${remedy}`)] as const
  })
  const refused = errorDefinition('unauthorized', UNAUTHORIZED, 'The token is wrong, or there is none.')
  return Object.fromEntries([...all, ['unauthorized.error', refused]])
}

function errorDefinition(code: string, number: number, description: string): Json {
  return {
    description,
    type: 'object',
    properties: {
      code: { const: number },
      message: { type: 'string' },
      data: { type: 'object', properties: { code: { const: code } }, required: ['code'] },
    },
    required: ['code', 'message', 'data'],
  }
}

/** The errors that a method may end with, those that any may end with included. */
export function errorsOf({ errors }: Documented): string[] {
  return [...new Set([...errors, ...ALWAYS])]
}

const notificationParams: Definitions = {
  events: {
    type: 'object',
    properties: {
      subscriptionId: { type: 'string' },
      log: { type: 'string' },
      events: { type: 'array', items: { $ref: '#/$defs/Event' } },
    },
    required: ['subscriptionId', 'log', 'events'],
  },
  'events.closed': closed('subscriptionId'),
  sessions: {
    type: 'object',
    properties: {
      watchId: { type: 'string' },
      seq: { type: 'integer', description: 'all events up to here are told' },
      changed: { type: 'array', items: { $ref: '#/$defs/SessionRow' } },
      removed: { type: 'array', items: { type: 'string' } },
      counts: { $ref: '#/$defs/Counts' },
    },
    required: ['watchId', 'seq', 'changed', 'removed', 'counts'],
  },
  'sessions.closed': closed('watchId'),
}

function closed(id: string): Json {
  return {
    description: 'The daemon could not go on: begin again.',
    type: 'object',
    properties: { [id]: { type: 'string' }, reason: { type: 'string' } },
    required: [id, 'reason'],
  }
}

const jsonrpc = { const: '2.0' }
const id = { type: ['string', 'number', 'null'] }

function messageDefinitions(): Definitions {
  const requests = methods.map(({ name }) => ({
    properties: { method: { const: name }, params: { $ref: `#/$defs/${name}.params` } },
  }))
  const notifications = Object.keys(notificationParams).map((name) => ({
    properties: { method: { const: name }, params: { $ref: `#/$defs/${name}.notification` } },
  }))
  const errors = [...Object.keys(ERROR_CODES), 'unauthorized'].map((code) => ({
    $ref: `#/$defs/${code}.error`,
  }))
  const plain = {
    description: "JSON-RPC's own errors: not JSON, not a request, no such method.",
    type: 'object',
    properties: { code: { enum: [-32700, -32600, -32601] }, message: { type: 'string' } },
    required: ['code', 'message'],
  }
  return {
    ...Object.fromEntries(
      Object.entries(notificationParams).map(([name, params]) => [`${name}.notification`, params]),
    ),
    Error: { anyOf: [...errors, plain] } as Json,
    Request: {
      type: 'object',
      properties: { jsonrpc, id },
      required: ['jsonrpc', 'method'],
      oneOf: requests,
    } as Json,
    Notification: {
      type: 'object',
      properties: { jsonrpc },
      required: ['jsonrpc', 'method', 'params'],
      oneOf: notifications,
    } as Json,
    Response: {
      type: 'object',
      properties: { jsonrpc, id, error: { $ref: '#/$defs/Error' } },
      required: ['jsonrpc', 'id'],
      oneOf: [{ required: ['result'] }, { required: ['error'] }],
    } as Json,
  }
}

/** The whole document: a message of the protocol, whichever way it goes. */
export function nativeSchema(options: SchemaOptions = {}): Json {
  return {
    $schema: DIALECT,
    title: 'The native API of Corral',
    description:
      'A message of the protocol, in either direction. `NAME.params` and `NAME.result` are those of a method, `NAME.event` is an event, `NAME.notification` the parameters of a notification, `NAME.error` an error.',
    anyOf: ['Request', 'Response', 'Notification'].map((name) => ({ $ref: `#/$defs/${name}` })),
    $defs: definitions(options),
  }
}
