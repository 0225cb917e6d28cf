import { AsyncLocalStorage } from 'node:async_hooks'
import type { Device } from '../core/devices.ts'

const devices = new AsyncLocalStorage<Device>()

/** Does something for a device; what it leads to on another machine is done there with the rights of that device. */
export function actingFor<T>(device: Device | null, work: () => T): T {
  return device === null ? work() : devices.run(device, work)
}

/** The device that is being served; null: the owner. */
export function actingDevice(): Device | null {
  return devices.getStore() ?? null
}
