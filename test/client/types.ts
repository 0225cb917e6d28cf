import type { z } from 'zod'
import type { Event, EventType } from '../../src/core/event.ts'
import type { ConversationParts } from '../../src/core/conversation/parts.ts'
import type { conversationParts } from '../../src/dialects/native/wire-conversation.ts'
import type { Api } from '../../src/client/api.ts'
import type { Api as MethodApi } from '../../src/dialects/native/methods.ts'
import type { EVENTS } from '../../src/dialects/native/wire-event.ts'

/*
 * Nothing here runs: it does not compile when types that must agree do not.
 */

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false
/** The names whose types differ. */
type Different<A, B> = {
  [K in keyof A | keyof B]: K extends keyof A & keyof B ? (Same<A[K], B[K]> extends true ? never : K) : K
}[keyof A | keyof B]

/** What the documents say of an event is what core says. */
type DocumentedEvents = { [T in keyof typeof EVENTS]: z.output<(typeof EVENTS)[T]> }
type CoreEvents = { [T in EventType]: Event & { type: T } }

type Agreed<A, B> = [Different<A, B>] extends [never] ? true : Different<A, B>

export const events: Agreed<DocumentedEvents, CoreEvents> = true
export const conversation: Agreed<z.output<typeof conversationParts>, ConversationParts> = true

/** The client's types are those of the descriptors, but for what JSON knows nothing of: read-only lists and `undefined`. */
type Plain<T> = T extends readonly (infer Item)[]
  ? Plain<Item>[]
  : T extends object
    ? { -readonly [K in keyof T]: Plain<Exclude<T[K], undefined>> }
    : T
type PlainApi<A> = { [M in keyof A]: Plain<A[M]> }

export const api: Agreed<PlainApi<Api>, PlainApi<MethodApi>> = true
