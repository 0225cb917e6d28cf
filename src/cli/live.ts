import { setTimeout as delay } from 'node:timers/promises'
import type { Event } from '../core/event.ts'
import { uuid } from '../core/ids.ts'
import type { EventStream, NativeClient } from '../dialects/native/client.ts'
import type { TurnView } from '../dialects/native/wire.ts'
import { answering, type Answering } from './answer.ts'
import type { Cli } from './cli.ts'
import { clean, shortId } from './format.ts'
import { isAutomatic } from './render.ts'
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
  /** It stands still. */
  paused?: boolean
  /** Leave when this turn is over. */
  turnId?: string
  /** Typed lines are messages. */
  writes: boolean
}

export type Ending = 'completed' | 'failed' | 'interrupted' | 'cancelled' | 'destroyed' | 'left'

/** How long somebody who leaves waits for what they typed before. */
const LEAVE_MS = 1000

const HELP =
  '/interrupt stops the running turn, /steer and a text goes into it, /detach leaves; everything else is sent as a message'

/** Shows a session as it goes on, until its turn is over, it is gone, or the user leaves. */
export async function live(cli: Cli, options: LiveOptions): Promise<Ending> {
  const { client, sessionId, after, log } = options
  const stream = client.events({ after, log, sessionId, onLink })
  const keys = new Set<string>()
  const isOwn = (key: string): boolean => cli.interactive && keys.has(key)
  const { waiting = [], paused = false } = options
  const streamer = createStreamer(cli.paint, { waiting, paused, isOwn })
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
    const text = state === 'away' ? 'the daemon is away; waiting' : 'back'
    if (cli.interactive) screen.write(streamer.remark(text))
    else if (!cli.json) cli.note(`-- ${text}`)
  }

  function show(event: Event): void {
    screen.write(streamer.step(event))
    track(event, open)
    const [first] = open.values()
    screen.setPrompt(first ? first.prompt() : '> ')
    if (event.type === 'approval.requested' && !cli.interactive) {
      screen.write(`  answer with: corral approve ${shortId(event.approval.id)}, or corral deny …\n`)
    }
  }

  const shown = withoutAutomatic(show)
  try {
    return await follow(stream, options, cli.json ? cli.printJson : shown.step)
  } catch (error) {
    if (left) return 'left'
    throw error
  } finally {
    shown.flush()
    stream.close()
    await Promise.race([busy, leaving.then(() => delay(LEAVE_MS, undefined, { ref: false }))])
    screen.close()
  }
}

/** A question that the mode itself answers, in the same breath, is not shown at all. */
function withoutAutomatic(show: (event: Event) => void): { step(event: Event): void; flush(): void } {
  let held: (Event & { type: 'approval.requested' }) | null = null
  let timer: NodeJS.Immediate | null = null

  function flush(): void {
    if (timer) clearImmediate(timer)
    timer = null
    const event = held
    held = null
    if (event) show(event)
  }

  return {
    flush,
    step(event) {
      if (
        event.type === 'approval.resolved' &&
        event.approvalId === held?.approval.id &&
        isAutomatic(event.by)
      ) {
        held = null
        return
      }
      flush()
      if (event.type !== 'approval.requested') return show(event)
      held = event
      timer = setImmediate(flush)
    },
  }
}

async function follow(
  stream: EventStream,
  options: LiveOptions,
  show: (event: Event) => void,
): Promise<Ending> {
  for await (const event of stream) {
    show(event)
    if (event.type === 'session.destroyed') return 'destroyed'
    if (options.turnId === undefined || event.turnId !== options.turnId) continue
    if (event.type === 'turn.completed') return 'completed'
    if (event.type === 'turn.failed') return 'failed'
    if (event.type === 'turn.interrupted') return 'interrupted'
    if (event.type === 'turn.cancelled') return 'cancelled'
  }
  return 'left'
}

function track(event: Event, open: Map<string, Answering>): void {
  if (event.type === 'approval.requested') open.set(event.approval.id, answering(event.approval))
  else if (event.type === 'approval.resolved') open.delete(event.approvalId)
  else if (/^turn\.(completed|failed|interrupted)$/.test(event.type)) open.clear()
}

interface Talk {
  client: NativeClient
  sessionId: string
  open: Map<string, Answering>
  /** Of the messages that were sent from here. */
  keys: Set<string>
  writes: boolean
}

/** What to do about a typed line. One at a time: a line may depend on what the one before it did. */
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
