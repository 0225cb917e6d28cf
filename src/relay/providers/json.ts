import type { JsonObject, StopReason } from '../ask.ts'
import { unreachable, type Upstream } from './refusal.ts'

/** One event's data: both APIs send nothing but objects. */
export function parsed(upstream: Upstream, data: string): JsonObject {
  const value = read(data)
  if (!isObject(value)) throw unreachable(upstream, 'an event of its answer is not JSON')
  return value
}

/** A tool's input, gathered from its pieces; `given` is what came at once. Null: it is no JSON object. */
export function inputOf(json: string, given?: unknown): JsonObject | null {
  if (json.trim() === '') return isObject(given) ? given : {}
  const value = read(json)
  return isObject(value) ? value : null
}

/** An answer that reached its limit may end inside of a tool's input: that call was never made. Else it is nonsense. */
export function refuseTorn(upstream: Upstream, tool: string | null, stopReason: StopReason): void {
  if (tool === null || stopReason === 'max_tokens') return
  throw unreachable(upstream, `the input of the tool ${tool} is not a JSON object`)
}

function read(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
