import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

const POLL_MS = 25

/** A zombie counts as ended: in a container it may stay for a while. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  try {
    return !/\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return process.platform !== 'linux'
  }
}

/** Whether it has ended within this time. */
export async function hasEnded(pid: number, withinMs: number): Promise<boolean> {
  for (const deadline = Date.now() + withinMs; isAlive(pid); await delay(POLL_MS)) {
    if (Date.now() > deadline) return false
  }
  return true
}
