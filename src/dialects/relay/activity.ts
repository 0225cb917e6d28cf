import { type CallRecord, recentCall } from './calls.ts'
import type { Ring } from './ring.ts'
import { createFeed, type Feed, type FeedOptions } from './sse-feed.ts'

type Pace = Pick<FeedOptions<CallRecord>, 'keepAliveMs' | 'maxBehind' | 'maxBacklog'>

/** `GET /v1/activity/stream`: each call as it is over, and those after `Last-Event-ID` first. */
export function createActivity(ring: Ring<CallRecord>, pace: Pace = {}): Feed {
  return createFeed({ ring, frameOf, ...pace })
}

/** Both spellings: dashboards read the one, whoever knows the records of recent calls the other. */
function frameOf(record: CallRecord): string {
  const durationMs = record.completedAt - record.startedAt
  const data = JSON.stringify({ ...recentCall(record), ...record, durationMs })
  return `event: call\nid: ${record.seq}\ndata: ${data}\n\n`
}
