import { toast } from '../parts/toast.tsx'
import { answered, answeringNow } from './approvals.ts'
import { client } from './connection.ts'
import { wordsOf } from './session-actions.ts'
import { whenBack } from './snooze.ts'
import type { Approval } from './who.ts'

/** Whoever answers here is the dashboard, unless the daemon knows better. */
export const BY = 'dashboard'

/** Not now: it comes back then. */
export function defer(approval: Pick<Approval, 'id'>, until: number | null): void {
  const put = (to: number | null): Promise<unknown> =>
    client().call('approval.defer', { approvalId: approval.id, until: to })
  put(until).then(() => {
    if (until === null) return
    toast(`Not now: back ${whenBack(until, Date.now())}`, {
      ms: 8000,
      action: { label: 'Undo', run: () => void put(null).catch(failed) },
    })
  }, failed)
}

function failed(error: unknown): void {
  toast(`That could not be done: ${wordsOf(error)}`, { tone: 'bad' })
}

/** The same answer to each of them. Says how many had been answered by others before. */
export async function answerAll(
  approvals: readonly Approval[],
  answer: { behavior: 'allow' } | { behavior: 'deny'; comment: string },
): Promise<void> {
  const outcomes = await Promise.allSettled(
    approvals.map(async ({ id }) => {
      const call = client().call('approval.decide', { approvalId: id, by: BY, ...answer })
      answeringNow(id, call)
      await call
      answered(id)
    }),
  )
  const missed = outcomes.filter(({ status }) => status === 'rejected').length
  const done = answer.behavior === 'allow' ? 'Allowed once' : 'Refused'
  if (missed === 0) toast(`${done}: ${approvals.length} decisions`)
  else
    toast(`${done}: ${approvals.length - missed}; ${missed} had been answered before, or could not be.`, {
      tone: 'bad',
    })
}
