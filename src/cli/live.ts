import { setTimeout as delay } from 'node:timers/promises'
import { emptyConversation, step, type Conversation } from '../core/conversation/conversation.ts'
import type { Change } from '../core/conversation/item.ts'
import type { Event } from '../core/event.ts'
import { uuid } from '../core/ids.ts'
import type { EventStream, NativeClient } from '../client/client.ts'
import type { HistoryItem, TurnView } from '../dialects/native/wire.ts'
import { answering, type Answering } from './answer.ts'
import type { Ending } from './attach/state.ts'
import type { Cli } from './cli.ts'
import { clean, shortId } from './format.ts'
import { openScreen, type Screen } from './screen.ts'
import { createStreamer } from './streamer.ts'

export interface LiveOptions {
  client: NativeClient
  sessionId: string
  /** Show what comes after this. */
  after: number
  log: string
  /** Turns that were queued before that. */
  waiting?: readonly TurnView[]
  /** Questions that were asked before that, and wait. */
  asked?: readonly Event[]
  /** The session is paused. */
  paused?: boolean
  /** Leave when this turn is over. */
  turnId?: string
  /** Typed lines are messages. */
  writes: boolean
  /** What a screen shows above that, and says below it. */
  past?: readonly HistoryItem[]
  greeting?: string
}

export type { Ending }

/** How long leaving waits for the lines that were typed before. */
const LEAVE_MS = 1000

const HELP = `TEXT         send a message
/steer TEXT  send a text into the running turn
/interrupt   stop the running turn
/detach      leave, as Ctrl-C does; the session goes on`

/** A person is at a terminal that can be drawn on. */
export function hasScreen({ interactive, env }: Cli): boolean {
  return interactive && !['', 'dumb'].includes(env['TERM'] ?? '')
}

/** Shows a session as it goes on, until its turn is over, it is gone, or the user leaves. */
export async function live(cli: Cli, options: LiveOptions): Promise<Ending> {
  if (!hasScreen(cli)) return asText(cli, options)
  const { attachTo } = await import('./attach/client.ts')
  const { client, sessionId, after, log, waiting = [], asked = [], turnId = null } = options
  const { past = [], greeting = '' } = options
  const session = await client.call('session.get', { sessionId })
  const conversation = conversationWith(waiting.filter(({ endedAt }) => endedAt === null))
  return attachTo(cli, { client, session, past, conversation, asked, after, log, turnId, greeting })
}

/** As text that runs on, for pipes and for terminals that cannot be drawn on. */
async function asText(cli: Cli, options: LiveOptions): Promise<Ending> {
  const { client, sessionId, after, log } = options
  const stream = client.events({ after, log, sessionId, onLink })
  const keys = new Set<string>()
  const isOwn = (key: string): boolean => cli.interactive && keys.has(key)
  const streamer = createStreamer(cli.paint, { paused: options.paused ?? false, isOwn })
  const conversation = conversationWith(options.waiting ?? [])
  const open = new Map<string, Answering>()
  const session = { client, sessionId, open, keys, writes: options.writes }
  const { promise: leaving, resolve: leaves } = Promise.withResolvers<void>()
  let left = false
  let busy = Promise.resolve()
  const screen: Screen = openScreen(cli, {
    line(text) {
      if (text === '/detach') return leave()
      busy = busy.then(() => heard(text, session, screen))
    },
    leave,
  })

  function leave(): void {
    left = true
    leaves()
    stream.close()
  }

  function onLink(state: 'away' | 'back'): void {
    const text = state === 'away' ? 'the daemon is not reachable; waiting for it' : 'the daemon is back'
    if (cli.interactive) screen.write(streamer.remark(text))
    else if (!cli.json) cli.note(`-- ${text}`)
  }

  function show(event: Event): void {
    const changes = step(conversation, event)
    screen.write(streamer.tell(event, changes))
    for (const change of changes) track(change, conversation, open)
    const [first] = open.values()
    screen.setPrompt(first ? first.prompt() : '> ')
    for (const change of cli.interactive ? [] : changes) {
      if (change.type !== 'asked' || !change.question.asked) continue
      const id = shortId(change.question.approval.id)
      screen.write(`  answer with: corral approve ${id}, or: corral deny ${id}\n`)
    }
  }

  if (!cli.json) options.asked?.forEach(show)
  try {
    return await follow(stream, options, cli.json ? cli.printJson : show)
  } catch (error) {
    if (left) return 'left'
    throw error
  } finally {
    stream.close()
    await Promise.race([busy, leaving.then(() => delay(LEAVE_MS, undefined, { ref: false }))])
    screen.close()
  }
}

/** The conversation at the beginning of a turn, or while no turn is running. */
function conversationWith(waiting: readonly TurnView[]): Conversation {
  const conversation = emptyConversation()
  for (const { id, input: content, key, origin, queuedAt: sentAt } of waiting) {
    conversation.waiting.set(id, { id, content, key, origin, steer: false, sentAt })
  }
  return conversation
}

async function follow(
  stream: EventStream,
  options: LiveOptions,
  show: (event: Event) => void,
): Promise<Ending> {
  let { turnId } = options
  for await (const event of stream) {
    show(event)
    if (event.type === 'session.destroyed') return 'destroyed'
    // Somebody has brought the message to another turn: it ends with that one.
    if (event.type === 'turn.steer_accepted' && event.steerId === turnId) turnId = event.turnId
    if (turnId === undefined || event.turnId !== turnId) continue
    if (event.type === 'turn.completed') return 'completed'
    if (event.type === 'turn.failed') return 'failed'
    if (event.type === 'turn.interrupted') return 'interrupted'
    if (event.type === 'turn.cancelled' && event.steered === undefined) return 'cancelled'
  }
  return 'left'
}

function track(change: Change, { questions }: Conversation, open: Map<string, Answering>): void {
  if (change.type === 'asked' && change.question.asked) {
    const { approval } = change.question
    open.set(approval.id, answering(approval))
  } else if (change.type === 'decided') open.delete(change.verdict.approvalId)
  else if (change.type === 'ended') {
    for (const id of open.keys()) if (!questions.has(id)) open.delete(id)
  }
}

interface Talk {
  client: NativeClient
  sessionId: string
  open: Map<string, Answering>
  /** The keys of the messages that were sent from here. */
  keys: Set<string>
  writes: boolean
}

/** Does what a typed line says. One at a time: a line may depend on what the one before it did. */
async function heard(text: string, talk: Talk, screen: Screen): Promise<void> {
  const { client, sessionId, open } = talk
  const [current] = open.values()
  try {
    if (text === '/interrupt') return void (await client.call('session.interrupt', { sessionId }))
    if (text.startsWith('/steer ')) {
      const content = text.slice('/steer '.length)
      return void (await client.call('session.steer', { sessionId, content, key: uuid(), origin: 'cli' }))
    }
    if (text === '/help') return screen.write(`${HELP}\n`)
    if (current) {
      const reply = current.line(text)
      if ('again' in reply) return screen.write(`${clean(reply.again)}\n`)
      open.delete(current.asked.id)
      return void (await client.call('approval.decide', reply.decide))
    }
    if (text.trim() === '' || !talk.writes) return
    const key = uuid()
    talk.keys.add(key)
    await client.call('session.send', { sessionId, content: text, key, origin: 'cli' })
  } catch (error) {
    screen.write(`! ${clean(error instanceof Error ? error.message : String(error))}\n`)
  }
}
