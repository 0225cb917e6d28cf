import type { Session } from '../../core/session.ts'
import type { JsonObject } from '../json.ts'
import { readTextFile, Refused, writeTextFile } from './files.ts'
import type { AcpProfile } from './profile.ts'
import { invalid, METHOD_NOT_FOUND, refusal, result } from './rpc.ts'
import { createTerminals } from './terminals.ts'

type Method = (session: Session, params: JsonObject) => Promise<object>

/** What Corral does for an agent that lets its client read and write files and run commands. */
export function createClient({
  offers,
}: AcpProfile): (
  session: Session,
  call: { id: unknown; method: string; params: JsonObject },
) => Promise<string> {
  const terminals = createTerminals()
  const methods: Record<string, Method> = {
    ...(offers.files && {
      'fs/read_text_file': readTextFile,
      'fs/write_text_file': unplanned(writeTextFile),
    }),
    ...(offers.terminals && {
      'terminal/create': unplanned(terminals.create),
      'terminal/output': terminals.output,
      'terminal/wait_for_exit': terminals.wait,
      'terminal/kill': terminals.kill,
      'terminal/release': terminals.release,
    }),
  }
  return async (session, { id, method, params }) => {
    const run = Object.hasOwn(methods, method) ? methods[method] : undefined
    if (!run) return refusal(id, METHOD_NOT_FOUND, `Method not found: ${method}`)
    try {
      return result(id, await run(session, params))
    } catch (error) {
      return invalid(id, error instanceof Error ? error.message : String(error))
    }
  }
}

/** A plan changes nothing, whether or not the agent asks first. */
function unplanned(method: Method): Method {
  return (session, params) => {
    if (session.mode === 'plan')
      throw new Refused('This session is in plan mode: it may read, not change anything.')
    return method(session, params)
  }
}
