import { useState } from 'preact/hooks'
import type { Comment } from '../../state/changes/review.ts'
import { client } from '../../state/connection.ts'
import { plural } from '../../state/figures.ts'
import { Badge } from '../badge.tsx'
import { Button } from '../button.tsx'
import { Segments, type Option } from '../choice.tsx'
import { Confirm } from '../confirm.tsx'
import { Field } from '../field.tsx'
import { toast } from '../toast.tsx'
import { CommentCard } from './comment-row.tsx'

type Busy = 'queue' | 'steer'

interface ReviewBarProps {
  sessionId: string
  comments: readonly Comment[]
  /** Those whose lines are not in what is shown. */
  elsewhere: readonly Comment[]
  isRunning: boolean
}

/** What was said and not sent, at the bottom of the page. */
export function ReviewBar({ sessionId, comments, elsewhere, isRunning }: ReviewBarProps) {
  const [isSending, setSending] = useState(false)
  const [showsElsewhere, setShowsElsewhere] = useState(false)
  const waiting = comments.filter(({ sentIn }) => sentIn === null)
  const stale = waiting.filter((comment) => comment.stale).length
  if (waiting.length === 0 && elsewhere.length === 0) return null
  return (
    <div class="review-bar" role="region" aria-label="Review">
      {showsElsewhere && (
        <div class="review-elsewhere">
          {elsewhere.map((comment) => (
            <CommentCard key={comment.id} comment={comment} showsPath />
          ))}
        </div>
      )}
      <div class="along">
        <strong role="status">{plural(waiting.length, 'comment')}</strong>
        {stale > 0 && <Badge tone="needs">{stale} on code that has changed since</Badge>}
        {elsewhere.length > 0 && (
          <Button
            kind="quiet"
            label={`${elsewhere.length} not in what is shown`}
            expanded={showsElsewhere}
            onClick={() => setShowsElsewhere(!showsElsewhere)}
          />
        )}
        {waiting.length > 0 && (
          <Button
            class="review-send"
            kind="primary"
            icon="send"
            label="Send to the agent"
            onClick={() => setSending(true)}
          />
        )}
      </div>
      {isSending && (
        <SendDialog
          sessionId={sessionId}
          waiting={waiting}
          isRunning={isRunning}
          onClose={() => setSending(false)}
        />
      )}
    </div>
  )
}

const WAYS: readonly Option<Busy>[] = [
  { value: 'queue', label: 'When it is done' },
  { value: 'steer', label: 'Now, to the running turn' },
]

interface SendDialogProps {
  sessionId: string
  waiting: readonly Comment[]
  isRunning: boolean
  onClose(): void
}

function SendDialog({ sessionId, waiting, isRunning, onClose }: SendDialogProps) {
  const [note, setNote] = useState('')
  const [busy, setBusy] = useState<Busy>('queue')
  async function send(): Promise<void> {
    const words = note.trim()
    await client().call('review.send', {
      sessionId,
      commentIds: waiting.map(({ id }) => id),
      busy: isRunning ? busy : 'queue',
      origin: 'dashboard',
      ...(words !== '' && { note: words }),
    })
    toast(`${plural(waiting.length, 'comment')} sent as one message.`)
  }
  return (
    <Confirm
      title={`Send ${plural(waiting.length, 'comment')} to the agent`}
      action="Send"
      onConfirm={send}
      onClose={onClose}
    >
      <p class="muted small">One message, with the path, the lines and the code of each.</p>
      <Field label="What the message begins with" hint="May be empty.">
        {(control) => (
          <textarea
            {...control}
            class="input"
            rows={3}
            value={note}
            onInput={({ currentTarget }) => setNote(currentTarget.value)}
          />
        )}
      </Field>
      {isRunning && <Segments label="When" options={WAYS} value={busy} onChange={setBusy} />}
    </Confirm>
  )
}
