import { connect, type Client, type Json } from '../../dialects/humanlayer/support.ts'
import { createTeller, type Teller, type Told } from '../told.ts'
import type { About, View } from '../view.ts'
import type { World } from '../world.ts'

const BEHAVIORS = { approved: 'allow', denied: 'deny', resolved: 'respond', cancelled: 'cancelled' } as const

/** Entries are the same in a conversation and in what subscribers are told. */
function entry(teller: Teller, it: Json): void {
  const text = it['content'] as string
  if (it['event_type'] === 'message' && it['role'] === 'assistant') {
    teller.add({ what: 'answer', text, aborted: false })
  } else if (it['event_type'] === 'message' && !isWordOfDecision(text)) {
    teller.add({ what: 'user', text })
  } else if (it['event_type'] === 'tool_call') {
    teller.call(it['tool_id'] as string, { tool: it['tool_name'] as string })
  } else if (it['event_type'] === 'tool_result') {
    teller.call(it['tool_result_for_id'] as string, { state: it['is_error'] ? 'failed' : 'done' })
  }
}

/** What a human, or a mode, wrote with a decision is a message of the user's, too. */
function isWordOfDecision(text: string): boolean {
  return text.startsWith('Denied ') || text === 'in my own words'
}

async function conversationOf(client: Client, { sessionId, random }: About): Promise<Told[]> {
  const teller = createTeller()
  let since = 0
  for (;;) {
    const limit = 1 + random(random(2) === 0 ? 3 : 40)
    const page = await client.call<{ events: Json[]; next_since?: number }>('getConversation', {
      session_id: sessionId,
      since,
      limit,
    })
    // The conversation of a session that branched off begins with its parent's.
    for (const it of page.events) if (it['session_id'] === sessionId) entry(teller, it)
    if (page.next_since === undefined) return teller.told
    since = page.next_since
  }
}

export async function humanlayerViews(world: World): Promise<View[]> {
  const sessions = new Map<string, Teller>()
  let client: Client
  let seen = 0
  let last = 0

  function read(): void {
    for (; seen < client.events.length; seen++) {
      const { type, data, seq } = client.events[seen]!
      last = Math.max(last, seq)
      const id = data['session_id'] as string
      const teller = sessions.get(id) ?? createTeller()
      sessions.set(id, teller)
      if (type === 'conversation_updated') entry(teller, data)
      if (type === 'approval_resolved') {
        const behavior = BEHAVIORS[data['decision'] as keyof typeof BEHAVIORS]
        teller.add({ what: 'decision', behavior })
      }
    }
  }

  async function enter(): Promise<void> {
    if (client) read()
    client = await connect(world.daemon.listeners['humanlayer']!)
    seen = 0
    await client.subscribe({ since: last })
  }

  await enter()
  world.join({ back: enter, close: () => client.close() })
  // Only a failure has words for an end, and a refusal is a result that is an error.
  const silence = { never: ['end', 'decision'], aborted: true, states: { refused: 'failed' } } as const
  return [
    {
      name: 'HumanLayer events',
      silence: { ...silence, never: ['end'] },
      live: true,
      async read({ sessionId }) {
        read()
        return sessions.get(sessionId)?.told ?? []
      },
    },
    { name: 'HumanLayer conversation', silence, read: (about) => conversationOf(client, about) },
  ]
}
