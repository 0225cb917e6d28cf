import type { AgentDriver, Translator } from '../agent.ts'
import { judged } from '../signed-in.ts'
import { encode } from './encode.ts'
import { greeting, refuseUnsupported } from './handshake.ts'
import { type AcpProfile, WORDLESS } from './profile.ts'
import type { AcpRequest } from './request.ts'
import { invalid, mark, stop } from './rpc.ts'
import { acpService } from './service.ts'
import type { AcpState } from './state.ts'
import { acpTranslator } from './translator.ts'

/** A driver for an agent that speaks the Agent Client Protocol over its pipes. */
export function acpDriver(profile: AcpProfile): AgentDriver {
  const { name, title } = profile
  return {
    name,
    title,
    capabilities: { ...profile.capabilities, ...WORDLESS },
    unasked: profile.unasked,
    detect: profile.detect,
    signedIn: async (env) => profile.signedIn?.(env) ?? judged(profile.signIn, null),
    handshake: true,
    plan(session, detection, ids) {
      refuseUnsupported(profile, session)
      const launch = profile.launch(session, ids)
      return { command: detection.path ?? name, cwd: session.cwd, ...launch, greeting: [greeting(profile)] }
    },
    ...(profile.prepare && { prepare: profile.prepare }),
    ...(profile.conversations && { conversations: profile.conversations }),
    ...(profile.unrecorded && { unrecorded: profile.unrecorded }),
    translator: acpTranslator(profile) as Translator<unknown>,
    serve: (env) => acpService(profile, env),
    waits: (request) => (request as AcpRequest & { method?: string }).method === 'terminal/wait_for_exit',
    decline(given) {
      const request = given as AcpRequest
      return request.step === 'call' ? [invalid(request.id, 'Too many calls wait already')] : []
    },
    encode: (intent, session, heard) => encode(profile, intent, session, heard as AcpState | undefined),
    // Its open questions are answered when the mark comes back: an agent may wait for that before it stops.
    interrupt: (session) => (session.nativeId === null ? [] : [stop(session), mark('cancel')]),
    barrier: (id) => [mark('barrier', id)],
    farewell: () => [],
  }
}
