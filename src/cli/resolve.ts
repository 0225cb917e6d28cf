import type { NativeClient } from '../client/client.ts'
import { CliError, EXIT } from './exit.ts'
import { shortId } from './format.ts'

/** What has ids, and the command that lists them. */
const LISTS = {
  message: 'corral queue ls',
  checkpoint: 'corral checkpoint ls',
  approval: 'corral approval ls',
  device: 'corral device ls',
  project: 'corral project ls',
} as const
type What = keyof typeof LISTS

/** The one item whose id begins or ends with the fragment. */
export function pickOne<T>(what: What, fragment: unknown, items: readonly T[], idOf: (item: T) => string): T {
  const id = pickId(what, String(fragment), items.map(idOf))
  return items.find((item) => idOf(item) === id)!
}

/** The one id that begins or ends with the fragment. */
export function pickId(what: What, fragment: string, ids: readonly string[]): string {
  // Most likely a variable of a script that is not set: it must not mean the only one there is.
  if (fragment === '') throw new CliError(`the id of the ${what} is empty; see ${LISTS[what]}`, EXIT.usage)
  if (ids.includes(fragment)) return fragment
  const found = fitting(fragment, ids)
  if (found.length === 1) return found[0]!
  if (found.length === 0) {
    const names = what === 'project' ? 'this name, or ' : ''
    throw new CliError(
      `no ${what} has ${names}an id that begins or ends with ${fragment}; see ${LISTS[what]}`,
    )
  }
  const some = found.slice(0, 5).map(shortId).join(', ')
  throw new CliError(
    `${fragment} fits ${found.length} ${what}s (${some}${found.length > 5 ? ', …' : ''}); give more of the id`,
  )
}

function fitting(fragment: string, ids: readonly string[]): string[] {
  const wanted = fragment.toLowerCase()
  return ids.filter((id) => id.toLowerCase().startsWith(wanted) || id.toLowerCase().endsWith(wanted))
}

/** An open one, otherwise one that was decided: the daemon then says how. */
export async function resolveApproval(client: NativeClient, fragment: string): Promise<string> {
  const ids = await approvalIds(client, true)
  if (fitting(fragment, ids).length > 0) return pickId('approval', fragment, ids)
  const all = await approvalIds(client, false)
  // A whole id may be older than everything in the list.
  return fragment.length > 12 && fitting(fragment, all).length === 0
    ? fragment
    : pickId('approval', fragment, all)
}

async function approvalIds(client: NativeClient, open: boolean): Promise<string[]> {
  const { approvals } = await client.call('approval.list', { open, limit: 500 })
  return approvals.map((approval) => approval.id)
}
