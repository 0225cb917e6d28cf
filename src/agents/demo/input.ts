import { isEffort } from '../../core/effort.ts'
import { isMode } from '../../core/mode.ts'
import type { DemoInput } from './protocol.ts'

const CHECKS: { [T in DemoInput['type']]: (line: Record<string, unknown>) => boolean } = {
  settings: (line) => isTexts(line['system']) && isTexts(line['tools']) && isEffortOrNone(line['effort']),
  prompt: (line) =>
    typeof line['turnId'] === 'string' && Array.isArray(line['input']) && line['input'].every(isContent),
  steer: (line) =>
    typeof line['steerId'] === 'string' && Array.isArray(line['input']) && line['input'].every(isContent),
  retract: (line) => typeof line['steerId'] === 'string',
  decision: (line) =>
    typeof line['requestId'] === 'string' && (line['behavior'] === 'allow' || line['behavior'] === 'deny'),
  result: (line) => typeof line['requestId'] === 'string' && typeof line['text'] === 'string',
  mode: (line) => isMode(line['mode']),
  model: (line) => line['model'] === null || typeof line['model'] === 'string',
  effort: (line) => isEffortOrNone(line['effort']),
  interrupt: () => true,
  barrier: (line) => typeof line['id'] === 'string',
  end: () => true,
}

/** A line as what it says; null when it says nothing that is known. */
export function parseInput(bytes: Buffer): DemoInput | null {
  try {
    const line: unknown = JSON.parse(bytes.toString('utf8'))
    if (typeof line !== 'object' || line === null) return null
    const { type } = line as { type?: unknown }
    if (typeof type !== 'string' || !Object.hasOwn(CHECKS, type)) return null
    return CHECKS[type as DemoInput['type']](line as Record<string, unknown>) ? (line as DemoInput) : null
  } catch {
    return null
  }
}

function isEffortOrNone(value: unknown): boolean {
  return value === null || isEffort(value)
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((text) => typeof text === 'string')
}

function isContent(part: unknown): boolean {
  const { type, text, mediaType, data } = (part ?? {}) as Record<string, unknown>
  if (type === 'text') return typeof text === 'string'
  return (
    (type === 'image' || type === 'document') && typeof mediaType === 'string' && typeof data === 'string'
  )
}
