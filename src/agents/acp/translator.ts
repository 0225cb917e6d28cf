import type { Translator } from '../agent.ts'
import { asObject, isObject, type JsonObject } from '../json.ts'
import { answered } from './answer.ts'
import { asked, withdrawn } from './permission.ts'
import { held, isHeld } from './held.ts'
import { type AcpProfile, modeOf } from './profile.ts'
import { purposeOf } from './rpc.ts'
import { andThen, nothing, other, says, type Step } from '../step.ts'
import { type AcpState, initialState, wish } from './state.ts'
import { accepted } from './turn.ts'
import { isAnswer, updated } from './update.ts'

/** The agent's side of the protocol as facts and signals. Never throws, whatever the line is. */
export function acpTranslator(profile: AcpProfile): Translator<AcpState> {
  return {
    initial: initialState,
    step: (state, line) =>
      isObject(line)
        ? [acceptance, step].reduce(
            (before, next) => andThen(before, (now) => next(profile, now, line)),
            modeNoticed(profile, state, line),
          )
        : other(state, 'unknown', line),
  }
}

/** A change of mode is the agent's own doing unless the line after it is the answer to a request of ours for it. */
function modeNoticed(profile: AcpProfile, state: AcpState, line: JsonObject): Step<AcpState> {
  const { noticed: modeId } = state
  if (modeId === null) return nothing(state)
  const next = { ...state, noticed: null }
  if (purposeOf(line.id)?.[0] === 'mode') return nothing(next)
  const mode = modeOf(profile, modeId)
  return says(next, { type: 'mode.observed', mode }, wish({ step: 'moved', modeId, modes: state.modes }))
}

/** An agent that reads nothing while it works answers the mark behind the message late; its first words prove as much. */
function acceptance(profile: AcpProfile, state: AcpState, line: JsonObject): Step<AcpState> {
  const { turnId } = state
  const asks = typeof line.method === 'string' && line.id !== undefined && line.id !== null
  const speaks = line.method === 'session/update' && isAnswer(profile, state, line)
  return turnId !== null && (asks || speaks) ? accepted(state, turnId) : nothing(state)
}

function step(profile: AcpProfile, state: AcpState, line: JsonObject): Step<AcpState> {
  const { id, method } = line
  if (typeof method !== 'string') {
    return id === undefined ? other(state, 'unknown', line) : answered(profile, state, line)
  }
  if (id !== undefined && id !== null) return requested(profile, state, method, line)
  if (method === 'session/update') return updated(profile, state, line)
  if (method === '$/cancel_request') return withdrawn(state, line)
  return nothing(state)
}

/** Something that the agent waits for: a human's word, or a file, or a command. */
function requested(profile: AcpProfile, state: AcpState, method: string, line: JsonObject): Step<AcpState> {
  if (method === 'session/request_permission') return asked(profile, state, line)
  if (isHeld(profile, method)) return held(state, method, line)
  return says(state, wish({ step: 'call', id: line.id, method, params: asObject(line.params) }))
}
