import { LOOKUP } from '../plan.ts'
import type { Told } from '../told.ts'
import type { View } from '../view.ts'

/** What callers of the relay know of their session. */
export const relayView: View = {
  name: 'relay calls',
  silence: { joined: true },
  live: true,
  async read({ played }) {
    if (played.plan.relay === null) return null
    return played.relayed.flatMap(({ said, uses, answer }): Told[] => [
      { what: 'user', text: said },
      ...Array.from({ length: uses }, (): Told => ({ what: 'call', tool: LOOKUP, state: 'done' })),
      { what: 'answer', text: answer, aborted: false },
      { what: 'end', outcome: 'completed' },
    ])
  },
}
