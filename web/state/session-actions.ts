import { batch } from '@preact/signals'
import { toast } from '../parts/toast.tsx'
import { client } from './connection.ts'
import { rowOf } from './sessions.ts'
import type { SessionRow } from '../client/rows.ts'
import { whenBack } from './snooze.ts'
import { visibleLine } from './visible-text.ts'

/*
 * What a person does to sessions, one or several. Each says what it has done, with a way back, or why it could not.
 */

type Marks = Partial<Pick<SessionRow['marks'], 'pinned' | 'snoozedUntil' | 'settled' | 'readSeq' | 'flags'>>

/** What went wrong, for people. */
export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function failed(what: string): (error: unknown) => void {
  return (error) => void toast(`${what}: ${wordsOf(error)}`, { tone: 'bad' })
}

function many(rows: readonly SessionRow[]): string {
  return rows.length === 1 ? titleOf(rows[0]!) : `${rows.length} sessions`
}

/** Whoever made it up: nothing in it turns the text around, or is obeyed. */
export function titleOf({ title, agent }: Pick<SessionRow, 'title' | 'agent'>): string {
  return visibleLine(title ?? `A session of ${agent}`)
}

async function mark(rows: readonly SessionRow[], marks: (row: SessionRow) => Marks): Promise<void> {
  await Promise.all(rows.map((row) => client().call('session.mark', { sessionId: row.id, ...marks(row) })))
}

/** Does it, says so, and offers to undo it. */
function markWithUndo(
  rows: readonly SessionRow[],
  to: (row: SessionRow) => Marks,
  back: (row: SessionRow) => Marks,
  said: string,
): void {
  mark(rows, to).then(
    () =>
      toast(said, {
        ms: 8000,
        action: { label: 'Undo', run: () => void mark(rows, back).catch(failed('That could not be undone')) },
      }),
    failed('That could not be done'),
  )
}

/** Done is an act of the person; it does not claim that they have read it, so that it can be taken back. */
export function markDone(rows: readonly SessionRow[]): void {
  markWithUndo(
    rows,
    () => ({ settled: true }),
    () => ({ settled: false }),
    `Done: ${many(rows)}`,
  )
}

export function snooze(rows: readonly SessionRow[], until: number): void {
  const back = (row: SessionRow): Marks => ({ snoozedUntil: row.marks.snoozedUntil })
  const said = `Snoozed until ${whenBack(until, Date.now())}: ${many(rows)}`
  markWithUndo(rows, () => ({ snoozedUntil: until }), back, said)
}

export function wake(rows: readonly SessionRow[]): void {
  mark(rows, () => ({ snoozedUntil: null })).catch(failed('It could not be woken'))
}

/** Pins them all, or takes all pins off where all have one. */
export function togglePin(rows: readonly SessionRow[]): void {
  const pinned = !rows.every((row) => row.marks.pinned)
  mark(rows, () => ({ pinned })).catch(failed('The pin could not be set'))
}

/** All of them, in place of those that it had. Says whether they are set. */
export async function setFlags(row: SessionRow, flags: string[]): Promise<boolean> {
  const wrong = failed('The flags could not be set')
  return mark([row], () => ({ flags })).then(
    () => true,
    (error: unknown) => (wrong(error), false),
  )
}

export function archive(rows: readonly SessionRow[]): void {
  const set = (archived: boolean): Promise<unknown> =>
    Promise.all(rows.map(({ id }) => client().call('session.configure', { sessionId: id, archived })))
  set(true).then(
    () =>
      toast(`Archived: ${many(rows)}`, {
        ms: 8000,
        action: { label: 'Undo', run: () => void set(false).catch(failed('That could not be undone')) },
      }),
    failed('It could not be archived'),
  )
}

export function interrupt(rows: readonly SessionRow[]): void {
  const running = rows.filter(({ turn }) => turn !== null)
  const stop = ({ id: sessionId, turn }: SessionRow) =>
    client().call('session.interrupt', { sessionId, ...(turn && { turnId: turn.id }) })
  if (running.length === 0) return void toast('Nothing is running there')
  Promise.all(running.map(stop)).then(
    () => toast(`Stopped: ${many(running)}`),
    failed('It could not be stopped'),
  )
}

export function setMode(row: SessionRow, mode: SessionRow['mode']): void {
  client()
    .call('session.configure', { sessionId: row.id, mode })
    .then(() => toast(`${titleOf(row)} is in the mode ${mode} now`), failed('The mode could not be set'))
}

/** What the person has seen by looking at the session now; nothing, where they had seen it before. */
function readMark({ endedSeq, marks }: SessionRow): Marks {
  return endedSeq !== null && endedSeq > marks.readSeq ? { readSeq: endedSeq } : {}
}

/** Somebody has looked at it. */
export function markRead(id: string): void {
  const row = rowOf(id)
  const seen = row && readMark(row)
  if (seen?.readSeq === undefined) return
  // Not said when it fails: it is tried again at the next look.
  client()
    .call('session.mark', { sessionId: id, ...seen })
    .catch(() => {})
}

/** What is selected, as rows that are still there. */
export function rowsOf(ids: Iterable<string>): SessionRow[] {
  return batch(() => [...ids].flatMap((id) => rowOf(id) ?? []))
}
