import { useState } from 'preact/hooks'
import { textOf } from '../../../src/core/content.ts'
import type { UserMessage } from '../../../src/core/conversation/item.ts'
import { editQueued, moveQueued, removeQueued, steerQueued } from '../../state/queueing.ts'
import type { OpenSession } from '../../state/session.ts'
import { Button } from '../button.tsx'
import { Icon } from '../icon.tsx'
import { inertLine } from '../inert.ts'

/** The messages that wait, in order; above them those that are on their way into the running turn. */
export function Queue({ session, canSteer }: { session: OpenSession; canSteer: boolean }) {
  const [dragged, setDragged] = useState<string | null>(null)
  const queue = session.queue.value
  const steers = session.steers.value
  if (queue.length + steers.length === 0) return null
  const isRunning = session.turn.value !== null
  return (
    <section class="queue" aria-label="Messages that wait">
      {steers.map((message) => (
        <p key={message.id} class="queue-steer">
          <Icon name="zap" />
          <span class="queue-text">{inertLine(textOf(message.content))}</span>
          <span class="muted small">on its way into this turn</span>
        </p>
      ))}
      <ol>
        {queue.map((message, at) => (
          <Waiting
            key={message.id}
            message={message}
            at={at}
            count={queue.length}
            sessionId={session.id}
            canSteer={canSteer && isRunning}
            isDragged={dragged === message.id}
            onDrag={setDragged}
            onDrop={() => {
              if (dragged !== null && dragged !== message.id) moveQueued(session.id, dragged, at + 1)
              setDragged(null)
            }}
          />
        ))}
      </ol>
    </section>
  )
}

interface WaitingProps {
  message: UserMessage
  at: number
  count: number
  sessionId: string
  canSteer: boolean
  isDragged: boolean
  onDrag(id: string | null): void
  onDrop(): void
}

function Waiting(props: WaitingProps) {
  const { message, at, count, sessionId, canSteer, isDragged, onDrag, onDrop } = props
  const [editing, setEditing] = useState(false)
  const [isOpen, setOpen] = useState(false)
  const text = textOf(message.content)
  const move = (to: number): void => {
    if (to >= 1 && to <= count) moveQueued(sessionId, message.id, to)
  }
  if (editing) return <Edit message={message} sessionId={sessionId} onDone={() => setEditing(false)} />
  return (
    <li
      class="queue-item"
      tabIndex={0}
      draggable
      data-dragged={isDragged || undefined}
      data-open={isOpen || undefined}
      aria-label={`Number ${at + 1} of ${count}: ${inertLine(text)}`}
      onDragStart={() => onDrag(message.id)}
      onDragEnd={() => onDrag(null)}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault()
        onDrop()
      }}
      onKeyDown={(event) => {
        const step = { ArrowUp: -1, ArrowDown: 1 }[event.key]
        if (!event.altKey || step === undefined) return
        event.preventDefault()
        move(at + 1 + step)
      }}
    >
      <span class="queue-number numbers">{at + 1}</span>
      <span class="queue-text">{inertLine(text) || 'A picture'}</span>
      <Button
        class="queue-more"
        kind="quiet"
        icon="ellipsis"
        iconOnly
        label="What to do with it"
        expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      />
      <Actions {...{ message, at, count, sessionId, canSteer, move }} onEdit={() => setEditing(true)} />
    </li>
  )
}

interface ActionsProps extends Pick<WaitingProps, 'message' | 'at' | 'count' | 'sessionId' | 'canSteer'> {
  move(to: number): void
  onEdit(): void
}

function Actions({ message, at, count, sessionId, canSteer, move, onEdit }: ActionsProps) {
  return (
    <span class="queue-actions">
      {at > 0 && <Button kind="quiet" icon="arrow-up" iconOnly label="Earlier" onClick={() => move(at)} />}
      {at < count - 1 && (
        <Button kind="quiet" icon="arrow-down" iconOnly label="Later" onClick={() => move(at + 2)} />
      )}
      {canSteer && (
        <Button
          kind="quiet"
          icon="zap"
          iconOnly
          label="Steer now"
          onClick={() => steerQueued(sessionId, message.id)}
        />
      )}
      <Button kind="quiet" icon="pencil" iconOnly label="Edit" onClick={onEdit} />
      <Button
        kind="quiet"
        icon="trash-2"
        iconOnly
        label="Take it out"
        onClick={() => removeQueued(sessionId, message)}
      />
    </span>
  )
}

function Edit({ message, sessionId, onDone }: { message: UserMessage; sessionId: string; onDone(): void }) {
  const [text, setText] = useState(textOf(message.content))
  const [busy, setBusy] = useState(false)

  async function save(): Promise<void> {
    if (text.trim() === '' || busy) return
    setBusy(true)
    const isDone = await editQueued(sessionId, message, text.trim())
    setBusy(false)
    if (isDone) onDone()
  }

  return (
    <li class="queue-item queue-edit">
      <textarea
        ref={(element) => void (element && document.activeElement !== element && element.focus())}
        class="input"
        aria-label="Edit the message that waits"
        rows={Math.min(8, text.split('\n').length)}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') {
            event.stopPropagation()
            onDone()
          }
          if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
            event.preventDefault()
            void save()
          }
        }}
      />
      <span class="queue-actions">
        <Button kind="primary" label="Keep" busy={busy} onClick={() => void save()} />
        <Button kind="quiet" label="Cancel" onClick={onDone} />
      </span>
    </li>
  )
}
