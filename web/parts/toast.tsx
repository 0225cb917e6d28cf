import { signal } from '@preact/signals'
import { Button } from './button.tsx'

export interface ToastOptions {
  tone?: 'plain' | 'bad'
  action?: { label: string; run(): void }
  /** How long it stays; one with an action, or about something bad, stays until it is closed. */
  ms?: number
}

interface Shown extends ToastOptions {
  id: number
  text: string
}

const MAX_SHOWN = 4
const STAYS_MS = 6000

const shown = signal<readonly Shown[]>([])
let last = 0

/** Says something in the corner. Returns how to take it back. */
export function toast(text: string, options: ToastOptions = {}): () => void {
  const id = ++last
  const close = (): void => void (shown.value = shown.value.filter((one) => one.id !== id))
  shown.value = [...shown.value, { ...options, id, text }].slice(-MAX_SHOWN)
  const stays = options.action !== undefined || options.tone === 'bad'
  const ms = options.ms ?? (stays ? null : STAYS_MS)
  if (ms !== null) setTimeout(close, ms)
  return close
}

/** Once, in the shell. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {shown.value.map((one) => (
        <Toast key={one.id} {...one} />
      ))}
    </div>
  )
}

function Toast({ id, text, tone = 'plain', action }: Shown) {
  const close = (): void => void (shown.value = shown.value.filter((one) => one.id !== id))
  return (
    <div class={`toast toast-${tone}`}>
      <span class="toast-text">{text}</span>
      {action && (
        <Button
          kind="quiet"
          label={action.label}
          onClick={() => {
            close()
            action.run()
          }}
        />
      )}
      <Button kind="quiet" icon="x" iconOnly label="Dismiss" onClick={close} />
    </div>
  )
}
