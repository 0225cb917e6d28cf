import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Engine } from '../core/api.ts'
import { noMachine } from '../core/copying.ts'
import { CorralError } from '../core/error.ts'
import type { Caller, Reach } from './link.ts'
import { Member, type MemberState } from './member.ts'
import type { FleetSettings, Membership, MembershipState } from './nats/membership.ts'
import { linkTo } from './native-link.ts'
import { openTunnel } from './ssh.ts'

export interface FleetDeps {
  /** The engine itself: what is copied goes into its log. */
  engine: Engine
  /** Where sockets of other machines are made available. */
  directory: string
  env: NodeJS.ProcessEnv
  /** A fleet on NATS; null: this machine is in none. */
  fleet: FleetSettings | null
  /** The socket of this daemon. */
  socket: string
  warn(message: string, error?: unknown): void
}

/** This machine in a fleet on NATS. */
export type FleetReport = { name: string } & MembershipState

/** How a machine is reached that is in the fleet and was added by nobody; no target of ssh has a space in it. */
const BY_NATS = 'nats (fleet)'

export type MachineReport = { name: string; target: string; sessions: number } & MemberState

/** The other machines, each with a connection of its own. */
export class Fleet {
  readonly #deps: FleetDeps
  readonly #members = new Map<string, Member>()
  readonly #adding = new Set<string>()
  #membership: Promise<Membership> | null = null
  #joined: Membership | null = null

  constructor(deps: FleetDeps) {
    this.#deps = deps
    const { fleet, socket, warn } = deps
    if (fleet) {
      const seen = (name: string): void => void this.#seen(name)
      this.#membership = import('./nats/membership.ts').then(
        ({ Membership }) => (this.#joined = new Membership({ settings: fleet, socket, seen, warn })),
      )
    }
    for (const { name, target } of deps.engine.copies.machines()) this.#begin(name, target)
  }

  membership(): FleetReport | null {
    const { fleet } = this.#deps
    if (!fleet) return null
    return { name: fleet.name, ...(this.#joined?.state ?? { state: 'joining', reason: null }) }
  }

  list(): MachineReport[] {
    const { copies } = this.#deps.engine
    return copies.machines().flatMap(({ name, target }) => {
      const member = this.#members.get(name)
      return member ? [{ name, target, sessions: copies.count(name), ...member.state }] : []
    })
  }

  /** Tries it first: what cannot be reached is not added. */
  async add(name: string, target: string): Promise<void> {
    const trial = new AbortController()
    try {
      const link = await this.#reachOf(name, target)(trial.signal)
      await link.hello()
      link.close()
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw new CorralError(
        'machine_unreachable',
        `${name} does not answer: ${reason}`,
        { machine: name },
        error,
      )
    } finally {
      trial.abort()
    }
    await this.#deps.engine.copies.addMachine({ name, target })
    this.#begin(name, target)
  }

  async remove(name: string): Promise<void> {
    if (this.#joined?.names().includes(name)) {
      const message = `${name} is in the fleet; it can be removed here when it is not any more`
      throw new CorralError('invalid', message, { field: 'name' })
    }
    await this.#members.get(name)?.close()
    this.#members.delete(name)
    await this.#deps.engine.copies.removeMachine(name)
  }

  call(name: string, method: string, params: unknown, caller: Caller | null): Promise<unknown> {
    const member = this.#members.get(name)
    return member ? member.call(method, params, caller) : Promise.reject(noMachine(name))
  }

  async close(): Promise<void> {
    const membership = await this.#membership
    await Promise.all(
      [...this.#members.values(), ...(membership ? [membership] : [])].map((one) => one.close()),
    )
  }

  #begin(name: string, target: string): void {
    const { engine, warn } = this.#deps
    const member = new Member({ name, reach: this.#reachOf(name, target), engine, now: Date.now, warn })
    this.#members.set(name, member)
  }

  /** Somebody of the fleet is there. */
  async #seen(name: string): Promise<void> {
    const { engine, warn } = this.#deps
    if (this.#members.has(name) || this.#adding.has(name) || !this.#joined?.names().includes(name)) return
    this.#adding.add(name)
    try {
      await engine.copies.addMachine({ name, target: BY_NATS })
      this.#begin(name, BY_NATS)
    } catch (error) {
      warn(`${name} of the fleet cannot be added`, error)
    } finally {
      this.#adding.delete(name)
    }
  }

  /** A path is the socket of a daemon on this machine; all else is for ssh. */
  #reachOf(name: string, target: string): Reach {
    if (target.startsWith('/')) return () => linkTo(target)
    if (target === BY_NATS) return this.#byNats(name)
    const { directory, env } = this.#deps
    return async (signal) => {
      mkdirSync(directory, { recursive: true, mode: 0o700 })
      const socket = join(directory, `${name}.sock`)
      const tunnel = await openTunnel({ target, socket, env, signal })
      const link = await linkTo(socket).catch((error: Error) => {
        tunnel.close()
        throw new Error(`no daemon listens there; start one with: corral start --detach`, { cause: error })
      })
      void tunnel.closed.then(() => link.close())
      return {
        ...link,
        close() {
          link.close()
          tunnel.close()
        },
      }
    }
  }

  #byNats(name: string): Reach {
    let reach: Reach | null = null
    return async (signal) => {
      const membership = await this.#membership
      if (!membership) throw new Error('this machine is in no fleet any more (fleet.url)')
      reach ??= membership.reach(name)
      return reach(signal)
    }
  }
}
