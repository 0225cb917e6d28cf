import { readdir, readFile, readlink, realpath } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Holder } from '../core/adoption.ts'
import type { Kept } from './store.ts'

/*
 * Which programs run on this machine, for whoever wants to know whether one of them has a conversation open. Linux only: elsewhere
 * there are none to be seen, and only what an agent itself writes down is known.
 */

export interface Program {
  pid: number
  args: string[]
  cwd: string | null
  startedAt: number
}

export interface Processes {
  /** Those of an agent, by the name of its program; without those that this Corral runs. */
  of(name: string): Promise<Program[]>
  openFiles(pid: number): Promise<string[]>
}

const TICKS_PER_SECOND = 100
/** These run a program that they are given: `node /usr/bin/gemini`. */
const RUNNERS = /^(?:node|nodejs|bun|deno|sh|bash|dash)$/

/** As they are now. */
export function lookAtProcesses(env: NodeJS.ProcessEnv): Processes {
  let commands: Promise<{ pid: number; args: string[] }[]> | null = null
  return {
    async of(name) {
      const all = await (commands ??= readCommands())
      const mine = all.filter(({ args }) => isProgram(args, name))
      const found = await Promise.all(mine.map((one) => programOf(one, env)))
      return found.filter((program) => program !== null)
    },
    openFiles,
  }
}

async function readCommands(): Promise<{ pid: number; args: string[] }[]> {
  if (process.platform !== 'linux') return []
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    pids.map(async (pid) => {
      const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      return { pid: Number(pid), args: command.split('\0').slice(0, -1) }
    }),
  )
  return found.filter(({ args }) => args.length > 0)
}

function isProgram(args: readonly string[], name: string): boolean {
  const [first = '', ...rest] = args
  const isIt = (word: string): boolean => basename(word).replace(/\.(?:exe|js|mjs|cjs)$/, '') === name
  const given = rest.find((word) => !word.startsWith('-'))
  return isIt(first) || (RUNNERS.test(basename(first)) && given !== undefined && isIt(given))
}

async function programOf(
  { pid, args }: { pid: number; args: string[] },
  env: NodeJS.ProcessEnv,
): Promise<Program | null> {
  try {
    if (await isOurs(pid, env)) return null
    const [stat, uptime] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'utf8'),
      readFile('/proc/uptime', 'utf8'),
    ])
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (state === 'Z' || state === 'X') return null
    const age = Number.parseFloat(uptime) - Number(fields[18]) / TICKS_PER_SECOND
    const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => null)
    return { pid, args, cwd, startedAt: Date.now() - age * 1000 }
  } catch {
    return null // It ended while we looked.
  }
}

/** What a session of this very Corral runs is known to Corral. */
async function isOurs(pid: number, { CORRAL_HOME: home }: NodeJS.ProcessEnv): Promise<boolean> {
  if (home === undefined) return false
  const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')
  const all = `\0${environment}\0`
  return all.includes('\0CORRAL_RUN=') && all.includes(`\0CORRAL_HOME=${home}\0`)
}

async function openFiles(pid: number): Promise<string[]> {
  const directory = `/proc/${pid}/fd`
  const names = await readdir(directory).catch(() => [])
  const paths = await Promise.all(names.map((name) => readlink(`${directory}/${name}`).catch(() => '')))
  return paths.filter((path) => path.startsWith('/'))
}

/**
 * For an agent that does not say which conversation a process of its has open. One that is named on the command line is; any other of
 * the same directory may be. A process that names one has that one open, unless another has changed since it began.
 */
export async function likelyHolder(
  programs: readonly Program[],
  { id, cwd, updatedAt }: Kept,
  isId: RegExp,
): Promise<Holder | null> {
  const place = await realpath(cwd).catch(() => cwd)
  let likely: Holder | null = null
  for (const { pid, args, cwd: at, startedAt } of programs) {
    const named = args.flatMap((word) => word.split('=')).filter((word) => isId.test(word))
    if (named.includes(id)) return { pid, certain: true, endedBy: null }
    if (at !== place) continue
    if (named.length === 0 || updatedAt >= startedAt) likely = { pid, certain: false, endedBy: null }
  }
  return likely
}
