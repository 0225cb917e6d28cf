import type { Picture } from '../../src/core/content.ts'
import type { Event } from '../../src/core/event.ts'
import type { FileChange } from '../../src/core/file-change.ts'
import { client } from './connection.ts'
import type { CallRow } from './row.ts'

/** All of a call: what its row has only a part of. */
export interface CallDetails {
  input: unknown
  output: string | null
  isError: boolean
  /** Bytes of the output that were not kept. */
  cut: number
  images: readonly Picture[]
  /** What it changes, where it is an edit. */
  files: readonly FileChange[] | null
}

const MAX_KEPT = 40

const kept = new Map<string, CallDetails>()

const keyOf = ({ id, endSeq }: CallRow): string => `${id} ${endSeq}`

/** What was read before, at once. */
export function knownDetails(row: CallRow): CallDetails | null {
  return kept.get(keyOf(row)) ?? null
}

/** Reads a call from the log: the event that it began with, and the one with its result. */
export async function callDetails(row: CallRow, cwd: string): Promise<CallDetails> {
  const [start, end] = await Promise.all([
    row.seq === 0 ? null : eventAt(row.seq),
    row.endSeq === null ? null : eventAt(row.endSeq),
  ])
  const input = inputOf(start) ?? row.input
  const result = end?.type === 'tool.completed' ? end : null
  const { fileChanges } = await import('../../src/core/diff/edit.ts')
  const details: CallDetails = {
    input,
    output: result?.output ?? null,
    isError: result?.isError ?? false,
    cut: result?.cut ?? 0,
    images: result?.images ?? [],
    files: fileChanges({ kind: 'tool', tool: row.tool, input }, cwd),
  }
  kept.set(keyOf(row), details)
  if (kept.size > MAX_KEPT) kept.delete(kept.keys().next().value!)
  return details
}

/** One event of the log, of whatever session: a conversation may have begun in another one. */
export async function eventAt(seq: number): Promise<Event | null> {
  const { events } = await client().call('events.read', { after: seq - 1, before: seq + 1, limit: 1 })
  return events[0] ?? null
}

function inputOf(event: Event | null): unknown {
  if (event?.type === 'tool.started') return event.input
  return event?.type === 'approval.requested' ? event.approval.input : undefined
}
