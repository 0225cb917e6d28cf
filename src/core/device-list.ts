import type { Devices } from './api.ts'
import { deviceName, paired, SEEN_EVERY_MS, type Device } from './devices.ts'
import type { Drafts } from './draft.ts'
import { CorralError } from './error.ts'
import { oneByOne } from './one-by-one.ts'
import type { Clock, Log } from './ports.ts'

interface DeviceListDeps {
  log: Log
  drafts: Drafts
  clock: Clock
  newId: () => string
}

/** The part of the engine that keeps the devices. Who may change them is for `access/` to say. */
export function createDevices({ log, drafts, clock, newId }: DeviceListDeps): Devices {
  const inTurn = oneByOne()
  const noting = new Set<string>()

  function found(deviceId: string): Device {
    const device = log.device(deviceId)
    if (device) return device
    throw new CorralError('device_not_found', `No device has the id ${deviceId}`, { deviceId })
  }

  return {
    add: (command) =>
      inTurn(async () => {
        const id = newId()
        await drafts.apart(paired(id, command), (event, at) => {
          if (event.type !== 'device.paired') return []
          const { name, platform, scopes } = event
          const device = { id, name, platform, scopes, pairedAt: at, lastSeenAt: null }
          return [{ op: 'device', device, tokenHash: command.tokenHash }]
        })
        return found(id)
      }),
    rename: (deviceId, given) =>
      inTurn(async () => {
        const name = deviceName(given)
        const effect = [{ op: 'device.name' as const, id: deviceId, name }]
        if (found(deviceId).name !== name) {
          await drafts.apart({ type: 'device.renamed', deviceId, name }, () => effect)
        }
        return found(deviceId)
      }),
    revoke: (deviceId) =>
      inTurn(async () => {
        found(deviceId)
        await drafts.apart({ type: 'device.revoked', deviceId }, () => [
          { op: 'device.delete', id: deviceId },
        ])
      }),
    async seen(deviceId) {
      const at = clock.now()
      const device = log.device(deviceId)
      if (!device || noting.has(deviceId)) return
      if (device.lastSeenAt !== null && at - device.lastSeenAt < SEEN_EVERY_MS) return
      noting.add(deviceId)
      try {
        await log.append({ events: [], writes: [{ op: 'device.seen', id: deviceId, at }] })
      } finally {
        noting.delete(deviceId)
      }
    },
    get: found,
    list: () => log.devices(),
    byToken: (tokenHash) => log.deviceByToken(tokenHash),
    tokenHash: (deviceId) => log.deviceTokenHash(deviceId),
  }
}
