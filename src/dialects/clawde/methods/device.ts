import { z } from 'zod'
import { hostname } from 'node:os'
import { invitationTo, NO_RELAY } from '../../../access/invitation.ts'
import { isLoopbackHost } from '../../../access/loopback.ts'
import { PLATFORMS, SCOPES, type Device } from '../../../core/devices.ts'
import { ClawdeError } from '../errors.ts'
import { method, type Services } from '../method.ts'
import { anySpelling, bothWays } from '../spelling.ts'
import { iso } from '../views.ts'
import * as wire from '../wire.ts'

const pairParams = z.object({
  pin: z.coerce.string().trim().min(1).max(20),
  name: z.string().trim().min(1).max(100).default('Device'),
  platform: z.string().default('other').describe(PLATFORMS.join(', ')),
})
const pairAliases = { name: ['deviceName'], platform: ['deviceType'] }
const spelledPairing = anySpelling(pairParams, pairAliases)

const paired = z.object({
  deviceId: z.string(),
  deviceToken: z.string().describe('shown this once'),
  expiresAt: z.null(),
  hostName: z.string(),
  daemonId: z.string(),
  relayUrl: z.string(),
  scopes: z.array(z.string()),
})

type Pairing = Pick<Services, 'devices' | 'engine' | 'daemonId'>

export function hostName({ engine }: Pick<Services, 'engine'>): string {
  return engine.daemon.name ?? hostname()
}

async function pair(params: z.output<typeof pairParams>, services: Pairing): Promise<object> {
  const { device, token } = await services.devices.pair(params)
  return bothWays({
    deviceId: device.id,
    deviceToken: token,
    expiresAt: null,
    hostName: hostName(services),
    daemonId: services.daemonId,
    relayUrl: NO_RELAY,
    scopes: device.scopes,
  })
}

/** The one thing that somebody without a token may do: get one for a PIN. */
export function pairing(params: unknown, services: Pairing): Promise<object> {
  const parsed = spelledPairing.safeParse(params)
  if (parsed.success) return pair(parsed.data, services)
  const { path, message } = parsed.error.issues[0]!
  const field = path.join('.')
  throw new ClawdeError('invalidParams', `device.pair: ${field}: ${message}`, { field })
}

const listed = z.object({
  id: z.string(),
  deviceId: z.string().describe('the same as `id`'),
  name: z.string(),
  platform: z.string(),
  scopes: z.array(z.string()),
  createdAt: wire.moment,
  lastSeenAt: wire.moment.nullable(),
  revoked: z.literal(false),
})

function deviceView({ id, name, platform, scopes, pairedAt, lastSeenAt }: Device) {
  const seen = lastSeenAt === null ? null : iso(lastSeenAt)
  return bothWays({
    id,
    deviceId: id,
    name,
    platform,
    scopes,
    createdAt: iso(pairedAt),
    lastSeenAt: seen,
    revoked: false,
  })
}

function addressOf({ settings, port }: Pick<Services, 'settings' | 'port'>): string {
  const host = settings.host === 'localhost' ? '127.0.0.1' : settings.host
  const scheme = isLoopbackHost(host) ? 'ws' : 'wss'
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port()}`
}

const byId = z.object({ id: z.string().min(1).describe('of the device') })
const aliases = { id: ['deviceId'] }

export const deviceMethods = [
  method({
    name: 'daemon.setName',
    scope: 'manage',
    repeat: 'idempotent',
    errors: [],
    summary: 'What people call this daemon.',
    changes: true,
    params: z.object({ name: z.string().min(1) }),
    result: z.object({ ok: z.boolean(), name: z.string() }),
    async handler({ name }, { engine }) {
      await engine.daemon.setName(name)
      return { ok: true, name: engine.daemon.name ?? name }
    },
  }),
  method({
    name: 'daemon.pairPin',
    scope: 'manage',
    repeat: 'never',
    errors: [],
    summary:
      'A PIN of six digits that lets one device in, once, for ten minutes; five wrong tries make it void.',
    params: z.object({
      scopes: z
        .array(z.enum(SCOPES))
        .default(['use'])
        .describe('`manage`: it may let others in and put them out'),
    }),
    result: z.object({
      pin: z.string(),
      expiresAt: z.number().describe('seconds'),
      expiresInSeconds: z.number(),
      qrPayload: z.string(),
      qrJson: z.string().describe('the same for ClawDE’s mobile application'),
      daemonId: z.string(),
      relayUrl: z.string(),
      hostName: z.string(),
    }),
    handler({ scopes }, context) {
      const { devices, daemonId, device } = context
      const { pin, expiresAt } = devices.pin(device, scopes)
      const name = hostName(context)
      const { link, json } = invitationTo(addressOf(context), { pin, name, daemonId })
      return bothWays({
        pin,
        expiresAt: Math.floor(expiresAt / 1000),
        expiresInSeconds: Math.max(0, Math.round((expiresAt - Date.now()) / 1000)),
        qrPayload: link,
        qrJson: json,
        daemonId,
        relayUrl: NO_RELAY,
        hostName: name,
      })
    },
  }),
  method({
    name: 'device.pair',
    scope: 'use',
    repeat: 'never',
    errors: ['pairPinInvalid', 'pairPinExpired'],
    summary: 'Gets a token for a PIN. The only method that needs no token before.',
    changes: true,
    params: pairParams,
    aliases: pairAliases,
    result: paired,
    handler: pair,
  }),
  method({
    name: 'device.list',
    scope: 'read',
    repeat: 'read',
    errors: [],
    summary: 'The devices that were let in, without their tokens: an array.',
    params: wire.nothing,
    result: z.array(listed),
    handler: (_, { engine }) => engine.devices.list().map(deviceView),
  }),
  method({
    name: 'device.revoke',
    scope: 'use',
    repeat: 'never',
    errors: ['deviceNotFound'],
    summary: 'Puts a device out: its token is worth nothing from now on, and its connections close.',
    changes: true,
    params: byId,
    aliases,
    result: z.object({ revoked: z.boolean(), id: z.string(), deviceId: z.string() }),
    async handler({ id }, { devices, device }) {
      await devices.revoke(device, id)
      return bothWays({ revoked: true, id, deviceId: id })
    },
  }),
  method({
    name: 'device.rename',
    scope: 'use',
    repeat: 'idempotent',
    errors: ['deviceNotFound'],
    summary: 'Gives a device another name.',
    changes: true,
    params: byId.extend({ name: z.string().min(1) }),
    aliases: { ...aliases, name: ['deviceName'] },
    result: listed.extend({ ok: z.boolean() }),
    async handler({ id, name }, { devices, device }) {
      return { ok: true, ...deviceView(await devices.rename(device, id, name)) }
    },
  }),
]
