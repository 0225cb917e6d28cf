import { actingDevice } from '../access/caller.ts'
import type { Engine } from '../core/api.ts'
import { noMachine } from '../core/copying.ts'
import { CorralError } from '../core/error.ts'
import type { Fleet, FleetDeps, FleetReport, MachineReport } from './fleet.ts'
import { routed } from './routing.ts'

/** The other machines, as this daemon has them. While there are none, nothing is loaded. */
export interface Machines {
  /** The engine that dialects get: what is decided elsewhere is carried there. */
  readonly engine: Engine
  list(): MachineReport[]
  /** This machine in the fleet; null: it is in none. */
  membership(): FleetReport | null
  add(name: string, target: string): Promise<MachineReport>
  remove(name: string): Promise<void>
  /** Calls a method of the native API there, on behalf of whoever is being served; resolves when what came of it is here too. */
  call(machine: string, method: string, params: unknown): Promise<unknown>
  start(): Promise<void>
  close(): Promise<void>
}

const NAME = /^[a-z0-9][a-z0-9._-]{0,62}$/i
/** ssh takes what begins with a dash for an option. */
const TARGET = /^[^\s-]\S{0,999}$/

export function createMachines(deps: FleetDeps): Machines {
  let fleet: Fleet | null = null
  let opening: Promise<Fleet> | null = null

  async function open(): Promise<Fleet> {
    opening ??= import('./fleet.ts').then(({ Fleet }) => (fleet = new Fleet(deps)))
    return opening
  }

  async function call(machine: string, method: string, params: unknown): Promise<unknown> {
    if (!fleet) throw noMachine(machine)
    const device = actingDevice()
    return fleet.call(machine, method, params, device && { name: device.name, scopes: device.scopes })
  }

  return {
    engine: routed(deps.engine, { call, isAlone: () => fleet === null }),
    list: () => fleet?.list() ?? [],
    membership: () => fleet?.membership() ?? null,
    async add(name, target) {
      if (!NAME.test(name)) throw invalid('name', 'a machine is named by letters, digits, dots and dashes')
      if (!TARGET.test(target))
        throw invalid('target', 'give a host as ssh takes it (user@host), or the path of a socket')
      if (deps.engine.copies.machines().some((machine) => machine.name === name))
        throw invalid('name', `there is a machine called ${name} already`)
      await (await open()).add(name, target)
      return fleet!.list().find((machine) => machine.name === name)!
    },
    async remove(name) {
      if (!fleet) throw noMachine(name)
      await fleet.remove(name)
    },
    call,
    async start() {
      if (deps.fleet || deps.engine.copies.machines().length > 0) await open()
    },
    close: async () => fleet?.close(),
  }
}

function invalid(field: string, problem: string): CorralError {
  return new CorralError('invalid', `${field}: ${problem}`, { field })
}
