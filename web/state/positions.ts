import type { Position } from '../parts/timeline.tsx'

const MAX_KEPT = 40

/** Where somebody was in each session, the last left last; as long as the page is not loaded anew, with its heights. */
const positions = new Map<string, Position>()
const KEY = 'corral.places'

export function positionIn(sessionId: string): Position | null {
  const known = positions.get(sessionId)
  if (known) return known
  const anchor = stored()[sessionId]
  return anchor ? { anchor, heights: null } : null
}

export function keepPosition(sessionId: string, position: Position): void {
  positions.delete(sessionId)
  positions.set(sessionId, position)
  if (positions.size > MAX_KEPT) positions.delete(positions.keys().next().value!)
  const anchors = [...positions].flatMap(([id, { anchor }]) => (anchor ? [[id, anchor] as const] : []))
  try {
    sessionStorage.setItem(KEY, JSON.stringify(Object.fromEntries(anchors)))
  } catch {
    // it is known until the page is left
  }
}

type Anchors = Record<string, Position['anchor']>

/** After a reload. */
function stored(): Anchors {
  try {
    return (JSON.parse(sessionStorage.getItem(KEY) ?? '{}') ?? {}) as Anchors
  } catch {
    return {}
  }
}
