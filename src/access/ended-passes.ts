import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { PassParts } from './passes.ts'

export interface EndedPassesOptions {
  /** Where they are kept: who has signed out stays so after a restart. */
  path: string
  now(): number
  onProblem(problem: string): void
  /** Somebody has signed out. */
  onAdded(): void
}

/** Beyond that the oldest are forgotten. */
const MAX = 1000

/** Passes that were signed out before their time, for as long as they would have lasted. */
export function createEndedPasses(options: EndedPassesOptions): PassParts['ended'] {
  const { path, now, onProblem, onAdded } = options
  let known: Map<string, number> | null = null
  const all = (): Map<string, number> => (known ??= read(path, onProblem))

  function write(): void {
    const draft = `${path}.${process.pid}`
    writeFileSync(draft, JSON.stringify(Object.fromEntries(all())), { mode: 0o600 })
    renameSync(draft, path)
  }

  return {
    has: (id) => all().has(id),
    add(id, until) {
      const lasting = [...all()].filter(([, end]) => end > now()).slice(1 - MAX)
      known = new Map([...lasting, [id, until]])
      try {
        write()
      } catch (error) {
        onProblem(`${path} cannot be written: ${(error as Error).message}; it holds until the daemon stops`)
      }
      onAdded()
    },
  }
}

function read(path: string, onProblem: (problem: string) => void): Map<string, number> {
  try {
    const value = JSON.parse(readFileSync(path, 'utf8')) as Record<string, number>
    return new Map(Object.entries(value))
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    if (!isMissing) onProblem(`${path} cannot be read: ${(error as Error).message}`)
    return new Map()
  }
}
