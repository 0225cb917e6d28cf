import { onDemand } from '../../transports/on-demand.ts'
import type { AcceptNative, NativeOptions } from './serving.ts'

export { UNAUTHORIZED } from './errors.ts'
export type { AgentReport } from './wire.ts'

/** The engine's whole API, as JSON-RPC. */
export function nativeDialect(options: NativeOptions): AcceptNative {
  return onDemand(async () => {
    const { createServing } = await import('./serving.ts')
    return createServing(options)
  }, options.onFault)
}
