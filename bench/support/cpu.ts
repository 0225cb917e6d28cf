import { readFileSync } from 'node:fs'
import { pause } from './stats.ts'

/** Only Linux tells it without starting a program. */
export const cpuUntold = process.platform === 'linux' ? false : 'only Linux tells what a process uses'

/** Of the kernel's clock; 100 on every machine of today. */
const TICKS_PER_SECOND = 100

/** Percent of a core that a process, and nothing that it has started, uses in the next milliseconds. */
export async function cpuOf(pid: number, ms: number): Promise<number> {
  const [from, before] = [performance.now(), ticks(pid)]
  await pause(ms)
  const seconds = (performance.now() - from) / 1000
  return ((ticks(pid) - before) / TICKS_PER_SECOND / seconds) * 100
}

function ticks(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}
