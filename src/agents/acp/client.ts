import type { Approval, Decision } from '../../core/approval.ts'
import type { Session } from '../../core/session.ts'
import type { JsonObject } from '../json.ts'
import { readTextFile, writeTextFile } from './files.ts'
import type { AcpProfile } from './profile.ts'
import { invalid, METHOD_NOT_FOUND, refusal, result } from './rpc.ts'
import type { AcpState } from './state.ts'
import { createTerminals, type Terminals } from './terminals.ts'

type Method = (session: Session, params: JsonObject) => Promise<object>

interface Call {
  id: unknown
  method: string
  params: JsonObject
}

/** What Corral does for an agent that lets its client read and write files and run commands. */
export interface Client extends Pick<Terminals, 'drop' | 'letGo'> {
  /** Something that anybody may ask for. */
  look(session: Session, call: Call): Promise<string>
  /** Something that was decided on: it is done now, or refused. */
  carryOut(session: Session, approval: Approval, decision: Decision, heard: AcpState): Promise<string>
}

export function createClient({ offers }: AcpProfile): Client {
  const terminals = createTerminals()
  const looks: Record<string, Method> = {
    ...(offers.files && { 'fs/read_text_file': readTextFile }),
    ...(offers.terminals && {
      'terminal/output': terminals.output,
      'terminal/wait_for_exit': terminals.wait,
      'terminal/kill': terminals.kill,
      'terminal/release': terminals.release,
    }),
  }
  const changes: Record<string, Method> = {
    'fs/write_text_file': writeTextFile,
    'terminal/create': terminals.create,
  }

  return {
    drop: terminals.drop,
    letGo: terminals.letGo,
    look: (session, call) => answer(looks, session, call),
    async carryOut(session, { requestId }, decision, heard) {
      const id = JSON.parse(requestId) as unknown
      if (decision.behavior !== 'allow') return invalid(id, reasonOf(decision))
      const call = heard.asked.findLast((one) => one.requestId === requestId)?.call
      return call ? answer(changes, session, { id, ...call }) : invalid(id, 'Too many calls wait: ask again')
    },
  }
}

async function answer(
  methods: Record<string, Method>,
  session: Session,
  { id, method, params }: Call,
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
