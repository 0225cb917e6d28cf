import {
  clearSelection,
  cursor,
  grouping,
  layout,
  meant,
  peeked,
  selected,
  showPeek,
  step,
  togglePeek,
  toggleSelected,
} from '../state/now-view.ts'
import { flagging } from '../state/overlay.ts'
import { go } from '../state/router.ts'
import { archive, markDone, rowsOf, togglePin } from '../state/session-actions.ts'
import type { SessionRow } from '../client/rows.ts'
import { rowOf } from '../state/sessions.ts'
import { pressAnswer, useKeys } from './use-keys.ts'

/** The keys of the list, and those of the decision that is peeked at. */
export function useNowKeys({ onSnooze }: { onSnooze(): void }): void {
  const act = (what: (rows: SessionRow[]) => void) => (): boolean => {
    const rows = rowsOf(meant())
    if (rows.length === 0) return false
    what(rows)
    clearSelection()
    return true
  }
  useKeys('list', {
    next: () => step(1),
    previous: () => step(-1),
    open: () => withCursor((id) => go({ page: 'session', id })),
    peek: () => withCursor(togglePeek),
    select: () => withCursor(toggleSelected),
    done: act(markDone),
    pin: act(togglePin),
    archive: act(archive),
    snooze: () => (meant().length > 0 ? onSnooze() : false),
    flag: () => withCursor((id) => (flagging.value = id)),
    filter: () => document.getElementById('now-filter')?.focus(),
    group: () => void (grouping.value = grouping.value === 'project' ? 'state' : 'project'),
    board: () => void (layout.value = layout.value === 'board' ? 'list' : 'board'),
    leave,
  })
  useKeys('decision', {
    answer1: () => answer(1),
    answer2: () => answer(2),
    answer3: () => answer(3),
    answer4: () => answer(4),
    answer5: () => answer(5),
  })
}

function withCursor(act: (id: string) => void): boolean {
  const id = cursor.value?.id
  if (id === undefined) return false
  act(id)
  return true
}

function leave(): boolean {
  if (peeked.value !== null) showPeek(null)
  else if (selected.value.size > 0) clearSelection()
  else return false
  return true
}

/** Nobody answers what they have not seen: the first press shows the question. */
function answer(number: number): boolean {
  const id = cursor.value?.id
  const row = id === undefined ? null : rowOf(id)
  if (!row || row.openApprovals === 0) return false
  if (peeked.value !== row.id) {
    showPeek(row.id)
    return true
  }
  const card = document.activeElement?.closest('[data-approval]')
  return pressAnswer(
    card ?? document.querySelector(`[data-row="${CSS.escape(row.id)}"] [data-approval]`),
    number,
  )
}
