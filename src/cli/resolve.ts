import type { Api, NativeClient } from '../dialects/native/client.ts'
import { CliError } from './exit.ts'
import { shortId } from './format.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const PAGES = 20

type SessionPage = Api['session.list']['result']

/** The one id that begins or ends with the fragment. */
export function pickId(what: string, fragment: string, ids: readonly string[]): string {
  if (ids.includes(fragment)) return fragment
  const wanted = fragment.toLowerCase()
  const found = ids.filter((id) => id.toLowerCase().startsWith(wanted) || id.toLowerCase().endsWith(wanted))
  if (found.length === 1) return found[0]!
  if (found.length === 0) throw new CliError(`no ${what} whose id begins or ends with ${fragment}`)
  const some = found.slice(0, 5).map(shortId).join(', ')
  throw new CliError(
    `${fragment} fits ${found.length} ${what}s (${some}${found.length > 5 ? ', …' : ''}): give more of the id`,
  )
}

export async function resolveSession(client: NativeClient, fragment: string): Promise<string> {
  if (UUID.test(fragment)) return fragment.toLowerCase()
  const ids: string[] = []
  let cursor: string | null = null
  for (let page = 0; page < PAGES; page++) {
    const found: SessionPage = await client.call('session.list', {
      limit: 500,
      ...(cursor !== null && { cursor }),
    })
    ids.push(...found.sessions.map((session) => session.id))
    cursor = found.next
    if (cursor === null) break
  }
  return pickId('session', fragment, ids)
}

export async function resolveApproval(client: NativeClient, fragment: string): Promise<string> {
  const { approvals } = await client.call('approval.list', { limit: 500 })
  const ids = approvals.map((approval) => approval.id)
  try {
    return pickId('approval', fragment, ids)
  } catch (error) {
    // A whole id of a decided one gets the daemon's own, better answer.
    if (ids.length === 0 || fragment.length > 12) return fragment
    throw error
  }
}
