import { z } from 'zod'
import { retold } from '../../../core/copying.ts'
import { SCOPES, type Device } from '../../../core/devices.ts'
import { ERRORS, type ErrorCode } from '../../../core/error.ts'
import { RawJson } from '../../../transports/jsonrpc.ts'
import { method } from '../method.ts'
import * as wire from '../wire.ts'

/** Members that speak another one do not understand each other: see `fleet/link.ts`. */
const PROTOCOL = 1

const report = z.object({
  name: wire.machine,
  target: z.string().describe('how it is reached: a host for ssh, the path of a socket, or `nats (fleet)`'),
  sessions: z.number().describe('of it that are known here'),
  state: z.enum(['here', 'connecting', 'away']),
  version: z.string().exactOptional().describe('of Corral there'),
  behind: z.number().exactOptional().describe('events there that are not here yet, as far as is known'),
  reason: z.string().exactOptional().describe('why it is away'),
  since: wire.time.exactOptional().describe('when it went away'),
})

const membership = z
  .object({
    name: wire.machine.describe('of this machine'),
    state: z.enum(['joined', 'joining']),
    reason: z.string().nullable().exactOptional().describe('why it is not in it yet'),
  })
  .describe('this machine in a fleet on NATS')

/** Other machines, for people. */
export const machineMethods = [
  method({
    name: 'machine.list',
    scope: 'read',
    repeat: 'read',
    errors: [],
    summary: 'The other machines, and whether they are there.',
    params: z.strictObject({}),
    result: z.object({ machines: z.array(report), fleet: membership.exactOptional() }),
    handler(_, { machines }) {
      const fleet = machines.membership()
      return { machines: machines.list(), ...(fleet && { fleet }) }
    },
  }),
  method({
    name: 'machine.add',
    scope: 'manage',
    repeat: 'never',
    errors: [],
    summary:
      'Adds a machine: its sessions appear among yours, and what you do with them is done there. It is tried first; `machine_unreachable` says why it does not answer.',
    params: z.strictObject({ name: wire.machine, target: z.string().min(1).max(1000) }),
    result: report,
    handler: ({ name, target }, { machines }) => machines.add(name, target),
  }),
  method({
    name: 'machine.remove',
    scope: 'manage',
    repeat: 'never',
    errors: ['machine_not_found'],
    summary: 'Takes a machine out. Its sessions disappear here; there nothing changes.',
    params: z.strictObject({ name: wire.machine }),
    result: z.object({ name: wire.machine }),
    async handler({ name }, { machines }) {
      await machines.remove(name)
      return { name }
    },
  }),
]

const caller = z
  .object({ name: z.string(), scopes: z.array(z.enum(SCOPES)) })
  .nullable()
  .describe('the device that asks there; null: the owner')

/** What members say to each other, beside `events.subscribe` with `own`. */
export const memberMethods = [
  method({
    name: 'member.hello',
    scope: 'manage',
    repeat: 'read',
    errors: [],
    summary: 'For other machines: who this one is, and how far its log is.',
    params: z.strictObject({}),
    result: z.object({
      version: z.string(),
      protocol: z.int(),
      log: z.string(),
      head: wire.cursor,
    }),
    handler: (_, { engine, daemon }) => ({
      version: daemon.version,
      protocol: PROTOCOL,
      log: engine.events.logId,
      head: engine.copies.ownHead(),
    }),
  }),
  method({
    name: 'member.sessions',
    scope: 'manage',
    repeat: 'read',
    errors: [],
    summary: 'For other machines: the ids of the sessions that run here.',
    params: z.strictObject({}),
    result: z.object({ ids: z.array(wire.sessionId) }),
    handler: (_, { engine }) => ({ ids: engine.copies.ownSessions() }),
  }),
  method({
    name: 'member.beginning',
    scope: 'manage',
    repeat: 'read',
    errors: [],
    summary: 'For other machines: what a session begins with whose beginning has left the log.',
    params: z.strictObject({ sessionId: wire.sessionId }),
    result: z.object({ events: z.array(wire.event) }),
    handler({ sessionId }, { engine }) {
      const session = engine.copies.own(sessionId)
      return { events: session ? retold(session) : [] }
    },
  }),
  method({
    name: 'member.note',
    scope: 'use',
    repeat: 'idempotent',
    errors: ['session_not_found'],
    summary: 'For other machines: keeps what one of their protocols has to remember about a session.',
    params: z.strictObject({ sessionId: wire.sessionId, notes: z.record(z.string(), z.unknown()) }),
    result: z.object({}),
    async handler({ sessionId, notes }, { engine }) {
      await engine.sessions.configure({ sessionId, notes })
      return {}
    },
  }),
  method({
    name: 'member.call',
    scope: 'manage',
    repeat: 'never',
    errors: Object.keys(ERRORS) as ErrorCode[],
    summary:
      'For other machines: calls a method on behalf of somebody there, with no more rights than they have; what it ends with is what this ends with.',
    params: z.strictObject({ method: z.string(), params: z.unknown(), caller }),
    result: z.object({
      result: z.unknown(),
      head: wire.cursor.describe('of its own events, when it was done'),
    }),
    async handler({ method: name, params, caller: asks }, { call, engine }) {
      const result = await call(name, params, asks && deviceOf(asks))
      const text = result instanceof RawJson ? result.json : JSON.stringify(result ?? null)
      return new RawJson(`{"result":${text},"head":${engine.copies.ownHead()}}`)
    },
  }),
]

/** For its name in the log and its rights; nobody can come in as it. */
function deviceOf({ name, scopes }: Pick<Device, 'name' | 'scopes'>): Device {
  return { id: '', name, platform: 'other', scopes, pairedAt: 0, lastSeenAt: null }
}
