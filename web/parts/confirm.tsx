import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { problemOf } from './use-call.ts'

/** Asks before something is done that cannot be taken back. It stays open, and says why, if that fails. */
export function Confirm({
  title,
  action,
  danger = false,
  onConfirm,
  onClose,
  children,
}: {
  title: string
  /** What the button says: the deed, not "OK". */
  action: string
  danger?: boolean
  onConfirm(): Promise<unknown>
  onClose(): void
  children?: ComponentChildren
}) {
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  async function run(): Promise<void> {
    setBusy(true)
    setProblem(null)
    try {
      await onConfirm()
      onClose()
    } catch (error) {
      setProblem(problemOf(error))
      setBusy(false)
    }
  }
  const actions = (
    <>
      <Button label="Cancel" onClick={onClose} />
      <Button kind={danger ? 'danger' : 'primary'} label={action} busy={busy} onClick={() => void run()} />
    </>
  )
  return (
    <Dialog title={title} onClose={onClose} actions={actions}>
      {children}
      {problem !== null && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </Dialog>
  )
}
