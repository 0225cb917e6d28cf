import { useEffect, useRef, useState } from 'preact/hooks'
import { placeName, type Place } from '../../state/changes/place.ts'
import type { Comment, Writing } from '../../state/changes/review.ts'
import { client } from '../../state/connection.ts'
import { Ago } from '../ago.tsx'
import { Badge } from '../badge.tsx'
import { Button } from '../button.tsx'
import { inert } from '../inert.ts'
import { toast } from '../toast.tsx'
import { problemOf } from '../use-call.ts'

/** Comments on one line, one below the other. */
export function CommentsRow({ comments }: { comments: readonly Comment[] }) {
  return (
    <div class="comments">
      <div role="gridcell" class="stack">
        {comments.map((comment) => (
          <CommentCard key={comment.id} comment={comment} />
        ))}
      </div>
    </div>
  )
}

/** What somebody has said about some lines. It can be changed until the agent has been told. */
export function CommentCard({ comment, showsPath = false }: { comment: Comment; showsPath?: boolean }) {
  const [isEditing, setEditing] = useState(false)
  const isSent = comment.sentIn !== null
  async function remove(): Promise<void> {
    await client()
      .call('review.remove', { commentId: comment.id })
      .catch((error: unknown) => toast(problemOf(error), { tone: 'bad' }))
  }
  return (
    <article class="comment" aria-label={`Comment on ${placeName(comment)}`}>
      <header class="along small">
        <span class="muted">
          {showsPath && `${comment.path}, `}
          {placeName(comment)} · <Ago at={comment.createdAt} />
        </span>
        {comment.stale && <Badge tone="needs">the code has changed since</Badge>}
        {isSent && <Badge tone="good">sent</Badge>}
        {!isSent && !isEditing && (
          <span class="comment-actions">
            <Button
              kind="quiet"
              icon="pencil"
              iconOnly
              label="Edit the comment"
              onClick={() => setEditing(true)}
            />
            <Button
              kind="quiet"
              icon="trash-2"
              iconOnly
              label="Remove the comment"
              onClick={() => void remove()}
            />
          </span>
        )}
      </header>
      {isEditing ? (
        <CommentForm
          text={comment.text}
          action="Save"
          onText={() => {}}
          onCancel={() => setEditing(false)}
          onDone={async (text) => {
            if (text !== comment.text) await client().call('review.update', { commentId: comment.id, text })
            setEditing(false)
          }}
        />
      ) : (
        <p class="comment-text">{inert(comment.text)}</p>
      )}
    </article>
  )
}

interface EditorRowProps {
  writing: Writing
  onChange(writing: Writing | null): void
  onAdd(text: string): Promise<void>
}

/** Where a comment is written. */
export function EditorRow({ writing, onChange, onAdd }: EditorRowProps) {
  const { place, text } = writing
  return (
    <div class="comments">
      <div role="gridcell" class="comment comment-editor">
        <div class="along small">
          <span>
            Comment on <strong>{placeName(place)}</strong>
          </span>
          <FirstLine place={place} onChange={(line) => onChange({ ...writing, place: { ...place, line } })} />
        </div>
        <CommentForm
          text={text}
          action="Add the comment"
          onText={(next) => onChange({ place, text: next })}
          onCancel={() => onChange(null)}
          onDone={onAdd}
        />
      </div>
    </div>
  )
}

/** A finger cannot drag over lines and scroll at once: the first line can be moved here. */
function FirstLine({ place, onChange }: { place: Place; onChange(line: number): void }) {
  return (
    <span class="comment-actions">
      <Button
        kind="quiet"
        icon="arrow-up"
        iconOnly
        label="Begin one line above"
        disabled={place.line <= 1}
        onClick={() => onChange(place.line - 1)}
      />
      <Button
        kind="quiet"
        icon="arrow-down"
        iconOnly
        label="Begin one line below"
        disabled={place.line >= place.endLine}
        onClick={() => onChange(place.line + 1)}
      />
    </span>
  )
}

interface CommentFormProps {
  text: string
  action: string
  onText(text: string): void
  onCancel(): void
  /** Throws what went wrong. */
  onDone(text: string): Promise<void>
}

const MAX_TEXT = 10_000

function CommentForm({ text: given, action, onText, onCancel, onDone }: CommentFormProps) {
  const [text, setText] = useState(given)
  const [problem, setProblem] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => field.current?.focus(), [])
  async function done(): Promise<void> {
    if (text.trim() === '' || busy) return
    setBusy(true)
    setProblem(null)
    try {
      await onDone(text.trim())
    } catch (error) {
      setProblem(problemOf(error))
      setBusy(false)
    }
  }
  return (
    <form
      class="stack-small"
      onSubmit={(event) => {
        event.preventDefault()
        void done()
      }}
    >
      <textarea
        ref={field}
        class="input comment-field"
        aria-label="Comment"
        rows={3}
        maxLength={MAX_TEXT}
        placeholder="What should be different here?"
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value)
          onText(currentTarget.value)
        }}
        onKeyDown={(event) => {
          event.stopPropagation()
          if (event.key === 'Escape') onCancel()
          else if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) {
            event.preventDefault()
            void done()
          }
        }}
      />
      {problem !== null && (
        <p class="problem small" role="alert">
          {problem}
        </p>
      )}
      <div class="section-actions">
        <Button type="submit" kind="primary" label={action} busy={busy} disabled={text.trim() === ''} />
        <Button label="Cancel" onClick={onCancel} />
      </div>
    </form>
  )
}
