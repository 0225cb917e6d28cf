import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { freemem, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

/** Memory that this daemon and its agents can run out of: the machine's, or less where a container or a unit has a limit. */
export interface Memory {
  totalBytes: number
  availableBytes: number
}

/** Where the system tells about itself; tests have a place of their own. */
export interface SystemFiles {
  proc: string
  cgroup: string
}

const SYSTEM: SystemFiles = { proc: '/proc', cgroup: '/sys/fs/cgroup' }
const run = promisify(execFile)

export async function lookAtMemory(files: SystemFiles = SYSTEM): Promise<Memory> {
  const machine = parseMeminfo(textOf(join(files.proc, 'meminfo')) ?? '') ?? (await elsewhere())
  return scarcest(machine, limitsOn(files))
}

/** `MemFree` would count caches as used, and every machine that has been up for a day as full. */
export function parseMeminfo(text: string): Memory | null {
  const bytes = (name: string): number | null => {
    const found = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)
    return found ? Number(found[1]) * 1024 : null
  }
  const totalBytes = bytes('MemTotal')
  const availableBytes = bytes('MemAvailable')
  return totalBytes === null || availableBytes === null ? null : { totalBytes, availableBytes }
}

/** macOS says itself how many per cent it could still give; what it calls free is next to nothing on a healthy machine. */
async function elsewhere(): Promise<Memory> {
  const totalBytes = totalmem()
  if (process.platform !== 'darwin') return { totalBytes, availableBytes: freemem() }
  try {
    const { stdout } = await run('sysctl', ['-n', 'kern.memorystatus_level'])
    const percent = Number.parseInt(stdout, 10)
    if (percent >= 0 && percent <= 100) return { totalBytes, availableBytes: (totalBytes * percent) / 100 }
  } catch {
    // An older system: the next best thing.
  }
  return { totalBytes, availableBytes: freemem() }
}

function scarcest(machine: Memory, limits: Memory[]): Memory {
  return limits.reduce(
    (least, limit) => (limit.availableBytes < least.availableBytes ? limit : least),
    machine,
  )
}

/** The limits on our control group and on those around it. */
function limitsOn({ proc, cgroup }: SystemFiles): Memory[] {
  const own = /^0::(\/.*)$/m.exec(textOf(join(proc, 'self', 'cgroup')) ?? '')?.[1]
  if (own === undefined) return []
  const limits: Memory[] = []
  for (let group = own; ; group = dirname(group)) {
    const limit = limitOf(join(cgroup, group))
    if (limit) limits.push(limit)
    if (group === '/') return limits
  }
}

function limitOf(group: string): Memory | null {
  const totalBytes = Number.parseInt(textOf(join(group, 'memory.max')) ?? 'max', 10)
  const current = Number.parseInt(textOf(join(group, 'memory.current')) ?? '', 10)
  if (Number.isNaN(totalBytes) || Number.isNaN(current)) return null
  // What files have left in memory goes when it is needed.
  const cached = /^inactive_file (\d+)$/m.exec(textOf(join(group, 'memory.stat')) ?? '')?.[1] ?? '0'
  const used = Math.max(0, current - Number(cached))
  return { totalBytes, availableBytes: Math.max(0, totalBytes - used) }
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return null
  }
}
