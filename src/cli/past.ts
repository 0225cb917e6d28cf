import type { Api, NativeClient } from '../client/client.ts'
import type { Event } from '../core/event.ts'
import type { HistoryItem } from '../dialects/native/wire.ts'

/** The most that one page holds. */
export const PAGE = 500

type Page = Api['history.read']['result']

export interface Past {
  items: HistoryItem[]
  /** Where the log stood before the newest item was read: live events go on after it. */
  head: number
  log: string
}

/** The last `wanted` items before `before`, page by page. */
export async function readPast(
  client: NativeClient,
  sessionId: string,
  wanted: number,
  before?: number,
): Promise<Past> {
  const read = (limit: number, at?: number | null): Promise<Page> =>
    client.call('history.read', { sessionId, limit, ...(typeof at === 'number' && { before: at }) })
  const { head, log, ...newest } = await read(Math.min(PAGE, Math.max(wanted, 1)), before)
  let items = newest.items
  let next = newest.next
  while (next !== null && items.length < wanted) {
    const page: Page = await read(Math.min(PAGE, wanted - items.length), next)
    items = [...page.items, ...items]
    next = page.next
  }
  return { items: wanted === 0 ? [] : items, head, log }
}

/** Questions that came before an event, and that nobody has answered: those from outside outlive the turn that they came in. */
export async function stillAsked(client: NativeClient, sessionId: string, before: number): Promise<Event[]> {
  const { approvals } = await client.call('approval.list', { sessionId })
  if (approvals.length === 0) return []
  const query = { sessionId, before, limit: PAGE, types: ['approval.requested' as const] }
  const { events } = await client.call('events.read', query)
  const open = new Set(approvals.map(({ id }) => id))
  return events.filter((event) => event.type === 'approval.requested' && open.has(event.approval.id))
}
