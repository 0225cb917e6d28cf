import { createHash } from 'node:crypto'
import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RunRow } from '../../core/ports.ts'
import type { Session } from '../../core/session.ts'
import type { AgentDriver, Detection } from '../agent.ts'
import { isWorn } from './journal.ts'
import { BOOT_ID, startTime } from './process.ts'
import type { HostDeps } from './deps.ts'
import type { Launcher } from './launcher.ts'
import type { Run } from './run.ts'
import type { Seats } from './seats.ts'
import { discard } from './spares.ts'
import { runFiles } from './wrapper.ts'

interface SharingDeps extends Pick<HostDeps, 'sink' | 'env' | 'newId' | 'options'> {
  launch: Launcher
  follow: (row: RunRow, driver: AgentDriver) => Promise<Run>
  reserve: Seats['reserve']
}

type Process = Pick<RunRow, 'process' | 'pid' | 'startTime' | 'bootId'>

/** A seat in a process, kept until it is taken. */
interface Reservation {
  process: Process
  release: () => void
}

/** Processes that hold many sessions. */
export class Sharing {
  readonly #deps: SharingDeps
  /** By what must be the same for all who share. */
  readonly #processes = new Map<string, Process[]>()
  readonly #starting = new Map<string, Promise<void>>()

  constructor(deps: SharingDeps) {
    this.#deps = deps
  }

  /** A process of an earlier daemon's. */
  know(row: RunRow): void {
    const file = join(this.#deps.options.runsDir, row.process, KEY_FILE)
    const key = existsSync(file) ? readFileSync(file, 'utf8') : null
    const known = this.#processes.get(key ?? '') ?? []
    if (key === null || known.some(({ process }) => process === row.process)) return
    this.#processes.set(key, [...known, row])
  }

  /** Brings this session into a process that has a free seat, or into a new one. */
  async join(session: Session, driver: AgentDriver, detection: Detection): Promise<Run> {
    const { env, newId, sink, options } = this.#deps
    const lines = driver.shared!.join(session)
    const { process, release } = await this.#reserve(keyOf(detection, env), driver, detection)
    try {
      const offset = endOfLines(runFiles(join(options.runsDir, process.process)).journal)
      const row: RunRow = { ...process, id: newId(), sessionId: session.id, offset, turnOffset: offset }
      await sink.started(session.id, row, session.nativeId !== null)
      const run = await this.#deps.follow(row, driver)
      await run.write(lines)
      return run
    } finally {
      release()
    }
  }

  /** One process starts at a time: ten sessions that begin at once are in one. */
  async #reserve(key: string, driver: AgentDriver, detection: Detection): Promise<Reservation> {
    for (;;) {
      const underWay = this.#starting.get(key)
      if (underWay) {
        await underWay.catch(() => undefined)
        continue
      }
      const free = this.#reserveIn(key, driver.shared!.sessions)
      if (free) return free
      const started = this.#begin(key, driver, detection)
        .then((process) => void this.#processes.set(key, [...(this.#processes.get(key) ?? []), process]))
        .finally(() => this.#starting.delete(key))
      this.#starting.set(key, started)
      await started
    }
  }

  /** In one of the processes that run; null when they are full. */
  #reserveIn(key: string, sessions: number): Reservation | null {
    const alive = (this.#processes.get(key) ?? []).filter((process) => this.#isUsable(process))
    this.#processes.set(key, alive)
    for (const process of alive) {
      const release = this.#deps.reserve(process.process, sessions)
      if (release) return { process, release }
    }
    return null
  }

  #isUsable({ process, pid, startTime: began }: Process): boolean {
    const { exit, journal } = runFiles(join(this.#deps.options.runsDir, process))
    return startTime(pid) === began && !existsSync(exit) && !isWorn(journal)
  }

  async #begin(key: string, driver: AgentDriver, detection: Detection): Promise<Process> {
    const plan = driver.shared!.plan(detection, this.#deps.options.runsDir)
    const launched = await this.#deps.launch(plan, driver.name)
    writeFileSync(join(launched.dir, KEY_FILE), key, { mode: 0o600 })
    const pid = launched.child.pid!
    const began = startTime(pid)
    if (began !== null) return { process: launched.id, pid, startTime: began, bootId: BOOT_ID }
    await discard(launched)
    throw new Error(`${driver.title} ended as soon as it was started`)
  }
}

/** In a process's folder: who may come into it. */
const KEY_FILE = 'key'

/** The same program in the same environment: whatever an account is chosen by is in there somewhere. */
function keyOf({ path }: Detection, env: NodeJS.ProcessEnv): string {
  const entries = Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256')
    .update(JSON.stringify([path, entries]))
    .digest('hex')
}

const CHUNK = 64 * 1024

/** The byte after the last whole line: what follows is being written. */
function endOfLines(path: string): number {
  const fd = openSync(path, 'r')
  try {
    const buffer = Buffer.allocUnsafe(CHUNK)
    for (let end = fstatSync(fd).size; end > 0;) {
      const start = Math.max(0, end - CHUNK)
      const length = readSync(fd, buffer, 0, end - start, start)
      const lf = buffer.subarray(0, length).lastIndexOf(10)
      if (lf >= 0) return start + lf + 1
      end = start
    }
    return 0
  } finally {
    closeSync(fd)
  }
}
