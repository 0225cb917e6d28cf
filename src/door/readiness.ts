/** What the daemon says about itself to whoever asks, without a token: no paths, no reasons, no addresses. */
export interface Readiness {
  status: 'starting' | 'ready' | 'degraded' | 'stopping'
  listeners: Record<string, 'open' | 'closed'>
}

/** Where each listener is, and why those that are not there are not. */
export interface ListenerState {
  addresses: Readonly<Record<string, string>>
  troubles: Readonly<Record<string, string>>
}

export type Phase = 'starting' | 'running' | 'stopping'

/** A listener that cannot be opened leaves the others usable: the daemon is degraded, not down. */
export function readinessOf({ addresses, troubles }: ListenerState, phase: Phase): Readiness {
  const names = [...new Set([...Object.keys(addresses), ...Object.keys(troubles)])]
  const listeners = Object.fromEntries(
    names.map((name) => [name, name in addresses ? ('open' as const) : ('closed' as const)]),
  )
  if (phase !== 'running') return { status: phase, listeners }
  const all = Object.values(listeners).every((state) => state === 'open')
  return { status: all ? 'ready' : 'degraded', listeners }
}

/** How long the event loop keeps a timer waiting now, in milliseconds. */
export function eventLoopLag(): Promise<number> {
  const startedAt = performance.now()
  return new Promise((resolve) => {
    // A timer takes a millisecond at least.
    setTimeout(() => resolve(Math.max(0, Math.round((performance.now() - startedAt - 1) * 10) / 10)), 1)
  })
}
