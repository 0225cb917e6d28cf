import { copyText } from '../state/copy.ts'
import { archive, interrupt, markDone, snooze, togglePin, wake } from '../state/session-actions.ts'
import type { SessionRow } from '../client/rows.ts'
import { flagging } from '../state/overlay.ts'
import { laterThan } from '../state/snooze.ts'
import type { MenuItem } from './menu.tsx'

/** What can be done to a session from the list. */
export function rowMenu(row: SessionRow): MenuItem[] {
  const { marks, turn } = row
  return [
    { label: 'Mark as done', icon: 'check', run: () => markDone([row]) },
    ...(marks.snoozedUntil === null
      ? laterThan(Date.now()).map(({ label, at }): MenuItem => ({
          label: `Snooze: ${label}`,
          icon: 'clock',
          run: () => snooze([row], at),
        }))
      : [{ label: 'Wake now', icon: 'undo-2' as const, run: () => wake([row]) }]),
    { label: marks.pinned ? 'Take the pin off' : 'Pin', icon: 'pin', run: () => togglePin([row]) },
    { label: 'Flags…', icon: 'flag', run: () => (flagging.value = row.id) },
    ...(turn
      ? [{ label: 'Stop the turn', icon: 'square' as const, danger: true, run: () => interrupt([row]) }]
      : []),
    { label: 'Copy the directory', icon: 'copy', run: () => copyText(row.cwd) },
    { label: 'Archive', icon: 'trash-2', run: () => archive([row]) },
  ]
}
