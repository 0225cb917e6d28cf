import type { LineConnection, LineHandler } from '../../transports/connection.ts'
import { serveConnection } from './connection.ts'
import { createFollowing } from './following.ts'
import type { HumanLayerParts } from './open.ts'
import { createSlots } from './lane.ts'
import { METHODS } from './methods.ts'
import { createDispatch } from './rpc.ts'

/** Large answers that are made at a time, for all clients together. */
const HEAVY_AT_ONCE = 2
const HEAVY: ReadonlySet<string> = new Set(METHODS.filter(({ heavy }) => heavy).map(({ name }) => name))

/** All of the protocol; loaded when there is a client. */
export function createServing(parts: Required<HumanLayerParts>): (connection: LineConnection) => LineHandler {
  const { engine, options, onFault, ...bounds } = parts
  const dispatch = createDispatch(METHODS, onFault)
  const following = createFollowing(engine)
  const slots = createSlots(HEAVY_AT_ONCE)
  const shared = { engine, options, following, dispatch, heavy: HEAVY, slots, ...bounds }
  return (connection) => serveConnection(connection, shared)
}
