import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { setImmediate as breathe } from 'node:timers/promises'
import { promisify } from 'node:util'

/** One process of this machine. */
export interface ProcessRow {
  pid: number
  parent: number
  group: number
  /** When it began, as the system tells it; null where it does not. */
  start: string | null
  /** Resident memory, where the list tells it. */
  rssBytes: number | null
}

export interface ProcessTable {
  rows: ProcessRow[]
  /** The run whose mark a process carries; it is inherited, so it also tells of those whose parents are gone. */
  markOf: (row: ProcessRow) => string | null
}

/** Looks that are made before others have their turn: reading about a process takes about a tenth of a millisecond. */
const AT_A_TIME = 20
const MARK = /(?:^|\0)CORRAL_RUN=([^\0]+)/
const run = promisify(execFile)

/** Returns how to look at all processes. It remembers marks, which never change, so that it looks for each only once. */
export function createProcessLook(): () => Promise<ProcessTable> {
  if (process.platform !== 'linux') return async () => ({ rows: await listWithPs(), markOf: () => null })
  let known = new Map<string, string | null>()
  return async () => {
    const rows = await listFromProc()
    const before = known
    known = new Map()
    for (const [index, row] of rows.entries()) {
      const identity = `${row.pid} ${row.start}`
      const mark = before.get(identity)
      known.set(identity, mark === undefined ? readMark(row.pid) : mark)
      if (mark === undefined && index % AT_A_TIME === 0) await breathe()
    }
    const marks = known
    return { rows, markOf: (row) => marks.get(`${row.pid} ${row.start}`) ?? null }
  }
}

async function listFromProc(): Promise<ProcessRow[]> {
  const rows: ProcessRow[] = []
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  for (const [index, pid] of pids.entries()) {
    const row = readRow(pid)
    if (row) rows.push(row)
    if (index % AT_A_TIME === 0) await breathe()
  }
  return rows
}

function readRow(pid: string): ProcessRow | null {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return null // gone already
  }
}

/** The command's name, in parentheses, may hold anything; the fields after it are plain. */
export function parseStat(stat: string): ProcessRow {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return {
    pid: Number.parseInt(stat, 10),
    parent: Number(fields[1]),
    group: Number(fields[2]),
    start: fields[19] ?? null,
    rssBytes: null,
  }
}

function readMark(pid: number): string | null {
  try {
    return MARK.exec(readFileSync(`/proc/${pid}/environ`, 'latin1'))?.[1] ?? null
  } catch {
    return null // not ours to read, or gone
  }
}

/** For systems without /proc. */
export async function listWithPs(): Promise<ProcessRow[]> {
  const { stdout } = await run('ps', ['-axo', 'pid=,ppid=,pgid=,rss='], { maxBuffer: 16 * 1024 ** 2 })
  return parsePs(stdout)
}

export function parsePs(text: string): ProcessRow[] {
  return text.split('\n').flatMap((line) => {
    const [pid, parent, group, kilobytes] = line.trim().split(/\s+/).map(Number)
    if (!pid || parent === undefined || group === undefined || kilobytes === undefined) return []
    return [{ pid, parent, group, start: null, rssBytes: kilobytes * 1024 }]
  })
}

/**
 * What a process really costs: pages that it shares with others count in parts (PSS). Fifty processes of the same program
 * would otherwise seem to need it fifty times. Where the system does not say, all that is resident counts.
 */
export async function footprint({ pid, rssBytes }: ProcessRow): Promise<number> {
  if (rssBytes !== null) return rssBytes
  return (
    (await kilobytesIn(`/proc/${pid}/smaps_rollup`, /^Pss:\s+(\d+) kB/m)) ??
    (await kilobytesIn(`/proc/${pid}/status`, /^VmRSS:\s+(\d+) kB/m)) ??
    0
  )
}

async function kilobytesIn(path: string, pattern: RegExp): Promise<number | null> {
  try {
    const found = pattern.exec(await readFile(path, 'latin1'))
    return found ? Number(found[1]) * 1024 : null
  } catch {
    return null // not ours to read, or gone
  }
}
