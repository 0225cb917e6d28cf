import { signal } from '@preact/signals'
import type { Event } from '../../src/core/event.ts'
import { isSignedOut } from '../client/client.ts'
import { inOrder } from './approval-list.ts'
import { client } from './connection.ts'
import type { Approval } from './who.ts'

type Resolved = Extract<Event, { type: 'approval.resolved' }>

/** A question that somebody else has answered, or that nobody waits for any more. */
export interface AnsweredElsewhere {
  approval: Approval
  decision: Resolved['decision']
  by: string
  device: string | null
}

const LIMIT = 500
const MAX_GONE = 2000
/** Every question that waits for a person, put off or not; null until the daemon has told. */
export const approvals = signal<readonly Approval[] | null>(null)

/** Decided here, or known to be decided: a list that was made before must not bring them back. */
const gone = new Set<string>()
const answeredHere = new Set<string>()
/** Answers of this page that are on their way: the event may come before the daemon says whether they have counted. */
const answering = new Map<string, Promise<unknown>>()
const readers = new Set<(answered: AnsweredElsewhere) => void>()

/** Follows the questions of all sessions for as long as the page is open. */
export function keepApprovals(): void {
  follow().catch((error: unknown) => {
    if (!isSignedOut(error)) console.error('the decisions cannot be followed', error)
  })
}

async function follow(): Promise<void> {
  const stream = client().events({
    types: ['approval.requested', 'approval.resolved', 'approval.deferred'],
    onReset() {
      refresh()
      return 'now'
    },
    onLink: (state) => state === 'back' && refresh(),
  })
  await stream.ready
  refresh()
  for await (const event of stream) {
    if (event.type === 'approval.resolved') resolved(event)
    else if (event.type === 'approval.deferred') refresh()
    // What a mode or a rule has answered was never open.
    else if (event.type === 'approval.requested' && event.open) refresh()
  }
}

/** What a session waits for. */
export function askedBy({ id, openApprovals }: { id: string; openApprovals: number }): Approval[] {
  if (openApprovals === 0) return []
  return approvals.value?.filter(({ sessionId }) => sessionId === id) ?? []
}

/** Says what was answered elsewhere. Returns how to stop. */
export function onAnsweredElsewhere(tell: (answered: AnsweredElsewhere) => void): () => void {
  readers.add(tell)
  return () => readers.delete(tell)
}

/** This page is about to answer it. */
export function answeringNow(approvalId: string, call: Promise<unknown>): void {
  const isOver = (): void => void (answering.get(approvalId) === call && answering.delete(approvalId))
  answering.set(approvalId, call)
  call.then(isOver, isOver)
}

/** This page answers it: it goes at once, and nobody needs to be told. */
export function answered(approvalId: string): void {
  remember(answeredHere, approvalId)
  remove(approvalId)
}

function resolved({ approvalId, decision, by, device }: Resolved): void {
  const approval = approvals.peek()?.find(({ id }) => id === approvalId)
  remove(approvalId)
  if (!approval) return
  const tellOthers = (): void => {
    if (answeredHere.has(approvalId)) return
    for (const tell of readers) tell({ approval, decision, by, device: device ?? null })
  }
  // Whoever waits for the same answer has marked it as its own by then.
  const ours = answering.get(approvalId)
  if (ours) ours.then(() => setTimeout(tellOthers), tellOthers)
  else tellOthers()
}

function remove(approvalId: string): void {
  remember(gone, approvalId)
  const before = approvals.peek()
  if (before?.some(({ id }) => id === approvalId))
    approvals.value = before.filter(({ id }) => id !== approvalId)
}

function remember(ids: Set<string>, id: string): void {
  ids.add(id)
  if (ids.size > MAX_GONE) ids.delete(ids.values().next().value!)
}

let asking = false
let again = false

/** One question at a time, and one more if something came meanwhile. */
function refresh(): void {
  again = true
  if (asking) return
  asking = true
  void read().finally(() => (asking = false))
}

async function read(): Promise<void> {
  while (again) {
    again = false
    const found = await client()
      .call('approval.list', { open: true, limit: LIMIT })
      .catch(() => null)
    if (found) approvals.value = inOrder(found.approvals.filter(({ id }) => !gone.has(id)))
  }
}
