import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { replaceFile } from '../private-file.ts'
import type { CallRecord } from './call-records.ts'

const hourSchema = z.object({
  /** When the hour began. */
  at: z.number(),
  calls: z.number(),
  errors: z.number(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  costAvoidedUsd: z.number(),
})
const fileSchema = z.object({ upTo: z.number(), hours: z.array(hourSchema) })

/** What the calls of an hour, or of a day, come to. */
export type CallSum = z.output<typeof hourSchema>

/** Counts the calls hour by hour, long after the records of the calls themselves are gone. */
export interface CallSeries {
  add(record: CallRecord): void
  /** Oldest first; hours and days without a call are left out. */
  list(query: { since: number; until: number; by: 'hour' | 'day' }): CallSum[]
  /** Writes down what is not written yet. */
  flush(): void
}

export interface CallSeriesOptions {
  path: string
  /** The calls whose records are still there: those that the file does not have are counted again. */
  records: readonly CallRecord[]
  onProblem?(problem: string): void
}

type Counted = Pick<CallRecord, 'completedAt' | 'status' | 'inputTokens' | 'outputTokens' | 'costAvoidedUsd'>

const HOUR = 60 * 60 * 1000
/** About three months. */
const KEEP_HOURS = 93 * 24
const WRITE_MS = 30_000
/** Fewer than the records that are kept: after a crash those tell the rest. */
const MAX_UNWRITTEN = 500

/** The file says up to which record it has counted, so no call is counted twice, or never, whenever the daemon ends. */
export function openCallSeries({ path, records, onProblem }: CallSeriesOptions): CallSeries {
  const kept = readSeries(path, onProblem)
  const hours = new Map(kept.hours.map((hour) => [hour.at, hour]))
  let { upTo } = kept
  let unwritten = 0
  let soon: NodeJS.Timeout | null = null

  function count(record: CallRecord): void {
    countInto(hours, record)
    upTo = Math.max(upTo, record.seq)
    unwritten += 1
  }

  function flush(): void {
    if (soon) clearTimeout(soon)
    soon = null
    if (unwritten === 0) return
    try {
      replaceFile(path, JSON.stringify({ upTo, hours: [...hours.values()] }))
      unwritten = 0
    } catch (error) {
      onProblem?.(`${path} cannot be written: ${(error as Error).message}`)
    }
  }

  for (const record of records) if (record.seq > kept.upTo) count(record)
  return {
    add(record) {
      count(record)
      if (unwritten === MAX_UNWRITTEN) flush()
      else soon ??= setTimeout(flush, WRITE_MS).unref()
    },
    list: ({ since, until, by }) => sumsOf(hours.values(), { since, until, by }),
    flush,
  }
}

function countInto(hours: Map<number, CallSum>, call: Counted): void {
  const at = Math.floor(call.completedAt / HOUR) * HOUR
  hours.set(at, plus(hours.get(at) ?? nothingAt(at), sumOf(at, call)))
  if (hours.size > KEEP_HOURS) hours.delete(Math.min(...hours.keys()))
}

function sumOf(at: number, { status, inputTokens, outputTokens, costAvoidedUsd }: Counted): CallSum {
  return { at, calls: 1, errors: status === 'error' ? 1 : 0, inputTokens, outputTokens, costAvoidedUsd }
}

function nothingAt(at: number): CallSum {
  return { at, calls: 0, errors: 0, inputTokens: 0, outputTokens: 0, costAvoidedUsd: 0 }
}

function plus(one: CallSum, other: CallSum): CallSum {
  return {
    at: one.at,
    calls: one.calls + other.calls,
    errors: one.errors + other.errors,
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    costAvoidedUsd: one.costAvoidedUsd + other.costAvoidedUsd,
  }
}

/** Days are those of this machine's time zone. */
function sumsOf(
  hours: Iterable<CallSum>,
  { since, until, by }: { since: number; until: number; by: 'hour' | 'day' },
): CallSum[] {
  const sums = new Map<number, CallSum>()
  for (const hour of hours) {
    if (hour.at + HOUR <= since || hour.at > until) continue
    const at = by === 'hour' ? hour.at : new Date(hour.at).setHours(0, 0, 0, 0)
    sums.set(at, plus(sums.get(at) ?? nothingAt(at), hour))
  }
  return [...sums.values()].sort((a, b) => a.at - b.at)
}

function readSeries(path: string, onProblem: CallSeriesOptions['onProblem']): z.output<typeof fileSchema> {
  try {
    return fileSchema.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      onProblem?.(`${path} cannot be read: the calls are counted anew`)
    }
    return { upTo: 0, hours: [] }
  }
}
