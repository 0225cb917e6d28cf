import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/*
 * Who a process is. A pid alone is no identity, since pids are used again; with its start time and the machine's boot it is.
 */

/** Changes with every start of the machine. */
export const BOOT_ID = readBootId()

function readBootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return quietly('sysctl', ['-n', 'kern.bootsessionuuid']) ?? 'unknown'
  }
}

/** When a process began, in whatever form the system tells it; null when it is gone or only waits to be reaped. */
export function startTime(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The command's name, in parentheses, may hold anything; the fields after it are plain.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' || fields[0] === 'X' ? null : (fields[19] ?? null)
  } catch {
    if (process.platform === 'linux') return null
    return quietly('ps', ['-o', 'lstart=', '-p', String(pid)])
  }
}

/** The command line of a process, for finding out whether a stray one is ours. */
export function commandLine(pid: number): string | null {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    if (process.platform === 'linux') return null
    return quietly('ps', ['-o', 'command=', '-p', String(pid)])
  }
}

/** Signals a whole process group; false when there is nobody left in it. */
export function signalGroup(leader: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(-leader, signal)
    return true
  } catch {
    return false
  }
}

/** What an agent has started in groups of their own and left behind; its children inherit the mark. Linux only. */
export function endMarked(mark: string): void {
  if (process.platform !== 'linux') return
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'latin1')
      if (`\0${environment}`.includes(`\0${mark}\0`)) process.kill(Number(pid), 'SIGKILL')
    } catch {
      // Not ours to read, or gone already.
    }
  }
}

/** Processes by pid, with when they began. */
export type Known = ReadonlyMap<number, string>

/** All that has come of a process and still hangs below it, wherever it went: in no group, no session and no environment of its. Linux only. */
export function descendants(ancestor: number): Known {
  const found = new Map<number, string>()
  if (process.platform !== 'linux') return found
  const rows = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => rowOf(Number(name)) ?? [])
  const children = Map.groupBy(rows, (row) => row.parent)
  const parents = [ancestor]
  for (let parent = parents.pop(); parent !== undefined; parent = parents.pop()) {
    for (const { pid, start } of children.get(parent) ?? []) {
      if (found.has(pid)) continue
      found.set(pid, start)
      parents.push(pid)
    }
  }
  return found
}

function rowOf(pid: number): { pid: number; parent: number; start: string } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { pid, parent: Number(fields[1]), start: fields[19] ?? '' }
  } catch {
    return null
  }
}

/** Those of them that are still who they were. */
export function endKnown(known: Known): void {
  for (const [pid, start] of known) {
    try {
      if (startTime(pid) === start) process.kill(pid, 'SIGKILL')
    } catch {
      // Gone already, or not ours to end.
    }
  }
}

function quietly(command: string, args: string[]): string | null {
  try {
    const env = { ...process.env, TZ: 'UTC', LC_ALL: 'C' } // a start time must read the same whoever asks
    const output = execFileSync(command, args, { encoding: 'utf8', env, stdio: ['ignore', 'pipe', 'ignore'] })
    return output.trim() || null
  } catch {
    return null
  }
}
