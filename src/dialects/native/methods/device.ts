import { z } from 'zod'
import type { DeviceAccess } from '../../../access/devices.ts'
import { SCOPES } from '../../../core/devices.ts'
import { CorralError } from '../../../core/error.ts'
import { method } from '../method.ts'
import * as wire from '../wire.ts'

const { deviceId } = wire

/** So many modules around a QR code are left empty, as its standard has it. */
const QUIET_ZONE = 4

async function picture(text: string): Promise<string> {
  const { renderSVG } = await import('uqr')
  return renderSVG(text, { border: QUIET_ZONE })
}

const pairParams = z.strictObject({
  pin: z.string().min(1).max(20),
  name: z.string().min(1).max(100),
  platform: wire.platform.default('other'),
})

/** The same for somebody who has no token yet. */
export async function pairing(params: unknown, devices: Pick<DeviceAccess, 'pair'>): Promise<object> {
  const parsed = pairParams.safeParse(params)
  if (parsed.success) return devices.pair(parsed.data)
  const { path, message } = parsed.error.issues[0]!
  const field = path.join('.')
  throw new CorralError('invalid', `device.pair: ${field}: ${message}`, { field })
}

export const deviceMethods = [
  method({
    name: 'device.pin',
    scope: 'manage',
    repeat: 'never',
    errors: [],
    summary:
      'A PIN of six digits that lets one device in, once. Five wrong tries, whoever makes them, and every PIN is void.',
    params: z.strictObject({
      scopes: z.array(z.enum(SCOPES)).default(['use']).describe('what the device may do'),
      svg: z.boolean().default(false).describe('draw the QR code'),
    }),
    result: z.object({
      pin: z.string(),
      expiresAt: wire.time,
      url: z
        .string()
        .nullable()
        .describe('where ClawDE’s applications connect; null: nobody listens for them'),
      native: z
        .string()
        .nullable()
        .describe('where programs that speak this API connect; null: the front door is closed'),
      page: z
        .string()
        .nullable()
        .describe('where a browser is let in to the dashboard; null: the front door is closed'),
      reachable: z.boolean().describe('whether any of them is reached from other machines'),
      qr: z.string().nullable().describe('what a QR code says to ClawDE’s mobile application'),
      svg: z.string().exactOptional().describe('that QR code as a picture'),
      pageSvg: z.string().exactOptional().describe('`page` as a QR code, for the camera of a phone'),
    }),
    async handler({ scopes, svg }, { devices, device, invite }) {
      const { pin, expiresAt } = devices.pin(device, scopes)
      const { clawde, native, page, reachable } = await invite(pin)
      const { url = null, json: qr = null } = clawde ?? {}
      const drawn = svg && qr !== null && { svg: await picture(qr) }
      const drawnPage = svg && page !== null && { pageSvg: await picture(page) }
      return { pin, expiresAt, url, native, page, reachable, qr, ...drawn, ...drawnPage }
    },
  }),
  method({
    name: 'device.pair',
    scope: 'use',
    repeat: 'never',
    errors: ['pin_invalid', 'pin_expired'],
    summary:
      'Lets a device in. Its token is shown here and never again; Corral keeps only a hash of it. On a WebSocket it needs no token: the PIN is enough.',
    params: pairParams,
    result: z.object({ device: wire.device, token: z.string() }),
    handler: (params, { devices }) => devices.pair(params),
  }),
  method({
    name: 'device.list',
    scope: 'read',
    repeat: 'read',
    errors: [],
    summary: 'The devices that were let in, without their tokens.',
    params: z.strictObject({}),
    result: z.object({ devices: z.array(wire.device) }),
    handler: (_, { engine }) => ({ devices: engine.devices.list() }),
  }),
  method({
    name: 'device.rename',
    scope: 'use',
    repeat: 'idempotent',
    errors: ['device_not_found'],
    summary: 'Gives a device another name.',
    params: z.strictObject({ deviceId, name: z.string().min(1).max(100) }),
    result: wire.device,
    handler: ({ deviceId: id, name }, { devices, device }) => devices.rename(device, id, name),
  }),
  method({
    name: 'device.revoke',
    scope: 'use',
    repeat: 'never',
    errors: ['device_not_found'],
    summary: 'Puts a device out: its token is worth nothing from now on, its connections are closed.',
    params: z.strictObject({ deviceId }),
    result: z.object({ deviceId }),
    async handler({ deviceId: id }, { devices, device }) {
      await devices.revoke(device, id)
      return { deviceId: id }
    },
  }),
]
