import { ERRORS, type ErrorCode } from '../../core/error.ts'
import { ERROR_CODES } from './errors.ts'
import {
  definitions,
  errorsOf,
  methods,
  type Definitions,
  type Documented,
  type Json,
} from './json-schema.ts'

export interface OpenRpc {
  [name: string]: unknown
  openrpc: string
  info: { [name: string]: unknown; title: string; version: string }
  methods: { [name: string]: unknown; name: string }[]
  components: Record<string, unknown>
}

/** The native protocol as an OpenRPC document (1.3). */
export function openRpc(version: string): OpenRpc {
  const all = definitions()
  const schemas = Object.fromEntries(Object.entries(all).filter(([name]) => !isOfMethod(name)))
  const document = {
    openrpc: '1.3.2',
    info: {
      title: 'The native API of Corral',
      description: 'Durable sessions of coding agents: docs/native.md says how the protocol works.',
      version,
      license: { name: 'MIT' },
    },
    servers: [
      { name: 'socket', url: 'unix:~/.corral/corral.sock', summary: 'One message per line.' },
      { name: 'WebSocket', url: 'ws://127.0.0.1:2677/native', summary: 'One message per text frame.' },
    ],
    methods: methods.map((method) => methodObject(method, all)),
    components: { schemas, errors: errorObjects() },
  }
  const text = JSON.stringify(document).replaceAll('"#/$defs/', '"#/components/schemas/')
  return JSON.parse(text) as OpenRpc
}

function isOfMethod(name: string): boolean {
  return /\.(params|result|error)$|^(Error|Request|Response|Notification)$/.test(name)
}

function methodObject(method: Documented, all: Definitions): Record<string, unknown> {
  const { name, summary, scope, repeat, streaming } = method
  return {
    name,
    summary,
    paramStructure: 'by-name',
    params: descriptors(all[`${name}.params`]!),
    result: { name: 'result', schema: all[`${name}.result`] },
    errors: errorsOf(method).map((code) => ({ $ref: `#/components/errors/${code}` })),
    'x-scope': scope,
    'x-repeat': repeat,
    ...(streaming !== undefined && { 'x-notifications': streaming }),
  }
}

/** One for each parameter. Where there are several kinds of parameters, one is required that all of them require. */
function descriptors(params: Json): Record<string, unknown>[] {
  const kinds = (params.oneOf ?? params.anyOf ?? [params]) as Json[]
  const names = new Set(kinds.flatMap(({ properties = {} }) => Object.keys(properties)))
  const found = [...names].map((name) => {
    const schemas = kinds.flatMap(({ properties = {} }) => properties[name] ?? []) as Json[]
    const different = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()]
    const [first] = different
    const { description } = first!
    return {
      name,
      required: kinds.every(({ required = [] }) => required.includes(name)),
      ...(description !== undefined && { description }),
      schema: different.length === 1 ? first : { anyOf: different },
    }
  })
  return found.toSorted((a, b) => Number(b.required) - Number(a.required))
}

function errorObjects(): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(ERROR_CODES).map(([name, code]) => {
      const { meaning, remedy } = ERRORS[name as ErrorCode]
      return [name, { code, message: meaning, data: { code: name, remedy } }]
    }),
  )
}
