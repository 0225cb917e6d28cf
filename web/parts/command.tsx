import { CopyButton } from './copy.tsx'

/** A text that is copied rather than read: an address, a code. */
export function Copy({ text, label }: { text: string; label: string }) {
  return <CopyButton text={() => text} label={label} />
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
