import { readdirSync, readFileSync } from 'node:fs'

/** Memory of processes in MB. What several of them share is divided between them, what is swapped out counts. */
export interface Memory {
  readonly processes: number
  readonly mb: number
}

/** Only Linux tells it. */
export const memoryUntold = process.platform === 'linux' ? false : 'only Linux tells what processes share'

/** All that a process has started and that still runs, itself left out. */
export function below(pid: number): number[] {
  const children = Map.groupBy(everybody(), parentOf).get(pid) ?? []
  return children.flatMap((child) => [child, ...below(child)])
}

export function memoryOfAll(pids: readonly number[]): Memory {
  const sizes = pids.map(proportionalKb).filter((kb) => kb > 0)
  return { processes: sizes.length, mb: sizes.reduce((sum, kb) => sum + kb, 0) / 1024 }
}

function everybody(): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger)
}

function parentOf(pid: number): number | null {
  const stat = read(pid, 'stat')
  return stat === '' ? null : Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
}

function proportionalKb(pid: number): number {
  const found = read(pid, 'smaps_rollup').matchAll(/^(?:Swap)?Pss: +(\d+)/gm)
  return [...found].reduce((sum, [, kb]) => sum + Number(kb), 0)
}

/** Nothing of a process that has ended. */
function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
