import { setTimeout as delay } from 'node:timers/promises'
import { step, type Conversation } from '../../core/conversation/conversation.ts'
import type { Event } from '../../core/event.ts'
import { uuid } from '../../core/ids.ts'
import type { NativeClient } from '../../client/client.ts'
import type { HistoryItem, SessionView } from '../../dialects/native/wire.ts'
import type { Cli } from '../cli.ts'
import { abilitiesOf } from './abilities.ts'
import { createEffects } from './effects.ts'
import { createScreen } from './screen.ts'
import { firstState, type Beginning, type Ending, type Input, type State } from './state.ts'
import { noted } from './transcript.ts'
import { openTty } from './tty.ts'
import { readTyped } from './typed-file.ts'
import { update } from './update.ts'
import { createViewer, type Viewer } from './view.ts'

export interface AttachOptions {
  client: NativeClient
  session: SessionView
  past: readonly HistoryItem[]
  /** The conversation where the events go on. */
  conversation: Conversation
  /** Questions that were asked before that, and wait. */
  asked: readonly Event[]
  after: number
  log: string
  /** Leave when this turn is over. */
  turnId: string | null
  /** Said below what was there before. */
  greeting: string
}

/** How long leaving waits for what was typed before. */
const LEAVE_MS = 1000
const TICK_MS = 250

/** A session on the whole of a terminal's attention, until its turn is over, it is gone, or the user leaves. */
export async function attachTo(cli: Cli, options: AttachOptions): Promise<Ending> {
  const { client, session, turnId } = options
  const sessionId = session.id
  const kept = turnId === null ? await client.call('draft.get', { sessionId }).catch(() => null) : null
  const typed = kept?.text ?? ''
  const recalled = await readTyped(cli.home)
  const ended = Promise.withResolvers<Ending>()
  const effects = createEffects({ client, sessionId, home: cli.home, tell })
  const tty = openTty(cli, {
    press: (press) => tell({ type: 'press', press, now: Date.now() }),
    changed() {
      screen.wipe()
      tell({ type: 'size', ...tty.size() })
    },
    leave: () => tell({ type: 'leave' }),
  })
  const screen = createScreen(tty, viewerFor(cli))
  let state = stateAt(options, { ...tty.size(), typed, recalled })

  function tell(input: Input): void {
    const next = update(state, input)
    state = next.state
    for (const effect of next.effects) {
      if (effect.do === 'leave') ended.resolve(effect.ending)
      else if (effect.do === 'suspend') tty.suspend()
      else if (effect.do === 'repaint') screen.wipe()
      else effects.run(effect)
    }
    screen.draw(state, input.type !== 'event' && input.type !== 'tick')
  }

  const ticking = setInterval(() => {
    if (state.turn !== null || state.awaySince !== null) tell({ type: 'tick', now: Date.now() })
  }, TICK_MS)
  void abilitiesOf(client, session, (abilities) => tell({ type: 'abilities', abilities }))
  const stream = follow(options, tell)
  stream.over.catch(ended.reject)
  screen.draw(state, true)
  try {
    return await ended.promise
  } finally {
    clearInterval(ticking)
    stream.close()
    await Promise.race([effects.settled(), delay(LEAVE_MS, undefined, { ref: false })])
    const words = await keepUnsent(client, sessionId, state.draft.text, typed)
    screen.finish(state)
    tty.close()
    if (words !== '') cli.note(words)
  }
}

function viewerFor(cli: Cli): Viewer {
  const hasColour = cli.paint('bold', 'x') !== 'x'
  return createViewer((looks, text) => cli.paint([...looks], text), hasColour)
}

type Found = Pick<Beginning, 'columns' | 'rows' | 'typed' | 'recalled'>

function stateAt(options: AttachOptions, found: Found): State {
  const { conversation, greeting, ...rest } = options
  const waiting = [...conversation.waiting.values()]
  const state = firstState({ ...rest, ...found, waiting, now: Date.now(), nonce: uuid() })
  return greeting === '' ? state : { ...state, transcript: noted(state.transcript, greeting) }
}

/** Tells what happens, until it is closed. */
function follow(
  options: AttachOptions,
  tell: (input: Input) => void,
): { over: Promise<void>; close(): void } {
  const { client, session, after, log, conversation } = options
  const onLink = (link: 'away' | 'back'): void => tell({ type: 'link', state: link, now: Date.now() })
  const stream = client.events({ after, log, sessionId: session.id, onLink })
  function happens(event: Event): void {
    const changes = step(conversation, event)
    const { waiting, turn, questions } = conversation
    const under = { waiting: [...waiting.values()], turn, asking: [...questions.keys()] }
    tell({ type: 'event', event, changes, now: Date.now(), ...under })
  }
  async function read(): Promise<void> {
    for await (const event of stream) happens(event)
  }
  options.asked.forEach(happens)
  return { over: read(), close: () => stream.close() }
}

/** What was typed and not sent is there again the next time, here and in the dashboard. */
async function keepUnsent(
  client: NativeClient,
  sessionId: string,
  text: string,
  before: string,
): Promise<string> {
  if (text.trim() === before.trim()) return ''
  const kept = client.call('draft.set', { sessionId, text: text.trim() === '' ? '' : text }).then(
    () => true,
    () => false,
  )
  const isKept = await Promise.race([kept, delay(LEAVE_MS, false, { ref: false })])
  if (text.trim() === '') return ''
  return isKept
    ? 'what you typed and did not send is kept for the next time'
    : `you typed and did not send:\n${text}`
}
