import type { CommentView, Reviews, Turns } from './api.ts'
import type { WorkTrees } from './checkpoint.ts'
import type { AddComment, SendReview, Sent } from './command.ts'
import { aboutLines, isStale, linesOf, reviewMessage, type Comment } from './comment.ts'
import { existing, type EngineContext } from './context.ts'
import { CorralError } from './error.ts'
import { oneByOne } from './one-by-one.ts'

/** So many that were not sent may a session have. */
const MAX_OPEN = 500
/** So many that were sent are shown. */
const MAX_SENT = 500
/** An agent is told no more at once. */
const MAX_CHARS = 400_000

/** The noun `reviews` of the engine: comments on changes, collected and sent as one message. */
export function createReviews(context: EngineContext, turns: Pick<Turns, 'send'>): Reviews {
  const inTurn = oneByOne()
  const { log, drafts } = context

  async function viewed(comment: Comment): Promise<CommentView> {
    const { cwd } = existing(context, comment.sessionId)
    return { ...comment, stale: await staleness(context.workTrees ?? null, cwd)(comment) }
  }

  return {
    // Whoever adds one has just seen the lines.
    add: (command) => inTurn(async () => ({ ...(await add(context, command)), stale: false })),
    update: (id, text) =>
      inTurn(async () => {
        const comment = unsent(context, id)
        const draft = drafts.of(comment.sessionId)
        draft.add({ type: 'review.updated', commentId: id, text })
        await draft.commit()
        return { ...comment, text }
      }).then(viewed),
    remove: (id) =>
      inTurn(async () => {
        const { sessionId } = found(context, id)
        const draft = drafts.of(sessionId)
        draft.add({ type: 'review.removed', commentId: id })
        await draft.commit()
      }),
    async list(sessionId) {
      const { cwd } = existing(context, sessionId)
      const isOld = staleness(context.workTrees ?? null, cwd)
      const views: CommentView[] = []
      for (const comment of log.comments(sessionId, MAX_SENT))
        views.push({ ...comment, stale: await isOld(comment) })
      return views
    },
    send: (command) => inTurn(() => send(context, turns, command)),
  }
}

async function add(context: EngineContext, command: AddComment): Promise<Comment> {
  const { log, drafts, newId, clock } = context
  const { sessionId, path, side, line, endLine = line, text } = command
  existing(context, sessionId)
  const hunk = aboutLines({ side, line, endLine }, command.hunk)
  if (!hunk) throw new CorralError('invalid', `Line ${line} is not in the hunk`, { field: 'line' })
  const open = log.comments(sessionId, 0).length
  if (open >= MAX_OPEN) {
    const message = `${open} comments wait already; send or remove some of them`
    throw new CorralError('queue_full', message, { limit: MAX_OPEN })
  }
  const where = { id: newId(), sessionId, path, side, line, endLine }
  const comment: Comment = { ...where, text, hunk, createdAt: clock.now(), sentIn: null }
  const draft = drafts.of(sessionId)
  draft.add({ type: 'review.added', comment })
  await draft.commit()
  return comment
}

function found(context: EngineContext, id: string): Comment {
  const comment = context.log.comment(id)
  if (!comment) throw new CorralError('invalid', `No comment has the id ${id}`, { field: 'commentId' })
  existing(context, comment.sessionId)
  return comment
}

function unsent(context: EngineContext, id: string): Comment {
  const comment = found(context, id)
  if (comment.sentIn === null) return comment
  throw new CorralError('invalid', 'The agent was told this comment already; write another one', {
    field: 'commentId',
  })
}

/** Each file is read once. */
function staleness(work: WorkTrees | null, cwd: string): (comment: Comment) => Promise<boolean> {
  const files = new Map<string, Promise<string[] | null>>()
  return async (comment) => {
    if (!work) return false
    const { path } = comment
    const lines =
      files.get(path) ?? work.text(cwd, path).then((text) => (text === null ? null : linesOf(text)))
    files.set(path, lines)
    // What cannot be read, because it is too large or no text, may well be as it was.
    return lines.then(
      (now) => isStale(comment, now),
      () => false,
    )
  }
}

async function send(
  context: EngineContext,
  turns: Pick<Turns, 'send'>,
  { sessionId, commentIds, note, ...message }: SendReview,
): Promise<Sent & { comments: string[] }> {
  existing(context, sessionId)
  const open = context.log.comments(sessionId, 0)
  const chosen = commentIds ? chosenOf(open, commentIds) : open
  if (chosen.length === 0 && note === undefined) {
    const text = 'There is nothing to send: no comment waits and there is no note'
    throw new CorralError('invalid', text, { field: 'commentIds' })
  }
  const text = reviewMessage(chosen, note ?? null)
  if (text.length > MAX_CHARS) {
    const refusal = `The message would have ${text.length} characters; send fewer comments at once`
    throw new CorralError('invalid', refusal, { field: 'commentIds', limit: MAX_CHARS })
  }
  const comments = chosen.map(({ id }) => id)
  const sent = await turns.send({ ...message, sessionId, input: [{ type: 'text', text }], comments })
  return { ...sent, comments }
}

function chosenOf(open: readonly Comment[], ids: readonly string[]): Comment[] {
  const byId = new Map(open.map((comment) => [comment.id, comment]))
  return [...new Set(ids)].map((id) => {
    const comment = byId.get(id)
    if (comment) return comment
    throw new CorralError('invalid', `No comment of this session that was not sent has the id ${id}`, {
      field: 'commentIds',
    })
  })
}
