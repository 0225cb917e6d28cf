import type { Api, NativeClient } from '../dialects/native/client.ts'
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
