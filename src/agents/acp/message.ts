import { asObject, asString, type JsonObject } from '../json.ts'
import type { AcpProfile } from './profile.ts'
import { andThen, nothing, notice, says, type Step } from '../step.ts'
import { type AcpState, completeMessage, type OpenMessage } from './state.ts'
import { refusedCalls } from './tool.ts'

/** A message of more characters is cut there. */
const MAX_TEXT = 1024 * 1024

/** A piece of the answer. The protocol has no end of a message: it is over when something else begins. */
export function chunk(
  profile: AcpProfile,
  state: AcpState,
  kind: OpenMessage['kind'],
  update: JsonObject,
): Step<AcpState> {
  const whole = kind === 'thinking' && profile.thoughtIn !== undefined
  const piece = pieceOf(update.content)
  const text = whole ? profile.thoughtIn!(piece) : piece
  if (state.turnId === null || text === '') return nothing(state)
  const native = asString(update.messageId)
  const goesOn = !whole && state.message !== null && continues(state.message, kind, native)
  const ready = goesOn ? nothing(state) : andThen(endMessage(refused(profile, state)), begin(kind, native))
  return andThen(ready, (now) => append(now, text))
}

function refused(profile: AcpProfile, state: AcpState): Step<AcpState> {
  return profile.silentRefusals ? refusedCalls(state) : nothing(state)
}

function continues(message: OpenMessage, kind: OpenMessage['kind'], native: string | null): boolean {
  return message.kind === kind && (native === null || message.native === null || native === message.native)
}

function begin(kind: OpenMessage['kind'], native: string | null): (state: AcpState) => Step<AcpState> {
  return (state) => {
    const message = { id: `${state.turnId}:${state.messages}`, kind, native, text: '' }
    return nothing({ ...state, message, messages: state.messages + 1 })
  }
}

function append(state: AcpState, piece: string): Step<AcpState> {
  const before = state.message!.text
  const text = piece.slice(0, MAX_TEXT - before.length)
  if (text === '') return nothing(state)
  const message = { ...state.message!, text: before + text }
  const { id: messageId, kind } = message
  const delta = { type: 'message.delta', messageId, kind, text, parent: null } as const
  const tooLong = `A message was longer than ${MAX_TEXT} characters; the rest of it is not kept`
  const notices = text === piece ? [] : [notice('message_cut', tooLong)]
  return says({ ...state, message }, delta, ...notices)
}

function endMessage(before: Step<AcpState>): Step<AcpState> {
  return andThen(before, (state) => completeMessage(state))
}

function pieceOf(content: unknown): string {
  const { text, type } = asObject(content)
  return asString(text) ?? (typeof type === 'string' ? `[${type}]` : '')
}
