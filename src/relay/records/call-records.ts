import { z } from 'zod'
import { createCallFile, readLines } from './call-file.ts'
import { scrub } from '../redact.ts'
import { createRing, type Ring } from './ring.ts'

const recordSchema = z.object({
  /** Only grows; the id in the activity stream. */
  seq: z.int(),
  id: z.string(),
  sessionId: z.string(),
  startedAt: z.number(),
  completedAt: z.number(),
  model: z.string(),
  /** Who answered; null: nobody did. */
  provider: z.string().nullable(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  costAvoidedUsd: z.number(),
  status: z.enum(['success', 'error']),
  error: z.string().nullable(),
  stopReason: z.string().nullable(),
  fallbackChain: z.array(z.object({ provider: z.string(), error: z.string() })),
  /** Null unless the settings say that prompts are kept. */
  promptPreview: z.string().nullable(),
  rawTranscript: z.string().nullable(),
})

/** One call that is over. */
export type CallRecord = z.output<typeof recordSchema>

export interface CallRecords {
  readonly ring: Ring<CallRecord>
  add(call: Omit<CallRecord, 'seq'>): CallRecord
  /** Oldest first. After a record's id or number: those that follow it; else the newest. */
  list(query?: { limit?: number; after?: string | number }): CallRecord[]
  /** Resolves when the file is empty, too. */
  clear(): Promise<void>
  /** Resolves when everything so far is in the file. */
  flushed(): Promise<void>
}

export interface CallRecordsOptions {
  path: string
  now: () => number
  storePrompts(): boolean
  secrets(): readonly string[]
  onProblem?(problem: string): void
  keep?: number
}

const KEEP = 1000
const PREVIEW_CHARS = 200
const TRANSCRIPT_CHARS = 16 * 1024
const ERROR_CHARS = 2000
/** A key that the limit would cut must be whole when it is looked for. */
const MARGIN = 4096

/** The newest calls: in memory for whoever asks, in a file for the next start. */
export async function openCallRecords(options: CallRecordsOptions): Promise<CallRecords> {
  const { path, now, keep = KEEP } = options
  const { records, written, sound } = await readRecords(path, options.onProblem)
  const ring = createRing<CallRecord>(keep, records)
  const lines = (): string[] => ring.slice(ring.first).map((record) => JSON.stringify(record))
  const file = createCallFile({ ...options, keep, lines }, written)
  if (!sound) file.rewrite()

  return {
    ring,
    add(call) {
      const kept = fit(call, options.storePrompts(), options.secrets())
      const record = { seq: ring.nextSeq(now()), ...kept }
      ring.add(record)
      file.append(JSON.stringify(record))
      return record
    },
    list({ limit = keep, after } = {}) {
      if (limit <= 0) return []
      if (after === undefined) return ring.slice(ring.first).slice(-limit)
      const from = ring.after(seqOf(ring, after))
      return ring.slice(from, from + limit)
    },
    clear() {
      ring.clear()
      file.rewrite()
      return file.flushed()
    },
    flushed: () => file.flushed(),
  }
}

/** Lines that are not as they should be are left out, and the file is put in order. */
async function readRecords(
  path: string,
  onProblem: CallRecordsOptions['onProblem'],
): Promise<{ records: CallRecord[]; written: number; sound: boolean }> {
  try {
    const { lines, torn } = await readLines(path)
    const records = lines.flatMap((line) => recordIn(line) ?? [])
    return { records, written: lines.length, sound: !torn && records.length === lines.length }
  } catch (error) {
    onProblem?.(`${path} cannot be read: ${(error as Error).message}`)
    return { records: [], written: 0, sound: true }
  }
}

function recordIn(line: string): CallRecord | null {
  try {
    return recordSchema.parse(JSON.parse(line))
  } catch {
    return null
  }
}

/** A record that has left the ring is older than all that is in it. */
function seqOf(ring: Ring<CallRecord>, after: string | number): number {
  const found = ring.slice(ring.first).find(({ id }) => id === after)
  if (found) return found.seq
  return /^\d+$/.test(String(after)) ? Number(after) : 0
}

function fit<T extends Omit<CallRecord, 'seq'>>(call: T, prompts: boolean, secrets: readonly string[]): T {
  const text = (value: string | null, limit: number): string | null =>
    value === null ? null : scrub(value.slice(0, limit + MARGIN), secrets).slice(0, limit)
  return {
    ...call,
    error: text(call.error, ERROR_CHARS),
    fallbackChain: call.fallbackChain.map(({ provider, error }) => ({
      provider,
      error: text(error, ERROR_CHARS)!,
    })),
    promptPreview: prompts ? text(call.promptPreview, PREVIEW_CHARS) : null,
    rawTranscript: prompts ? text(call.rawTranscript, TRANSCRIPT_CHARS) : null,
  }
}
