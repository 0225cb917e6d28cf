import { signal } from '@preact/signals'
import { NativeError } from '../client/client.ts'
import type { ApprovalContext, DecideParams } from './answers.ts'
import { answeringNow } from './approvals.ts'
import { client, me } from './connection.ts'

/** Rules of a directory hold for everybody's sessions there: not every device may make them. */
export function mayRule(): boolean {
  const device = me.value?.device ?? null
  return device === null || device.scopes.includes('manage')
}

const MAX_KEPT = 200

/** By the id of the approval: a card comes and goes as somebody scrolls. */
const contexts = new Map<string, Promise<ApprovalContext | null>>()

/** What a person wants to know before deciding; null: the daemon does not say. */
export function contextOf(approvalId: string): Promise<ApprovalContext | null> {
  const known = contexts.get(approvalId)
  if (known) return known
  const asked = client()
    .call('approval.context', { approvalId })
    .catch(() => null)
  contexts.set(approvalId, asked)
  if (contexts.size > MAX_KEPT) contexts.delete(contexts.keys().next().value!)
  void asked.then((context) => context ?? contexts.delete(approvalId))
  return asked
}

/** Approvals that this page has answered just now: whoever shows them need not wait for the event. */
export const answered = signal<ReadonlySet<string>>(new Set())

/** Null when it is decided; otherwise what was wrong, for the person. */
export async function decide(params: DecideParams): Promise<string | null> {
  try {
    const call = client().call('approval.decide', params)
    answeringNow(params.approvalId, call)
    await call
    answered.value = new Set([...answered.value, params.approvalId].slice(-MAX_KEPT))
    return null
  } catch (error) {
    return reasonOf(error)
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof NativeError)) return 'The daemon cannot be reached. Nothing was decided; try again.'
  if (error.code === 'approval_resolved') return 'Somebody else has answered this already.'
  if (error.code === 'approval_not_found') return 'The agent does not wait for this any more.'
  return error.message
}
