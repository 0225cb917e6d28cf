import type { Api, Content, Event, EventType, Failure, TurnView, Usage } from './api.ts'
import type { NativeClient } from './calls.ts'
import { ClientError, ConnectionLost } from './link.ts'

/** What an agent has answered in a turn. */
export interface Answer {
  /** Its last words. */
  text: string
  turnId: string
  usage: Usage
  /** In US dollars; null: the agent does not say. */
  cost: number | null
}

export interface TurnOptions {
  /** Interrupts the turn. The promise is rejected with the signal's reason when the agent has stopped. */
  signal?: AbortSignal | undefined
  /** While the session is busy: wait, be refused, go to the turn that runs, or stop that one. */
  busy?: Api['session.send']['params']['busy']
  /** The same key twice has one effect. One is made by default, so that a lost connection never sends a message twice. */
  key?: string | undefined
  /** The answer as it is written, piece by piece. */
  onText?: ((piece: string) => void) | undefined
  /** Everything that happens in the session until the turn is over. */
  onEvent?: ((event: Event) => void) | undefined
}

/** The turn ended without an answer. */
abstract class TurnError extends ClientError {
  readonly turnId: string

  constructor(message: string, turnId: string) {
    super(message)
    this.turnId = turnId
  }
}

/** `code` and `detail` are those of the failure: `model_error`, `agent_exited`, `agent_start`, `limit` and others. */
export class TurnFailed extends TurnError {
  readonly code: string
  readonly remedy = 'Read the message; the session is there, and takes the next one.'
  readonly detail: Readonly<Record<string, unknown>>

  constructor({ code, message, detail = {} }: Failure, turnId: string) {
    super(message, turnId)
    this.name = 'TurnFailed'
    this.code = code
    this.detail = detail
  }
}

/** `cancelled`: it was taken out of the queue before it began. */
export class TurnInterrupted extends TurnError {
  readonly code: 'interrupted' | 'cancelled'
  readonly remedy = 'Send the message again if it is still wanted.'

  constructor(code: TurnInterrupted['code'], turnId: string) {
    super(code === 'interrupted' ? 'the turn was interrupted' : 'the turn was cancelled', turnId)
    this.name = 'TurnInterrupted'
    this.code = code
  }
}

type Sent = Pick<Api['session.send']['result'], 'turnId' | 'seq' | 'log'>

const ENDS: readonly EventType[] = [
  'turn.completed',
  'turn.failed',
  'turn.interrupted',
  'turn.cancelled',
  'turn.steer_accepted',
  'session.destroyed',
]
const PIECES: readonly EventType[] = ['message.delta', 'message.completed']

/** Sends a message and resolves with the answer. */
export async function runTurn(
  client: NativeClient,
  params: { sessionId: string; content: string | Content[]; key: string; origin: string },
  options: TurnOptions,
): Promise<Answer> {
  options.signal?.throwIfAborted()
  const sent = await client.call('session.send', { ...params, busy: options.busy })
  return followTurn(client, params.sessionId, sent, options)
}

/** Resolves when a turn is over, however often the connection is lost meanwhile. */
async function followTurn(
  client: NativeClient,
  sessionId: string,
  sent: Sent,
  { signal, onText, onEvent }: TurnOptions,
): Promise<Answer> {
  const { promise: settled, resolve, reject } = Promise.withResolvers<Answer>()
  const types = [...ENDS, ...(onText ? PIECES : [])]
  const stream = client.events({
    after: sent.seq - 1,
    log: sent.log,
    sessionId,
    ...(!onEvent && { types }),
    onReset({ oldest }) {
      // Its end may be among the events that are gone.
      lookUp(client, sent.turnId, resolve).catch(reject)
      return Math.max(oldest - 1, 0)
    },
  })
  const ending = createEnding(sent.turnId)
  const interrupt = (): void => {
    client.call('session.interrupt', { sessionId, turnId: ending.turnId }).catch(reject)
  }
  signal?.addEventListener('abort', interrupt)
  if (signal?.aborted) interrupt()

  async function read(): Promise<Answer> {
    const text = onText && createText(onText)
    for await (const event of stream) {
      onEvent?.(event)
      text?.(event)
      const answer = ending.of(event)
      if (answer) return answer
    }
    throw new ConnectionLost('the client was closed before the turn was over', 'closed')
  }

  read().then(resolve, reject)
  try {
    return await settled
  } catch (error) {
    if (signal?.aborted && error instanceof TurnInterrupted) throw signal.reason
    throw error
  } finally {
    signal?.removeEventListener('abort', interrupt)
    stream.close()
  }
}

/** Whether it is over already; throws when it ended without an answer, or nobody knows of it. */
async function lookUp(
  client: NativeClient,
  turnId: string,
  resolve: (answer: Answer) => void,
): Promise<void> {
  const turn = await client.call('turn.get', { turnId })
  const answer = answerOf(turn)
  if (answer) resolve(answer)
}

const NO_USAGE: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  costUsd: null,
  modelCalls: 0,
  durationMs: 0,
}

function answerOf({ id, state, text, usage, error }: TurnView): Answer | null {
  if (state === 'completed') return completed(id, text, usage ?? NO_USAGE)
  if (state === 'interrupted' || state === 'cancelled') throw new TurnInterrupted(state, id)
  if (state === 'failed') throw new TurnFailed(error ?? { code: 'unknown', message: 'the turn failed' }, id)
  return null
}

function completed(turnId: string, text: string | null, usage: Usage): Answer {
  return { text: text ?? '', turnId, usage, cost: usage.costUsd }
}

interface Ending {
  /** The turn that the message is part of: another one when it was brought there. */
  readonly turnId: string
  /** The answer, when the turn ends with this event; null: it does not. Throws when it ends without one. */
  of(event: Event): Answer | null
}

function createEnding(first: string): Ending {
  let turnId = first
  return {
    get turnId() {
      return turnId
    },
    of(event) {
      if (event.type === 'session.destroyed') throw new TurnInterrupted('interrupted', turnId)
      if (event.type === 'turn.steer_accepted' && event.steerId === turnId) turnId = event.turnId
      if (event.turnId !== turnId) return null
      if (event.type === 'turn.completed') return completed(turnId, event.text, event.usage)
      if (event.type === 'turn.failed') throw new TurnFailed(event.error, turnId)
      if (event.type === 'turn.interrupted') throw new TurnInterrupted('interrupted', turnId)
      if (event.type === 'turn.cancelled' && event.steered === undefined)
        throw new TurnInterrupted('cancelled', turnId)
      return null
    },
  }
}

/** What the agent itself says, each character once: after a reconnect the log has the whole message and not its pieces. */
function createText(onText: (piece: string) => void): (event: Event) => void {
  const told = new Map<string, number>()
  return (event) => {
    const isPiece = event.type === 'message.delta'
    if (!isPiece && event.type !== 'message.completed') return
    if (event.kind !== 'text' || event.parent !== null) return
    const length = told.get(event.messageId) ?? 0
    const piece = isPiece ? event.text : event.text.slice(length)
    if (isPiece) told.set(event.messageId, length + piece.length)
    else told.delete(event.messageId)
    if (piece !== '') onText(piece)
  }
}
