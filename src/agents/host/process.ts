import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

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

function quietly(command: string, args: string[]): string | null {
  try {
    return (
      execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim() || null
    )
  } catch {
    return null
  }
}
