import type { Approval } from './who.ts'

/** Oldest first: whoever waits longest is answered first. */
export function inOrder(approvals: readonly Approval[]): Approval[] {
  return approvals.toSorted((a, b) => a.requestedAt - b.requestedAt || (a.id < b.id ? -1 : 1))
}

/** Those that are to be looked at, and those that were put off, the next to come back first. */
export function divided(
  approvals: readonly Approval[],
  now: number,
): { open: Approval[]; deferred: Approval[] } {
  const isDeferred = ({ deferredUntil }: Approval): boolean => deferredUntil !== null && deferredUntil > now
  return {
    open: inOrder(approvals.filter((one) => !isDeferred(one))),
    deferred: approvals.filter(isDeferred).toSorted((a, b) => a.deferredUntil! - b.deferredUntil!),
  }
}

/** What several of them have in common, so that one answer can mean the same for all; null when nothing. */
export function commonClass(approvals: readonly Approval[]): string | null {
  const [first] = approvals
  if (!first || first.kind !== 'tool') return null
  const same = approvals.every(({ kind, about }) => kind === 'tool' && about.class === first.about.class)
  return same ? first.about.class : null
}

/** When the next one that was put off comes back; null: none does. */
export function nextReturn(approvals: readonly Approval[], now: number): number | null {
  const times = approvals.flatMap(({ deferredUntil }) =>
    deferredUntil !== null && deferredUntil > now ? [deferredUntil] : [],
  )
  return times.length === 0 ? null : Math.min(...times)
}
