import { createHash } from 'node:crypto'
import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentSink, RunRow } from '../../core/ports.ts'
import type { Session } from '../../core/session.ts'
import type { AgentDriver, Detection, LaunchPlan } from '../agent.ts'
import { isWorn } from './journal.ts'
import { BOOT_ID, startTime } from './process.ts'
import type { Run } from './run.ts'
import type { Seats } from './seats.ts'
import { discard } from './spares.ts'
import { runFiles, type Launched } from './wrapper.ts'

interface SharingDeps {
  sink: AgentSink
  env: NodeJS.ProcessEnv
  newId: () => string
  options: { runsDir: string }
  launch: (plan: LaunchPlan, agent: string) => Promise<Launched>
  follow: (row: RunRow, driver: AgentDriver) => Promise<Run>
  reserve: Seats['reserve']
}

type Process = Pick<RunRow, 'process' | 'pid' | 'startTime' | 'bootId'>

/** A place in a process, kept until it is taken. */
interface Place {
  process: Process
  release: () => void
}

/** Processes that hold many sessions. */
export interface Sharing {
  /** A place for this session in a process that has room, or in a new one. */
  join(session: Session, driver: AgentDriver, detection: Detection): Promise<Run>
  /** A process of an earlier daemon's. */
  know(row: RunRow): void
}

export function createSharing(deps: SharingDeps): Sharing {
  const { sink, options, newId } = deps
  /** By what must be the same for all who share. */
  const processes = new Map<string, Process[]>()
  const starting = new Map<string, Promise<void>>()

  function usable({ process, pid, startTime: began }: Process): boolean {
    const { exit, journal } = runFiles(join(options.runsDir, process))
    return startTime(pid) === began && !existsSync(exit) && !isWorn(journal)
  }

  function freePlace(key: string, sessions: number): Place | null {
    const alive = (processes.get(key) ?? []).filter(usable)
    processes.set(key, alive)
    for (const process of alive) {
      const release = deps.reserve(process.process, sessions)
      if (release) return { process, release }
    }
    return null
  }

  /** One process starts at a time: ten sessions that begin at once are in one. */
  async function placeFor(key: string, driver: AgentDriver, detection: Detection): Promise<Place> {
    for (;;) {
      const underWay = starting.get(key)
      if (underWay) {
        await underWay.catch(() => undefined)
        continue
      }
      const place = freePlace(key, driver.shared!.sessions)
      if (place) return place
      const started = begin(key, driver, detection)
        .then((process) => void processes.set(key, [...(processes.get(key) ?? []), process]))
        .finally(() => starting.delete(key))
      starting.set(key, started)
      await started
    }
  }

  async function begin(key: string, driver: AgentDriver, detection: Detection): Promise<Process> {
    const launched = await deps.launch(driver.shared!.plan(detection, options.runsDir), driver.name)
    writeFileSync(join(launched.dir, KEY_FILE), key, { mode: 0o600 })
    const pid = launched.child.pid!
    const began = startTime(pid)
    if (began !== null) return { process: launched.id, pid, startTime: began, bootId: BOOT_ID }
    await discard(launched)
    throw new Error(`${driver.title} ended as soon as it was started`)
  }

  return {
    know(row) {
      const file = join(options.runsDir, row.process, KEY_FILE)
      const key = existsSync(file) ? readFileSync(file, 'utf8') : null
      const known = processes.get(key ?? '') ?? []
      if (key === null || known.some(({ process }) => process === row.process)) return
      processes.set(key, [...known, row])
    },
    async join(session, driver, detection) {
      const lines = driver.shared!.join(session)
      const { process, release } = await placeFor(keyOf(detection, deps.env), driver, detection)
      try {
        const offset = endOfLines(runFiles(join(options.runsDir, process.process)).journal)
        const row: RunRow = { ...process, id: newId(), sessionId: session.id, offset, turnOffset: offset }
        await sink.started(session.id, row, session.nativeId !== null)
        const run = await deps.follow(row, driver)
        await run.write(lines)
        return run
      } finally {
        release()
      }
    },
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
