import { aSession } from '../../test/support/session.ts'
import type { Watched } from './agents.ts'
import { type Observations, observing } from './observed.ts'

/** What the recordings of an agent show. */
export function recordedOf({ driver, typeOf, recordings }: Watched): Observations {
  const seen: Observations = new Map()
  const translator = observing(driver.translator, typeOf, seen)
  for (const lines of recordings()) {
    let state = translator.initial(aSession())
    for (const line of lines) state = translator.step(state, line).state
  }
  return seen
}
