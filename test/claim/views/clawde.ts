import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CallState } from '../../../src/core/conversation/item.ts'
import { dial, type Client, type Json } from '../../dialects/clawde/support.ts'
import { createTeller, type Silence, type Teller, type Told } from '../told.ts'
import type { About, View } from '../view.ts'
import type { World } from '../world.ts'

/** Nothing in the protocol says how a turn ended or what a human has answered. */
const SILENCE: Silence = { never: ['end', 'decision'], helpers: true }

const STATES: Record<string, CallState> = {
  pending: 'asked',
  running: 'running',
  done: 'done',
  error: 'failed',
  rejected: 'refused',
}

/**
 * The pushes of one session, from the first one on. While a call is held back, `seq` stands still: who comes back then is told
 * again what it has, so messages are known by their ids.
 */
function pushed(teller: Teller, known: Set<unknown>, method: string, params: Json): void {
  const { message, toolCall } = params as { message?: Json; toolCall?: Json }
  const isUser = method === 'session.messageCreated' && message!['role'] === 'user'
  const isAnswer = method === 'session.messageUpdated' && params['status'] === 'done'
  const id = isUser ? message!['id'] : params['messageId']
  if ((isUser || isAnswer) && known.has(id)) return
  if (isUser || isAnswer) known.add(id)
  if (isUser) {
    teller.add({ what: 'user', text: message!['content'] as string })
  } else if (isAnswer) {
    teller.add({ what: 'answer', text: params['content'] as string, aborted: params['aborted'] === true })
  } else if (method === 'session.toolCallCreated') {
    const { id, name, status } = toolCall as { id: string; name: string; status: string }
    teller.call(id, { tool: name, state: STATES[status]! })
  } else if (method === 'session.toolCallUpdated') {
    teller.call(params['toolCallId'] as string, { state: STATES[params['status'] as string]! })
  }
}

interface Message {
  id: string
  role: string
  content: string
  aborted?: boolean
  toolCall?: { name: string; status: string }
}

/** Page by page from the end. */
async function messagesOf(client: Client, { sessionId, random }: About): Promise<Message[]> {
  let messages: Message[] = []
  for (;;) {
    const limit = 1 + random(random(2) === 0 ? 3 : 40)
    const before = messages[0]?.id
    const page = await client.call<Message[]>('session.getMessages', {
      sessionId,
      limit,
      ...(before !== undefined && { before }),
    })
    messages = [...page, ...messages]
    if (page.length < limit) return messages
  }
}

function toldBy(messages: readonly Message[]): Told[] {
  const teller = createTeller()
  for (const { id, role, content, aborted = false, toolCall } of messages) {
    if (role === 'user') teller.add({ what: 'user', text: content })
    if (role === 'assistant') teller.add({ what: 'answer', text: content, aborted })
    if (toolCall) teller.call(id, { tool: toolCall.name, state: STATES[toolCall.status]! })
  }
  return teller.told
}

export async function clawdeViews(world: World): Promise<View[]> {
  const sessions = new Map<string, Teller>()
  const known = new Set<unknown>()
  const ends: (() => void)[] = []
  let client: Client
  let seen = 0
  let last = 0
  let subscribed = false

  /** Takes what has come since the last look. */
  function read(): void {
    for (; seen < client.pushes.length; seen++) {
      const { method, params } = client.pushes[seen]!
      // What happens between signing in and subscribing is pushed, too, and told again in its place.
      subscribed ||= method === 'daemon.ready'
      if (!subscribed) continue
      const id = params['sessionId'] as string | undefined
      last = Math.max(last, (params['seq'] as number | undefined) ?? 0)
      if (id === undefined) continue
      const teller = sessions.get(id) ?? createTeller()
      sessions.set(id, teller)
      pushed(teller, known, method, params)
    }
  }

  async function enter(): Promise<void> {
    if (client) read()
    client = await dial({ after: (end) => void ends.push(end) }, world.daemon.listeners['clawde']!)
    seen = 0
    subscribed = false
    const token = readFileSync(join(world.daemon.home, '.local/share/clawd/auth_token'), 'utf8')
    await client.call('daemon.auth', { token })
    await client.call('events.subscribe', { after: last })
  }

  await enter()
  world.join({ back: enter, close: () => ends.forEach((end) => end()) })
  return [
    {
      name: 'ClawDE pushes',
      silence: SILENCE,
      live: true,
      async read({ sessionId }) {
        read()
        return sessions.get(sessionId)?.told ?? []
      },
    },
    {
      name: 'ClawDE messages',
      silence: SILENCE,
      read: async (about) => toldBy(await messagesOf(client, about)),
    },
  ]
}
