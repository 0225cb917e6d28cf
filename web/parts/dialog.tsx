import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { Button } from './button.tsx'

/** A question in front of everything else. Escape, the cross and a click beside it close it; the focus goes back. */
export function Dialog({
  title,
  onClose,
  children,
  actions,
}: {
  title: string
  onClose(): void
  children?: ComponentChildren
  actions?: ComponentChildren
}) {
  const ref = useRef<HTMLDialogElement>(null)
  const id = useId()
  // Before the next key: it is meant for the dialog, and not for the page behind it.
  useLayoutEffect(() => {
    const before = document.activeElement
    ref.current?.showModal()
    return () => {
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={ref}
      class="dialog"
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      // A browser that was not asked closes it all the same.
      onClose={onClose}
      onClick={(event) => {
        if (event.target === ref.current) onClose()
      }}
    >
      <div class="dialog-inner">
        <div class="dialog-head">
          <h2 id={id}>{title}</h2>
          <Button kind="quiet" icon="x" iconOnly label="Close" onClick={onClose} />
        </div>
        {children}
        {actions !== undefined && <div class="dialog-actions">{actions}</div>}
      </div>
    </dialog>
  )
}
