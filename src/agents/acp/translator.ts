import type { Translator } from '../agent.ts'
import { asObject, isObject, type JsonObject } from '../json.ts'
import { answered } from './answer.ts'
import { asked, withdrawn } from './permission.ts'
import type { AcpProfile } from './profile.ts'
import type { AcpRequest } from './request.ts'
import { purposeOf } from './rpc.ts'
import { type AcpState, initialState, nothing, other, said, type Step, andThen } from './state.ts'
import { updated } from './update.ts'

/** The agent's side of the protocol as facts and signals. Never throws, whatever the line is. */
export function acpTranslator(profile: AcpProfile): Translator<AcpState> {
  return {
    initial: initialState,
    step: (state, line) =>
      isObject(line)
        ? andThen(modeNoticed(state, line), (now) => step(profile, now, line))
        : other(state, 'unknown', line),
  }
}

/** A change of mode is the agent's own doing unless the line after it is the answer to a request of ours for it. */
function modeNoticed(state: AcpState, line: JsonObject): Step {
  const { noticed: mode } = state
  if (mode === null) return nothing(state)
  const next = { ...state, noticed: null }
  return purposeOf(line.id)?.[0] === 'mode' ? nothing(next) : said(next, { type: 'mode.observed', mode })
}

function step(profile: AcpProfile, state: AcpState, line: JsonObject): Step {
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
function requested(profile: AcpProfile, state: AcpState, method: string, line: JsonObject): Step {
  if (method === 'session/request_permission') return asked(profile, state, line)
  const request: AcpRequest = { step: 'call', id: line.id, method, params: asObject(line.params) }
  return said(state, { type: 'agent.request', request })
}
