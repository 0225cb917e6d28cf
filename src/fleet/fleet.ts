import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Engine } from '../core/api.ts'
import { noMachine } from '../core/copying.ts'
import { CorralError } from '../core/error.ts'
import type { Caller, Reach } from './link.ts'
import { Member, type MemberState } from './member.ts'
import { linkTo } from './native-link.ts'
import { openTunnel } from './ssh.ts'

export interface FleetDeps {
  /** The engine itself: what is copied goes into its log. */
  engine: Engine
  /** Where sockets of other machines are made available. */
  directory: string
  env: NodeJS.ProcessEnv
  warn(message: string, error?: unknown): void
}

export type MachineReport = { name: string; target: string; sessions: number } & MemberState

/** The other machines, each with a connection of its own. */
export class Fleet {
  readonly #deps: FleetDeps
  readonly #members = new Map<string, Member>()

  constructor(deps: FleetDeps) {
    this.#deps = deps
    for (const { name, target } of deps.engine.copies.machines()) this.#begin(name, target)
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
    await this.#members.get(name)?.close()
    this.#members.delete(name)
    await this.#deps.engine.copies.removeMachine(name)
  }

  call(name: string, method: string, params: unknown, caller: Caller | null): Promise<unknown> {
    const member = this.#members.get(name)
    return member ? member.call(method, params, caller) : Promise.reject(noMachine(name))
  }

  async close(): Promise<void> {
    await Promise.all([...this.#members.values()].map((member) => member.close()))
  }

  #begin(name: string, target: string): void {
    const { engine, warn } = this.#deps
    const member = new Member({ name, reach: this.#reachOf(name, target), engine, now: Date.now, warn })
    this.#members.set(name, member)
  }

  /** A path is the socket of a daemon on this machine; all else is for ssh. */
  #reachOf(name: string, target: string): Reach {
    if (target.startsWith('/')) return () => linkTo(target)
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
}
