import { startClient, type Client, type EventParams } from '../../dialects/loaf/support.ts'
import { createTeller, type Told } from '../told.ts'
import type { About, View } from '../view.ts'
import type { World } from '../world.ts'

const OUTCOMES = {
  'session.completed': 'completed',
  'session.interrupted': 'interrupted',
  'session.error': 'failed',
} as const

/** An answer has no name here: it goes on until something else is told. */
function toldBy(events: readonly EventParams[]): Told[] {
  const teller = createTeller()
  let answer = ''
  const flush = (): void => {
    if (answer !== '') teller.add({ what: 'answer', text: answer, aborted: false })
    answer = ''
  }
  for (const { type, payload } of events) {
    if (type === 'session.stream.chunk') answer += payload.chunk.answerText
    else if (type === 'session.message.appended' && payload.message.kind === 'user') {
      flush()
      teller.add({ what: 'user', text: payload.message.text })
    } else if (type === 'session.tool.call.started') {
      flush()
      const { callId, name } = payload.data.call
      teller.call(callId, { tool: name })
    } else if (type === 'session.tool.call.completed') {
      const { callId, ok } = payload.data.executed
      teller.call(callId, { state: ok ? 'done' : 'failed' })
    } else if (Object.hasOwn(OUTCOMES, type)) {
      flush()
      teller.add({ what: 'end', outcome: OUTCOMES[type as keyof typeof OUTCOMES] })
    }
  }
  flush()
  return teller.told
}

async function replayed(client: Client, { sessionId, random }: About): Promise<EventParams[]> {
  const events: EventParams[] = []
  for (let after: number | null = 0; after !== null;) {
    const limit = 1 + random(random(2) === 0 ? 5 : 200)
    const wish = { session_id: sessionId, after, limit }
    const page: { events: EventParams[]; next: number | null } = await client.call('events.replay', wish)
    events.push(...page.events)
    after = page.next
  }
  return events
}

/** `corral rpc`: one that looks on from the beginning, and one that reads afterwards. */
export function loafViews(world: World): { views: View[]; watch(sessionId: string): Promise<void> } {
  const live = startClient(world.daemon)
  const later = startClient(world.daemon)
  world.join({
    back: async () => {},
    close: async () => void (await Promise.all([live.close(), later.close()])),
  })
  // Nothing says what a human has answered, and a refusal is a failure.
  const silence = {
    never: ['decision'],
    helpers: true,
    aborted: true,
    joined: true,
    stopped: true,
    states: { refused: 'failed' },
  } as const
  return {
    watch: async (sessionId) => void (await live.call('session.get', { session_id: sessionId })),
    views: [
      {
        name: 'loaf events',
        silence,
        live: true,
        async read({ sessionId, played }) {
          // A session of the relay's has begun before anybody can look on.
          if (sessionId !== played.sessionId || played.plan.relay !== null) return null
          return toldBy(live.events().filter(({ payload }) => payload.session_id === sessionId))
        },
      },
      {
        name: 'loaf replay',
        silence,
        forgets: true,
        read: async (about) => toldBy(await replayed(later, about)),
      },
    ],
  }
}
