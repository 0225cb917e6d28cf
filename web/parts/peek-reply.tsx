import { useState } from 'preact/hooks'
import { client } from '../state/connection.ts'
import { freshKey } from '../state/fresh-key.ts'
import { titleOf, wordsOf } from '../state/session-actions.ts'
import type { SessionRow } from '../client/rows.ts'
import { Button } from './button.tsx'
import { toast } from './toast.tsx'

/** One line to a session: sent at once, or queued while it works. */
export function PeekReply({ row }: { row: SessionRow }) {
  const [text, setText] = useState('')
  const [busy, setBusy] = useState(false)

  async function send(): Promise<void> {
    const message = text.trim()
    if (message === '' || busy) return
    setBusy(true)
    try {
      const { position } = await client().call('session.send', {
        sessionId: row.id,
        content: message,
        key: freshKey(),
        origin: 'dashboard',
      })
      setText('')
      if (position > 0) toast('It is busy: your message waits.')
    } catch (error) {
      toast(`The message was not sent: ${wordsOf(error)}`, { tone: 'bad' })
    } finally {
      setBusy(false)
    }
  }

  return (
    <form
      class="peek-reply"
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      <input
        class="input"
        aria-label={`Message to ${titleOf(row)}`}
        placeholder={row.turn ? 'Queue a message' : 'Send a message'}
        value={text}
        maxLength={100_000}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape')
            event.currentTarget
              .closest<HTMLElement>('[data-row]')
              ?.querySelector<HTMLElement>('.session-row-title')
              ?.focus()
        }}
      />
      <Button type="submit" icon="send" label="Send" busy={busy} disabled={text.trim() === ''} />
    </form>
  )
}
