import type { Log } from '../core/ports.ts'
import { type Session, type Tier, tierOf } from '../core/session.ts'
import { together } from '../core/together.ts'
import { lookAtMemory, type Memory } from './memory.ts'
import { createProcessLook, footprint, type ProcessRow, type ProcessTable } from './processes.ts'

/** What the machine, this daemon and its agents use at one moment. */
export interface Sample {
  at: number
  totalBytes: number
  usedBytes: number
  daemonBytes: number
  /** All processes of all agents, with all that they have started. */
  agentsBytes: number
  active: number
  warm: number
  cold: number
}

export interface SessionResources {
  sessionId: string
  agent: string
  tier: Tier
  pid: number | null
  /** Sessions in one process share its memory evenly. */
  bytes: number
  activeAt: number
}

export interface Resources extends Sample {
  /** Those that are not cold. */
  sessions: SessionResources[]
}

export interface ResourceDeps {
  log: Pick<Log, 'unfinished' | 'countSessions'>
  now?: () => number
  memory?: () => Promise<Memory>
  processes?: () => Promise<ProcessTable>
}

/** Memory of this many processes is looked up at once: it is work for the pool that file reads wait for, too. */
const LANES = 2

/** Returns how to take a sample. Calls that come while one is being taken get that one. */
export function createResources(deps: ResourceDeps): () => Promise<Resources> {
  const { log, now = Date.now, memory = lookAtMemory, processes = createProcessLook() } = deps

  async function take(): Promise<Resources> {
    const unfinished = log.unfinished()
    const withProcess = unfinished.some((session) => session.run !== null)
    const [machine, table] = await Promise.all([memory(), withProcess ? processes() : EMPTY])
    const bytes = await bytesByRoot(table, rootsOf(unfinished))
    const sessions = resourcesOf(unfinished, bytes)
    const total = Object.values(log.countSessions()).reduce((sum, count) => sum + count, 0)
    const count = (tier: Tier): number => sessions.filter((session) => session.tier === tier).length
    return {
      at: now(),
      totalBytes: machine.totalBytes,
      usedBytes: machine.totalBytes - machine.availableBytes,
      daemonBytes: process.memoryUsage.rss(),
      agentsBytes: [...bytes.values()].reduce((sum, one) => sum + one, 0),
      active: count('active'),
      warm: count('warm'),
      cold: Math.max(0, total - sessions.length),
      sessions,
    }
  }

  return together(take)
}

const EMPTY: ProcessTable = { rows: [], markOf: () => null }

/** The process that an agent began as; its pid names it. */
export interface Root {
  pid: number
  start: string
  /** What everything that it started carries in its environment. */
  mark: string
}

function rootsOf(sessions: readonly Session[]): Root[] {
  const roots = sessions.flatMap(({ run }) =>
    run ? [{ pid: run.pid, start: run.startTime, mark: run.id }] : [],
  )
  return [...new Map(roots.map((root) => [root.pid, root])).values()]
}

/**
 * To which agent each process belongs, by the pid of the agent's first one: it is in its group, or descends from it, or
 * carries its mark; the first one itself may be gone. A pid that somebody else has meanwhile is nobody's group.
 */
export function ownersOf({ rows, markOf }: ProcessTable, roots: readonly Root[]): Map<number, number> {
  const byPid = new Map(rows.map((row) => [row.pid, row]))
  const groups = new Set(
    roots.filter(({ pid, start }) => (byPid.get(pid)?.start ?? start) === start).map((root) => root.pid),
  )
  const marks = new Map(roots.map(({ mark, pid }) => [mark, pid]))
  const owners = new Map<number, number | null>()

  function ownerOf(row: ProcessRow): number | null {
    const known = owners.get(row.pid)
    if (known !== undefined) return known
    owners.set(row.pid, null) // a table that was read while it changed may have a circle
    const parent = byPid.get(row.parent)
    const owner = groups.has(row.group)
      ? row.group
      : ((parent && ownerOf(parent)) ?? marks.get(markOf(row) ?? '') ?? null)
    owners.set(row.pid, owner)
    return owner
  }

  const found = rows.map((row) => [row.pid, ownerOf(row)] as const)
  return new Map(found.filter((pair): pair is [number, number] => pair[1] !== null))
}

async function bytesByRoot(table: ProcessTable, roots: readonly Root[]): Promise<Map<number, number>> {
  const owners = ownersOf(table, roots)
  const rows = table.rows.filter((row) => owners.has(row.pid))
  const bytes = new Map<number, number>()
  const lane = async (): Promise<void> => {
    for (let row = rows.pop(); row; row = rows.pop()) {
      const size = await footprint(row)
      const owner = owners.get(row.pid)!
      bytes.set(owner, (bytes.get(owner) ?? 0) + size)
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  return bytes
}

/** Sessions that have a process or a turn, each with its share. */
export function resourcesOf(
  unfinished: readonly Session[],
  bytes: ReadonlyMap<number, number>,
): SessionResources[] {
  const sharers = Map.groupBy(unfinished, (session) => session.run?.pid ?? null)
  return unfinished
    .filter((session) => !session.destroyed && tierOf(session) !== 'cold')
    .map((session) => {
      const pid = session.run?.pid ?? null
      const whole = pid === null ? 0 : (bytes.get(pid) ?? 0)
      const { id: sessionId, agent, activeAt } = session
      const share = Math.round(whole / sharers.get(pid)!.length)
      return { sessionId, agent, tier: tierOf(session), pid, bytes: share, activeAt }
    })
}
