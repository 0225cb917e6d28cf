import { result, type StreamEvent } from '../../dialects/codecast/client.ts'
import { createTeller, type Told } from '../told.ts'
import type { About, View } from '../view.ts'

interface Replayed {
  bufferedEvents: StreamEvent[]
  lastSeq?: number
  more?: boolean
}

function toldBy(events: readonly StreamEvent[]): Told[] {
  const teller = createTeller()
  // A call and its result have no id; the demo agent makes one at a time, and a sub-agent's are within the call that runs it.
  const open: string[] = []
  let calls = 0
  for (const event of events) {
    const { type, subtype, raw } = event as StreamEvent & { subtype?: string; raw?: Record<string, string> }
    if (type === 'text') teller.add({ what: 'answer', text: event['content'] as string, aborted: false })
    else if (type === 'tool_use' && 'input' in event) {
      open.push(`${++calls}`)
      teller.call(open.at(-1)!, { tool: event['tool'] as string })
    } else if (type === 'tool_use') {
      teller.call(open.pop() ?? '0', { state: event['is_error'] ? 'failed' : 'done' })
    } else if (type === 'system' && subtype === 'approval_resolved') {
      teller.add({ what: 'decision', behavior: raw!['behavior'] as 'allow' })
    } else if (type === 'system' && subtype === 'steered') {
      teller.add({ what: 'user', text: raw!['message']! })
    } else if (type === 'result') teller.add({ what: 'end', outcome: 'completed' })
    else if (type === 'interrupted') teller.add({ what: 'end', outcome: 'interrupted' })
    else if (type === 'error' && event['code'] !== 'approval_waiting') {
      teller.add({ what: 'end', outcome: 'failed' })
    }
  }
  return teller.told
}

/** In as many answers as it takes. */
async function reconnected({ world, sessionId }: About, from: number): Promise<StreamEvent[]> {
  const events: StreamEvent[] = []
  for (let after = from; ;) {
    const page: Replayed = await result(world.daemon.codecast, 'session.reconnect', { sessionId, after })
    events.push(...page.bufferedEvents)
    if (!page.more) return events
    after = page.lastSeq!
  }
}

// Messages that began a turn are not told, nor is what others have sent; a refusal is a result that is an error.
const silence = { ours: true, aborted: true, helpers: true, states: { refused: 'failed' } } as const

export const codecastViews: View[] = [
  {
    name: 'Codecast streams',
    silence,
    live: true,
    async read(about) {
      const { played, sessionId } = about
      if (played.plan.codecast !== 'live' || sessionId !== played.sessionId) return null
      const events: StreamEvent[] = []
      for (const stream of played.streamed) {
        // A stream that the daemon's end has cut goes on where it was.
        if (stream.events.at(-1)?.type !== '[DONE]') return null
        events.push(...stream.events)
      }
      return toldBy(events)
    },
  },
  {
    name: 'Codecast reconnect',
    silence,
    async read(about) {
      if (about.played.plan.codecast === null || about.sessionId !== about.played.sessionId) return null
      return toldBy(await reconnected(about, 0))
    },
  },
]
