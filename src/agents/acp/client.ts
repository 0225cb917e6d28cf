import type { Approval, Decision } from '../../core/approval.ts'
import type { Session } from '../../core/session.ts'
import type { JsonObject } from '../json.ts'
import { readTextFile, writeTextFile } from './files.ts'
import type { AcpProfile } from './profile.ts'
import { invalid, METHOD_NOT_FOUND, refusal, result } from './rpc.ts'
import type { AcpState, ClientRequest } from './state.ts'
import type { Terminals } from './terminals.ts'

type Method = (session: Session, params: JsonObject) => Promise<object>

/** What Corral does for an agent that lets its client read and write files and run commands. */
export interface Client {
  /** Something that anybody may ask for. */
  look(session: Session, request: ClientRequest & { id: unknown }): Promise<string>
  /** Something that was decided on: it is done now, or refused. */
  carryOut(session: Session, approval: Approval, decision: Decision, heard: AcpState): Promise<string>
}

export function createClient({ offers }: AcpProfile, terminals: Terminals): Client {
  const looks: Record<string, Method> = {
    ...(offers.files && { 'fs/read_text_file': readTextFile }),
    ...(offers.terminals && {
      'terminal/output': (_, params) => terminals.output(params),
      'terminal/wait_for_exit': (_, params) => terminals.wait(params),
      'terminal/kill': (_, params) => terminals.kill(params),
      'terminal/release': (_, params) => terminals.release(params),
    }),
  }
  const changes: Record<string, Method> = {
    'fs/write_text_file': writeTextFile,
    'terminal/create': (session, params) => terminals.create(session, params),
  }

  return {
    look: (session, { id, ...request }) => reply(looks, session, id, request),
    async carryOut(session, { requestId }, decision, heard) {
      const id = JSON.parse(requestId) as unknown
      if (decision.behavior !== 'allow') return invalid(id, reasonOf(decision))
      const request = heard.asked.findLast((one) => one.requestId === requestId)?.call
      return request ? reply(changes, session, id, request) : invalid(id, 'Too many calls wait: ask again')
    },
  }
}

async function reply(
  methods: Record<string, Method>,
  session: Session,
  id: unknown,
  { method, params }: ClientRequest,
): Promise<string> {
  const run = Object.hasOwn(methods, method) ? methods[method] : undefined
  if (!run) return refusal(id, METHOD_NOT_FOUND, `Method not found: ${method.slice(0, 100)}`)
  try {
    return result(id, await run(session, params))
  } catch (error) {
    return invalid(id, error instanceof Error ? error.message : String(error))
  }
}

function reasonOf(decision: Exclude<Decision, { behavior: 'allow' }>): string {
  const words = { deny: 'comment', respond: 'text', cancelled: 'reason' } as const
  const said = (decision as Record<string, unknown>)[words[decision.behavior]]
  return typeof said === 'string' && said !== '' ? said : 'The user has refused this.'
}
