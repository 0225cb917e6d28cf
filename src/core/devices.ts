import { invalid, oneLine } from './naming.ts'

/*
 * Devices that were let in with a PIN. What lets them in again, a token, is theirs alone: here is only its hash, in a row
 * of the store and in no event.
 */

export const PLATFORMS = ['ios', 'android', 'macos', 'windows', 'linux', 'web', 'other'] as const
export type Platform = (typeof PLATFORMS)[number]

/** `use`: everything about sessions; `manage`: to let devices in, rename them and put them out, and rules of directories, too. */
export const SCOPES = ['use', 'manage'] as const
export type Scope = (typeof SCOPES)[number]

export interface Device {
  id: string
  name: string
  platform: Platform
  scopes: Scope[]
  pairedAt: number
  /** Kept to the minute; null: it has not come back since. */
  lastSeenAt: number | null
}

export interface AddDevice {
  name: string
  platform: string
  scopes: readonly Scope[]
  /** SHA-256 of the token, in hex. */
  tokenHash: string
}

export type DeviceEvent =
  | { type: 'device.paired'; deviceId: string; name: string; platform: Platform; scopes: Scope[] }
  | { type: 'device.renamed'; deviceId: string; name: string }
  /** Whoever holds a connection of it closes that now. */
  | { type: 'device.revoked'; deviceId: string }

const MAX_DEVICE_NAME = 100

/** How often it is written down that a device is there. */
export const SEEN_EVERY_MS = 60_000

/** What is wrong with them is said before anything is used up for them. */
export function described(device: { name: string; platform: string }): { name: string; platform: Platform } {
  const platform = PLATFORMS.find((one) => one === device.platform)
  if (!platform) throw invalid('platform', `one of ${PLATFORMS.join(', ')}`)
  return { name: deviceName(device.name), platform }
}

export function deviceName(name: string): string {
  return oneLine(name, 'name', MAX_DEVICE_NAME)
}

export function paired(deviceId: string, { scopes, ...device }: AddDevice): DeviceEvent {
  const all = SCOPES.filter((scope) => scope === 'use' || scopes.includes(scope))
  return { type: 'device.paired', deviceId, ...described(device), scopes: all }
}
