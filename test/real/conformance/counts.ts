import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

export interface Process {
  pid: number
  parent: number
  command: string
}

/** What a daemon holds, and what its agents have left. */
export interface Counts {
  /** Living processes with the mark in their environment. */
  processes: string[]
  /** Children that nobody has reaped. */
  zombies: number
  files: string[]
  sockets: number
  /** Directories of runs. */
  runs: string[]
}

export function count(daemon: number | 'self', mark: string, runsDir: string): Counts {
  const parent = daemon === 'self' ? process.pid : daemon
  const open = openFiles(daemon)
  const files = open.filter((path) => !path.startsWith('socket:'))
  return {
    processes: marked(mark).map(({ pid, command }) => `${pid} ${command}`),
    zombies: pids().filter((pid) => isZombieOf(pid, parent)).length,
    files: files.toSorted(),
    sockets: open.length - files.length,
    runs: readdirSync(runsDir),
  }
}

/** Whether there is not more of anything than before. */
export function isBackTo(before: Counts, now: Counts): boolean {
  return (
    now.processes.length <= before.processes.length &&
    now.runs.length <= before.runs.length &&
    now.zombies <= before.zombies &&
    now.files.length <= before.files.length &&
    now.sockets <= before.sockets
  )
}

/** The processes that have this in their environment. */
export function marked(text: string): Process[] {
  return pids().flatMap((pid) => {
    try {
      if (!readFileSync(`/proc/${pid}/environ`, 'latin1').includes(text)) return []
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
      return [{ pid, parent: Number(statOf(pid)[1]), command }]
    } catch {
      return [] // It ended while we looked, or is not ours to read.
    }
  })
}

/** `R`, `S`, `T` for stopped, … */
export function stateOf(pid: number): string {
  return statOf(pid)[0]!
}

/** What is in the directories of sessions beside what tests write there. */
export function leftIn(directories: string[]): string[] {
  return directories.flatMap((directory) => {
    const names = readdirSync(directory).filter((name) => !name.endsWith('.txt'))
    return names.map((name) => join(directory, name))
  })
}

function pids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
}

function isZombieOf(pid: number, daemon: number): boolean {
  try {
    const [state, parent] = statOf(pid)
    return state === 'Z' && Number(parent) === daemon
  } catch {
    return false
  }
}

/** The fields after the command's name, which may hold anything. */
function statOf(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/** SQLite keeps what a connection has closed for the next one, and Node its one watch of the file system. */
const KEPT = /\/corral\.db[^/]*$|^anon_inode:inotify$/

function openFiles(pid: number | 'self'): string[] {
  const open = readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)]
    } catch {
      return [] // the one that lists them
    }
  })
  return open.filter((path) => !KEPT.test(path))
}
