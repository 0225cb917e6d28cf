import { useRef } from 'preact/hooks'
import { laterThan } from '../state/snooze.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'

/** When something is to come back; a number key chooses, too. */
export function SnoozeDialog({
  title,
  choose,
  onClose,
}: {
  title: string
  choose(until: number): void
  onClose(): void
}) {
  const times = useRef(laterThan(Date.now())).current

  function take(index: number): void {
    const time = times[index]
    if (!time) return
    onClose()
    choose(time.at)
  }

  return (
    <Dialog title={title} onClose={onClose}>
      <div
        class="snooze-times"
        ref={focusFirst}
        onKeyDown={(event) => {
          if (/^[1-9]$/.test(event.key)) take(Number(event.key) - 1)
        }}
      >
        {times.map(({ key, label }, index) => (
          <Button key={key} label={`${index + 1}  ${label}`} icon="clock" onClick={() => take(index)} />
        ))}
      </div>
    </Dialog>
  )
}

/** Refs are set before the dialog opens, and chooses what has the focus. */
function focusFirst(times: HTMLElement | null): void {
  times?.querySelector('button')?.setAttribute('autofocus', '')
}
