import type { CallRecord } from '../../relay/records/call-records.ts'
import type { NumberedEvent } from '../../relay/records/events.ts'
import type { Ring } from '../../relay/records/ring.ts'
import { createFeed, type Feed, type FeedOptions } from './sse-feed.ts'
import { recentCall } from './views.ts'

type Pace = Pick<FeedOptions<CallRecord>, 'keepAliveMs' | 'maxBehind' | 'maxBacklog'>

/** `GET /v1/activity/stream`: each call as it is over, and those after `Last-Event-ID` first. */
export function activityFeed(ring: Ring<CallRecord>, pace: Pace = {}): Feed {
  return createFeed({ ring, frameOf: callFrame, ...pace })
}

/** Both spellings: dashboards read the one, whoever knows the records of recent calls the other. */
function callFrame(record: CallRecord): string {
  const durationMs = record.completedAt - record.startedAt
  const data = JSON.stringify({ ...recentCall(record), ...record, durationMs })
  return `event: call\nid: ${record.seq}\ndata: ${data}\n\n`
}

/** `GET /v1/events` for who wants a stream. */
export function eventFeed(ring: Ring<NumberedEvent>, pace: Pace = {}): Feed {
  return createFeed({ ring, frameOf: eventFrame, ...pace })
}

function eventFrame({ event }: NumberedEvent): string {
  return `event: ${event.type}\nid: ${event.id}\ndata: ${JSON.stringify(event)}\n\n`
}
