import { useEffect, useRef, useState } from 'preact/hooks'
import { Button } from './button.tsx'
import { toast } from './toast.tsx'

const SHOWN_MS = 1500

/** Puts a text on the clipboard, and says so for a moment. */
export function CopyButton({ text, label = 'Copy' }: { text(): string; label?: string }) {
  const [copied, setCopied] = useState(false)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])

  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text())
    } catch {
      return void toast('This browser does not let the page copy. Select the text, and copy it yourself.', {
        tone: 'bad',
      })
    }
    setCopied(true)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setCopied(false), SHOWN_MS)
  }

  return (
    <Button
      class="copy"
      kind="quiet"
      iconOnly
      icon={copied ? 'check' : 'copy'}
      label={copied ? 'Copied' : label}
      onClick={() => void copy()}
    />
  )
}
