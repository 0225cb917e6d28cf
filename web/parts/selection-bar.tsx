import { clearSelection, selected } from '../state/now-view.ts'
import { archive, interrupt, markDone, rowsOf, togglePin } from '../state/session-actions.ts'
import type { SessionRow } from '../client/rows.ts'
import { Button } from './button.tsx'

/** What can be done to all that are selected. */
export function SelectionBar({ onSnooze }: { onSnooze(): void }) {
  const rows = rowsOf(selected.value)
  if (rows.length === 0) return null
  const then = (act: (rows: SessionRow[]) => void) => (): void => {
    act(rows)
    clearSelection()
  }
  return (
    <div class="selection-bar" role="toolbar" aria-label="Selected sessions">
      <span class="selection-count" role="status">
        {rows.length} selected
      </span>
      <Button icon="check" label="Done" onClick={then(markDone)} />
      <Button icon="clock" label="Snooze" onClick={onSnooze} />
      <Button icon="pin" label="Pin" onClick={then(togglePin)} />
      <Button icon="trash-2" label="Archive" onClick={then(archive)} />
      {rows.some(({ turn }) => turn) && (
        <Button icon="square" kind="danger" label="Stop" onClick={then(interrupt)} />
      )}
      <Button kind="quiet" icon="x" iconOnly label="Drop the selection" onClick={clearSelection} />
    </div>
  )
}
