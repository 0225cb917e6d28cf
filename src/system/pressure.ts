import type { Memory } from './memory.ts'
import type { Resources, SessionResources } from './resources.ts'

/** Per cent of the memory in use; null: a default that leaves room according to the machine's size. */
export interface PressureSettings {
  maxMemoryPercent: number | null
  emergencyMemoryPercent: number | null
}

export type Level = 'normal' | 'warning' | 'critical' | 'emergency'

interface Limits {
  maxBytes: number
  emergencyBytes: number
}

const GIB = 1024 ** 3
/** Short of the limit by this part: close to it on the way up, and how far things go down once it was reached. */
const NEAR = 0.95
/** Whoever was just talked to is likely to be talked to again: below an emergency, it stays. */
const FRESH_MS = 2 * 60 * 1000

/** By default a fifth of the memory stays free for others, but never more than 4 GiB; in an emergency it is half of that. */
export function limitsOf(totalBytes: number, settings: PressureSettings): Limits {
  const room = Math.min(totalBytes / 5, 4 * GIB)
  const percent = (value: number | null, initial: number): number =>
    value === null ? initial : (totalBytes * value) / 100
  const maxBytes = percent(settings.maxMemoryPercent, totalBytes - room)
  const emergencyBytes = percent(settings.emergencyMemoryPercent, totalBytes - room / 2)
  return { maxBytes, emergencyBytes: Math.max(maxBytes, emergencyBytes) }
}

export function levelOf(
  { totalBytes, usedBytes }: { totalBytes: number; usedBytes: number },
  settings: PressureSettings,
): Level {
  const { maxBytes, emergencyBytes } = limitsOf(totalBytes, settings)
  if (usedBytes >= emergencyBytes) return 'emergency'
  if (usedBytes >= maxBytes) return 'critical'
  return usedBytes >= maxBytes * NEAR ? 'warning' : 'normal'
}

/**
 * Warm sessions that should go cold: the least recently used first, as many as it takes. Active ones never do, and a process
 * that others share goes only with the last of them: taking single sessions out of it would free nothing.
 */
export function toCool(resources: Resources, settings: PressureSettings): string[] {
  const level = levelOf(resources, settings)
  if (level === 'normal' || level === 'warning') return []
  const wanted = resources.usedBytes - limitsOf(resources.totalBytes, settings).maxBytes * NEAR
  const newest = level === 'emergency' ? Infinity : resources.at - FRESH_MS
  const chosen: string[] = []
  let freed = 0
  for (const group of idleProcesses(resources.sessions)) {
    if (freed >= wanted) break
    if (usedAt(group) > newest) continue
    freed += group.reduce((sum, session) => sum + session.bytes, 0)
    chosen.push(...group.map((session) => session.sessionId))
  }
  return chosen
}

/** Sessions by process, where all of them are warm; the least recently used first. */
function idleProcesses(sessions: readonly SessionResources[]): SessionResources[][] {
  const groups = [...Map.groupBy(sessions, (session) => session.pid).values()]
  return groups
    .filter((group) => group.every((session) => session.tier === 'warm'))
    .sort((a, b) => usedAt(a) - usedAt(b))
}

const usedAt = (group: readonly SessionResources[]): number =>
  Math.max(...group.map((session) => session.activeAt))

export interface PressureDeps {
  settings: PressureSettings
  /** Cheap: asked for all the time. */
  memory: () => Promise<Memory>
  /** The whole picture: asked for when memory is short. */
  resources: () => Promise<Resources>
  /** Ends the processes of these sessions, but for those that have become active; resolves when they are gone. */
  cool: (sessionIds: string[]) => Promise<void>
  /** The level has changed, or sessions were cooled. */
  notice: (level: Level, cooled: string[]) => void
  warn: (message: string, error: unknown) => void
  /** How often to look, and how often when it gets tight. */
  pace?: { calmMs: number; tightMs: number }
}

const PACE = { calmMs: 5000, tightMs: 1000 }
/** When there was nothing to cool, the whole picture is not looked at again for this many tight looks. */
const VAIN_LOOKS = 30

/**
 * Looks at the memory and makes room. One step at a time: what was cooled is gone before memory is looked at again, or more
 * would go than need be. Returns how to stop.
 */
export function watchPressure(deps: PressureDeps): () => void {
  const { calmMs, tightMs } = deps.pace ?? PACE
  let stopped = false
  let level: Level = 'normal'
  let vain = 0
  let timer: NodeJS.Timeout

  /** Whom to cool now. Machines that are always nearly full are not looked at in detail every second. */
  async function candidates(next: Level): Promise<string[]> {
    if (next !== level) vain = 0
    if (next === 'normal' || next === 'warning' || vain-- > 0) return []
    const found = toCool(await deps.resources(), deps.settings)
    vain = found.length === 0 ? VAIN_LOOKS : 0
    return found
  }

  async function step(): Promise<void> {
    const { totalBytes, availableBytes } = await deps.memory()
    const next = levelOf({ totalBytes, usedBytes: totalBytes - availableBytes }, deps.settings)
    const cooled = await candidates(next)
    if (stopped) return
    if (next !== level || cooled.length > 0) deps.notice(next, cooled)
    level = next
    if (cooled.length > 0) await deps.cool(cooled)
  }

  async function round(): Promise<void> {
    try {
      await step()
    } catch (error) {
      deps.warn('making room in memory', error)
    }
    if (!stopped) plan()
  }

  function plan(): void {
    timer = setTimeout(() => void round(), level === 'normal' ? calmMs : tightMs).unref()
  }

  plan()
  return () => {
    stopped = true
    clearTimeout(timer)
  }
}
