import { appendFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { Sample } from './resources.ts'

/** A day of minutes. */
export const HISTORY_LENGTH = 1440
const DAY_MS = 24 * 60 * 60 * 1000
const MINUTE_MS = 60 * 1000

const FIELDS = [
  'at',
  'totalBytes',
  'usedBytes',
  'daemonBytes',
  'agentsBytes',
  'active',
  'warm',
  'cold',
] as const satisfies (keyof Sample)[]

export interface History {
  add(sample: Sample): void
  /** The newest first; a limit outside of 1 to 1440 is taken as the nearest that is not. */
  newest(limit: number): Sample[]
}

/**
 * The last day in memory and, a line for each minute, in a file: one small append a minute, and the file is written anew
 * once it holds two days. A line that is half written or makes no sense is skipped; nobody waits for the disk.
 */
export function openHistory(
  path: string,
  warn: (message: string, error: unknown) => void,
  now: () => number = Date.now,
): History {
  const lines = readText(path).split('\n')
  const samples = lines.flatMap(parseLine).filter(({ at }) => at > now() - DAY_MS && at <= now())
  samples.sort((a, b) => a.at - b.at)
  samples.splice(0, samples.length - HISTORY_LENGTH)
  // What a crash left of the last line must not spoil the next one: whatever is odd is written anew.
  let stored = lines.at(-1) === '' && lines.length - 1 === samples.length ? samples.length : Infinity

  function save(sample: Sample): void {
    try {
      if (stored < 2 * HISTORY_LENGTH) {
        appendFileSync(path, lineOf(sample), { mode: 0o600 })
        stored += 1
        return
      }
      const draft = `${path}.new`
      writeFileSync(draft, samples.map(lineOf).join(''), { mode: 0o600 })
      renameSync(draft, path)
      stored = samples.length
    } catch (error) {
      stored = Infinity
      warn('writing down what is used', error)
    }
  }

  return {
    add(taken) {
      const sample = only(taken)
      samples.push(sample)
      if (samples.length > HISTORY_LENGTH) samples.shift()
      save(sample)
    },
    newest(limit) {
      const wanted = Math.min(HISTORY_LENGTH, Math.max(1, Math.floor(limit) || 1))
      return samples.slice(-wanted).reverse()
    },
  }
}

/** Adds a sample every minute; returns how to stop. */
export function keepHistory(
  history: History,
  sample: () => Promise<Sample>,
  warn: (message: string, error: unknown) => void,
  everyMs: number = MINUTE_MS,
): () => void {
  let stopped = false
  const round = async (): Promise<void> => {
    try {
      const taken = await sample()
      if (!stopped) history.add(taken)
    } catch (error) {
      warn('looking at what is used', error)
    }
  }
  const timer = setInterval(() => void round(), everyMs).unref()
  return () => {
    stopped = true
    clearInterval(timer)
  }
}

/** Whoever looks sees more, sessions and all; a day of that would fill the memory. */
function only(taken: Sample): Sample {
  return Object.fromEntries(FIELDS.map((field) => [field, taken[field]])) as unknown as Sample
}

const lineOf = (sample: Sample): string => `${JSON.stringify(FIELDS.map((field) => sample[field]))}\n`

function parseLine(line: string): Sample[] {
  try {
    const values = JSON.parse(line) as unknown
    if (!Array.isArray(values) || values.length !== FIELDS.length || !values.every(Number.isFinite)) return []
    return [Object.fromEntries(FIELDS.map((field, index) => [field, values[index]])) as unknown as Sample]
  } catch {
    return []
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
