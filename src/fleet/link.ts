import type { Scope } from '../core/devices.ts'
import type { Event } from '../core/event.ts'
import type { LogCursor } from '../core/machine.ts'

/** Members that speak another one do not understand each other. */
export const PROTOCOL = 1

/** What a machine says of itself. */
export interface Hello {
  version: string
  protocol: number
  log: string
  head: number
}

/** On whose behalf something is called: it is checked where it runs. Null: the owner. */
export interface Caller {
  name: string
  scopes: readonly Scope[]
}

/** What a call came to, and how far the log of the machine was by then. */
export interface Called {
  result: unknown
  head: number
}

export interface EventPage {
  events: Event[]
  more: boolean
}

/** All that members want of each other, over one connection while it lasts. Everything rejects when that is over. */
export interface MachineLink {
  hello(): Promise<Hello>
  /** The ids of its own sessions. */
  sessions(): Promise<string[]>
  /** What a session begins with whose beginning has left the log; empty: it is gone. */
  beginning(sessionId: string): Promise<Event[]>
  /** The event of that number; null: there is none, or it has left the log. */
  eventAt(seq: number): Promise<Event | null>
  /** Its own events after a number, up to another one; `more`: a page has not room for all of them. */
  events(after: number, to: number): Promise<EventPage>
  /** Its own events after a place, in order, each once: the next ones when `deliver` is done. Never resolves. */
  follow(after: LogCursor, deliver: (events: Event[]) => Promise<void>): Promise<never>
  call(method: string, params: unknown, caller: Caller | null): Promise<Called>
  close(): void
}

/** Makes a connection, or says in words for people why there is none. */
export type Reach = (signal: AbortSignal) => Promise<MachineLink>
