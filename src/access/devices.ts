import { createHash, createHmac, randomBytes } from 'node:crypto'
import type { Engine } from '../core/api.ts'
import { described, type Device, type Scope } from '../core/devices.ts'
import { CorralError } from '../core/error.ts'
import { createPairing, type Pin, type PinVerdict } from './pairing.ts'

export interface DeviceAccess {
  /** A PIN that lets one device in. `by` is who wants it: a device, or the owner (null). */
  pin(by: Device | null, scopes?: readonly Scope[]): Pin
  /** Lets a device in. The token is shown here and never again. */
  pair(command: { pin: string; name: string; platform: string }): Promise<{ device: Device; token: string }>
  /** The device that this token belongs to; null when it is none, or none any more. */
  authenticate(token: string): Device | null
  /** The device with this id; null when there is none, or none any more. */
  find(deviceId: string): Device | null
  /** A key that changes with the device's token; null when there is no such device. */
  derive(deviceId: string, purpose: string): Buffer | null
  rename(by: Device | null, deviceId: string, name: string): Promise<Device>
  /** `device.revoked` says it to whoever holds its connections; PINs that it has made go with it. */
  revoke(by: Device | null, deviceId: string): Promise<void>
}

export interface DeviceAccessOptions {
  now(): number
  /** How long a PIN holds. */
  pinTtlMs: number
  warn(message: string, error: unknown): void
}

type Known = Pick<Engine, 'devices'>

const REFUSED: Record<Exclude<PinVerdict, 'ok'>, [code: 'pin_invalid' | 'pin_expired', message: string]> = {
  wrong: ['pin_invalid', 'This PIN is wrong or was used already'],
  locked: ['pin_invalid', 'Too many wrong tries: make a new PIN on the host'],
  expired: ['pin_expired', 'This PIN is too old: make a new one on the host'],
}

const TOKEN_BYTES = 32

/** What a PIN is good for, and which device made it (null: the owner). */
interface Grant {
  scopes: readonly Scope[]
  madeBy: string | null
}

/** Who may come in, beside the owner: devices with a token that they got for a PIN. */
export function createDeviceAccess(engine: Known, options: DeviceAccessOptions): DeviceAccess {
  const pairing = createPairing<Grant>({ now: options.now, ttlMs: options.pinTtlMs })

  function seen(device: Device | null): Device | null {
    if (!device) return null
    engine.devices.seen(device.id).catch((error) => options.warn('noting that a device is there', error))
    return device
  }

  return {
    pin(by, scopes = ['use']) {
      mustManage(by, null)
      return pairing.issue({ scopes, madeBy: by?.id ?? null })
    },
    async pair({ pin, ...command }) {
      const about = described(command)
      const redeemed = pairing.redeem(pin)
      if (redeemed.verdict !== 'ok') {
        const [code, message] = REFUSED[redeemed.verdict]
        throw new CorralError(code, message, { reason: redeemed.verdict })
      }
      const token = randomBytes(TOKEN_BYTES).toString('hex')
      try {
        const { scopes } = redeemed.grant
        const device = await engine.devices.add({ ...about, scopes, tokenHash: hashOf(token) })
        return { device, token }
      } catch (error) {
        redeemed.undo()
        throw error
      }
    },
    // What is looked for is a hash: how long that takes says nothing about any token.
    authenticate: (token) => seen(engine.devices.byToken(hashOf(token))),
    find(deviceId) {
      const hash = engine.devices.tokenHash(deviceId)
      return hash === null ? null : seen(engine.devices.byToken(hash))
    },
    derive(deviceId, purpose) {
      const hash = engine.devices.tokenHash(deviceId)
      return hash === null ? null : createHmac('sha256', Buffer.from(hash, 'hex')).update(purpose).digest()
    },
    async rename(by, deviceId, name) {
      mustManage(by, deviceId)
      return engine.devices.rename(deviceId, name)
    },
    async revoke(by, deviceId) {
      mustManage(by, deviceId)
      await engine.devices.revoke(deviceId)
      pairing.withdraw(({ madeBy }) => madeBy === deviceId)
    },
  }
}

/** A device may always rename itself, or leave. */
function mustManage(by: Device | null, deviceId: string | null): void {
  if (!by || by.id === deviceId || by.scopes.includes('manage')) return
  throw new CorralError('forbidden', 'This device may not manage other devices', { scope: 'manage' })
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}
