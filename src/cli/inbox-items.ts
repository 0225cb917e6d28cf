import { exact } from '../core/inert.ts'
import type { Api, NativeClient } from '../client/client.ts'
import type { SessionView } from '../dialects/native/wire.ts'
import { approvalBody, questionsOf } from './render.ts'
import { clean, duration, oneLine, sessionName, shortId } from './format.ts'

export type Approval = Api['approval.get']['result']
type FileChange = NonNullable<Api['approval.context']['result']['files']>[number]

/** Something that needs a human: a decision, or a look at a turn that has failed. */
export type InboxItem = {
  /** Of the approval, or of the session. */
  id: string
  /** Since when. */
  at: number
  session: SessionView
} & ({ kind: 'approval'; approval: Approval } | { kind: 'failed' })

const PAGE = 500

/** All of it, what has waited longest first; then what has failed, the newest first. */
export async function readInbox(client: NativeClient, now: number): Promise<InboxItem[]> {
  const [{ approvals }, { sessions }] = await Promise.all([
    client.call('approval.list', { limit: PAGE }),
    client.call('session.list', { limit: PAGE, archived: false }),
  ])
  const due = approvals.filter(({ deferredUntil }) => deferredUntil === null || deferredUntil <= now)
  const asked = await Promise.all(
    due.map(async (approval): Promise<InboxItem[]> => {
      const known = sessions.find(({ id }) => id === approval.sessionId)
      const session = known ?? (await sessionOf(client, approval.sessionId))
      if (!session) return []
      return [{ kind: 'approval', id: approval.id, at: approval.requestedAt, session, approval }]
    }),
  )
  const failed = sessions
    .filter(({ attention, openApprovals }) => attention === 'needs_you' && openApprovals === 0)
    .map((session): InboxItem => ({ kind: 'failed', id: session.id, at: session.activeAt, session }))
  return [...asked.flat().toSorted((a, b) => a.at - b.at), ...failed]
}

/** It may have been removed meanwhile. */
async function sessionOf(client: NativeClient, sessionId: string): Promise<SessionView | null> {
  try {
    return await client.call('session.get', { sessionId })
  } catch (error) {
    if ((error as { code?: unknown }).code === 'session_not_found') return null
    throw error
  }
}

/** What the agent wants, in a few words. */
export function headOf(item: InboxItem): string {
  if (item.kind === 'failed') return 'its last turn failed'
  const { kind, tool } = item.approval
  if (kind === 'question') return 'asks you'
  return kind === 'plan' ? 'has a plan: do you agree?' : `wants to use ${oneLine(tool, 60)}`
}

/** The same in one line, for lists. */
export function briefOf(item: InboxItem): string {
  if (item.kind === 'failed') return `failed: ${oneLine(item.session.lastError?.message ?? '', 200)}`
  const { kind, about, tool, input } = item.approval
  if (kind === 'question') return `asks: ${oneLine(questionsOf(input)[0]?.question ?? '', 200)}`
  if (kind === 'plan') return 'a plan'
  return `${oneLine(tool, 40)}: ${oneLine(exact(about.subjects.join(', ')), 200)}`
}

/** All that there is to decide about: the command, the question, or the edit as a diff. */
export function bodyOf(item: InboxItem, files: readonly FileChange[] | null): string {
  if (item.kind === 'failed') return clean(item.session.lastError?.message ?? 'for an unknown reason')
  return files ? files.map(diffOf).join('\n') : approvalBody(item.approval)
}

function diffOf({ path, oldPath, status, isBinary, hunks, truncated }: FileChange): string {
  const name = oldPath === null || oldPath === path ? exact(path) : `${exact(oldPath)} -> ${exact(path)}`
  const lines = hunks.flatMap((hunk) => [
    `@@ -${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@`,
    ...hunk.lines.map(({ kind, text }) => kind + exact(text)),
  ])
  const more = isBinary ? ['(not a text)'] : truncated ? ['(there is more of it)'] : []
  return [`${name} (${status})`, ...lines, ...more].join('\n')
}

/** What the edit would change; null: it is none. */
export async function filesOf(client: NativeClient, item: InboxItem): Promise<FileChange[] | null> {
  if (item.kind === 'failed' || item.approval.kind !== 'tool') return null
  return client.call('approval.context', { approvalId: item.id }).then(
    ({ files }) => files,
    () => null, // the input says it too
  )
}

/** `2 min`, `3 h`: how long it has waited. */
export function ageOf({ at }: InboxItem, now: number): string {
  const ms = now - at
  return ms < 60_000 ? `${Math.max(0, Math.floor(ms / 1000))} s` : duration(ms)
}

/** The title of its session. */
export function titleOf({ session }: InboxItem): string {
  return oneLine(sessionName(session), 200)
}

/** Where it works, as people write it. */
export function placeOf({ session: { cwd } }: InboxItem, home: string): string {
  const short = cwd === home || cwd.startsWith(`${home}/`) ? `~${cwd.slice(home.length)}` : cwd
  return oneLine(short, 200)
}

export function shortName({ id }: InboxItem): string {
  return shortId(id)
}
