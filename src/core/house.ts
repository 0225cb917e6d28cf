import type { Engine } from './api.ts'
import type { Drafts } from './draft.ts'
import { oneLine } from './naming.ts'
import type { Log } from './ports.ts'

interface HouseDeps {
  log: Log
  drafts: Drafts
}

export type House = Pick<Engine, 'setName'>

/** The part of the engine that is about no session: what the daemon is called. */
export function createHouse({ log, drafts }: HouseDeps): House {
  let last: Promise<unknown> = Promise.resolve()

  /** One after the other, so that each decides on what is committed: there is little of this, and nobody waits long. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = last.then(work)
    last = next.catch(() => {})
    return next
  }

  return {
    setName: (given) =>
      inTurn(async () => {
        const name = oneLine(given, 'name')
        if (name === log.daemonName()) return
        await drafts.apart({ type: 'daemon.renamed', name }, () => [{ op: 'name', name }])
      }),
  }
}
