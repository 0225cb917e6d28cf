import { PICTURE_TYPES } from '../../../src/core/content.ts'
import { useSignal, type Signal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { SessionView } from '../../../src/dialects/native/wire.ts'
import { abilitiesOf } from '../../state/abilities.ts'
import { attachmentOf, obstacleTo, type Attachment } from '../../state/attachments.ts'
import { ownCommand } from '../../state/completion.ts'
import { interruptSession, runOwn, sendMessage } from '../../state/sending.ts'
import type { OpenSession } from '../../state/session.ts'
import type { Unsent } from '../../state/unsent.ts'
import { Button } from '../button.tsx'
import { toast } from '../toast.tsx'
import { Attachments } from './attachments.tsx'
import { Suggestions, useSuggestions } from './suggestions.tsx'

interface ComposerProps {
  session: OpenSession
  unsent: Unsent
  view: SessionView
}

/** Where a message is written. It grows with what is written, up to a part of the screen. */
export function Composer({ session, unsent, view }: ComposerProps) {
  const area = useRef<HTMLTextAreaElement>(null)
  const attachments = useSignal<readonly Attachment[]>([])
  const can = abilitiesOf(view.agent)
  const isBusy = session.turn.value !== null || view.status === 'paused'
  const text = unsent.text.value
  const { sending, send } = useSending(session.id, unsent, attachments, can?.compact ?? false)
  const suggestions = useSuggestions({ session, view, area, text, onText: (next) => unsent.type(next) })
  useGrowth(area, text)

  function onKeyDown(event: KeyboardEvent): void {
    if (event.isComposing || suggestions.onKey(event)) return
    const isSend = event.key === 'Enter' && !event.shiftKey && (event.ctrlKey || event.metaKey || !isTouch())
    if (!isSend) return
    event.preventDefault()
    void send((event.ctrlKey || event.metaKey) && can?.steer && isBusy ? 'steer' : 'queue')
  }

  const add = (files: Iterable<File>): void => void addFiles([...files], attachments)
  const drop = (event: DragEvent): void => {
    event.preventDefault()
    add(event.dataTransfer?.files ?? [])
  }
  const submit = (event: Event): void => {
    event.preventDefault()
    void send('queue')
  }
  return (
    <form class="composer" onSubmit={submit} onDragOver={(event) => event.preventDefault()} onDrop={drop}>
      <Suggestions of={suggestions} />
      <Attachments attachments={attachments} />
      <textarea
        ref={area}
        class="composer-text"
        rows={1}
        aria-label="Message"
        placeholder={isBusy ? 'Say something for after this turn…' : PLACEHOLDER}
        value={text}
        {...suggestions.attributes}
        onInput={(event) => unsent.type(event.currentTarget.value)}
        onKeyDown={onKeyDown}
        onPaste={(event) => add(event.clipboardData?.files ?? [])}
        onBlur={unsent.flush}
      />
      <Actions {...{ session, isBusy, sending, add, send }} canSteer={can?.steer ?? false} />
    </form>
  )
}

const PLACEHOLDER = 'Say what to do (@ file, / command)'

/** What was written goes out once; if it cannot, it is there again. */
function useSending(
  sessionId: string,
  unsent: Unsent,
  attachments: Signal<readonly Attachment[]>,
  canCompact: boolean,
) {
  const [sending, setSending] = useState(false)
  async function send(busy: 'queue' | 'steer'): Promise<void> {
    const message = unsent.text.peek().trim()
    const pictures = attachments.peek()
    if (sending || (message === '' && pictures.length === 0)) return
    setSending(true)
    unsent.type('')
    attachments.value = []
    const own = pictures.length === 0 ? ownCommand(message, canCompact) : null
    const isDone = own
      ? await runOwn(sessionId, own)
      : await sendMessage({ sessionId, text: message, attachments: pictures, busy })
    setSending(false)
    if (isDone) return unsent.flush()
    unsent.type(joinedText(message, unsent.text.peek()))
    attachments.value = [...pictures, ...attachments.peek()]
  }
  return { sending, send }
}

/** What did not go out stands before what was written meanwhile. */
function joinedText(before: string, after: string): string {
  return [before, after].filter((text) => text.trim() !== '').join('\n\n')
}

interface ActionsProps {
  session: OpenSession
  isBusy: boolean
  canSteer: boolean
  sending: boolean
  add(files: Iterable<File>): void
  send(busy: 'queue' | 'steer'): Promise<void>
}

function Actions({ session, isBusy, canSteer, sending, add, send }: ActionsProps) {
  const files = useRef<HTMLInputElement>(null)
  const turn = session.turn.value
  return (
    // Who writes goes on writing: a finger on a button does not close the keyboard.
    <div class="composer-actions" onMouseDown={(event) => event.preventDefault()}>
      <input
        ref={files}
        type="file"
        accept={PICTURE_TYPES.join(',')}
        multiple
        hidden
        onChange={(event) => {
          add(event.currentTarget.files ?? [])
          event.currentTarget.value = ''
        }}
      />
      <Button
        kind="quiet"
        icon="image"
        iconOnly
        label="Add a picture"
        onClick={() => files.current?.click()}
      />
      <span class="composer-hint small muted">{HINT}</span>
      {turn && (
        <Button
          kind="danger"
          icon="square"
          label={turn.interrupting ? 'Stopping' : 'Stop'}
          shortcut="Escape"
          disabled={turn.interrupting}
          onClick={() => interruptSession(session.id, turn.id)}
        />
      )}
      {isBusy && canSteer && turn && (
        <Button label="Steer" shortcut="Control+Enter" icon="zap" onClick={() => void send('steer')} />
      )}
      <Button kind="primary" type="submit" icon="send" label={isBusy ? 'Queue' : 'Send'} busy={sending} />
    </div>
  )
}

const isTouch = (): boolean => matchMedia('(pointer: coarse)').matches
const HINT = 'Enter sends, Shift+Enter begins a line'

async function addFiles(files: readonly File[], attachments: Signal<readonly Attachment[]>): Promise<void> {
  for (const file of files) {
    try {
      const added = await attachmentOf(file)
      const obstacle = obstacleTo(added, attachments.peek())
      if (obstacle !== null) return void toast(obstacle, { tone: 'bad' })
      attachments.value = [...attachments.peek(), added]
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error), { tone: 'bad' })
    }
  }
}

/** As high as what is in it. */
function useGrowth(area: { current: HTMLTextAreaElement | null }, text: string): void {
  const fit = (): void => {
    const element = area.current
    if (!element) return
    element.style.height = 'auto'
    element.style.height = `${element.scrollHeight}px`
  }
  useLayoutEffect(fit, [text])
  useEffect(() => {
    addEventListener('resize', fit)
    return () => removeEventListener('resize', fit)
  }, [])
}
