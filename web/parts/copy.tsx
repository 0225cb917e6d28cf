import { useState } from 'preact/hooks'
import { Button } from './button.tsx'
import { toast } from './toast.tsx'

const SHOWN_MS = 2000

/** A button that copies a text. */
export function Copy({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [isDone, setDone] = useState(false)
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text)
      setDone(true)
      setTimeout(() => setDone(false), SHOWN_MS)
    } catch {
      // Without a certificate that the browser trusts there is no clipboard.
      toast('This browser does not let the page copy. Select the text, and copy it yourself.', {
        tone: 'bad',
      })
    }
  }
  return (
    <Button
      kind="quiet"
      iconOnly
      icon={isDone ? 'check' : 'copy'}
      label={isDone ? 'Copied' : label}
      onClick={() => void copy()}
    />
  )
}

/** A command for a terminal, with a button that copies it. */
export function Command({ text }: { text: string }) {
  return (
    <span class="command">
      <code>{text}</code>
      <Copy text={text} label={`Copy ${text}`} />
    </span>
  )
}
