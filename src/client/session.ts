import type { Api, Content, EventType, Events, SessionView } from './api.ts'
import { openApprovals, type Approval, type ApprovalOptions } from './approvals.ts'
import type { NativeClient } from './calls.ts'
import { eventFeed, type EventFeed, type EventOptions } from './feed.ts'
import { runTurn, type Answer, type TurnOptions } from './turn.ts'

type Params<M extends keyof Api> = Api[M]['params']
type Sent = Api['session.send']['result']

/** A message: a text, or pieces of text, images and documents. */
export type Message = string | Content[]

export type SendOptions = Pick<TurnOptions, 'busy' | 'key'>

/** One session of the daemon. It goes on when this program does not. */
export interface Session {
  readonly id: string
  /** As it was when it was last asked for. */
  readonly view: SessionView
  /** Asks for it again. */
  refresh(): Promise<SessionView>
  /**
   * Sends a message and resolves with the answer. Throws `TurnFailed` or `TurnInterrupted` when there is none. The message is
   * sent once, however often the connection is lost.
   */
  turn(message: Message, options?: TurnOptions): Promise<Answer>
  /** Sends a message and does not wait for the answer. */
  send(message: Message, options?: SendOptions): Promise<Sent>
  /** Stops the turn that runs. */
  interrupt(): Promise<Api['session.interrupt']['result']>
  configure(changes: Omit<Params<'session.configure'>, 'sessionId'>): Promise<SessionView>
  events<T extends EventType = EventType>(options?: EventOptions<T>): EventFeed<Events[T]>
  approvals(options?: Omit<ApprovalOptions, 'sessionId'>): AsyncIterable<Approval>
  destroy(): Promise<Api['session.destroy']['result']>
}

export interface SessionContext {
  client: NativeClient
  /** For the log: who it was. */
  name: string
}

/** Enough, and in every browser: `randomUUID` is for pages that came over TLS only. */
export function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
}

export function sessionOf({ client, name }: SessionContext, first: SessionView): Session {
  const sessionId = first.id
  let view = first
  const told = (next: SessionView): SessionView => (view = next)
  return {
    id: sessionId,
    get view() {
      return view
    },
    refresh: async () => told(await client.call('session.get', { sessionId })),
    turn(content, options = {}) {
      const { key = newKey() } = options
      return runTurn(client, { sessionId, content, key, origin: name }, options)
    },
    send: (content, { busy, key = newKey() } = {}) =>
      client.call('session.send', { sessionId, content, key, origin: name, busy }),
    interrupt: () => client.call('session.interrupt', { sessionId }),
    configure: async (changes) => told(await client.call('session.configure', { ...changes, sessionId })),
    events: (options) => eventFeed(client, options, sessionId),
    approvals: (options) => openApprovals(client, name, { ...options, sessionId }),
    destroy: () => client.call('session.destroy', { sessionId }),
  }
}
