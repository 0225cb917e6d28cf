import { sharesOf } from '../core/fullness.ts'
import type { DriverOutput } from './output.ts'

/** How full the conversation is, as the agent tells it. The engine drops what is no news; what is hardly anything is none. */
export function contextTold(used: number | null, window: number | null): DriverOutput[] {
  return sharesOf({ used, window }) > 0 ? [{ type: 'agent.context', used, window }] : []
}
