import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { Icon } from '../parts/icon.tsx'
import { lazy } from '../parts/lazy.tsx'
import { Page } from '../parts/page.tsx'
import { SelectionBar } from '../parts/selection-bar.tsx'
import { SessionBoard } from '../parts/session-board.tsx'
import { SessionListView } from '../parts/session-list.tsx'
import { SnoozeDialog } from '../parts/snooze-dialog.tsx'
import { tellAnsweredElsewhere } from '../parts/answered-elsewhere.ts'
import { useNowKeys } from '../parts/now-keys.ts'
import { PHONE, useMedia, WIDE } from '../parts/use-media.ts'
import {
  clearSelection,
  filter,
  grouping,
  ids,
  isBoard,
  layout,
  meant,
  selected,
  showPeek,
} from '../state/now-view.ts'
import { keyOf } from '../state/keys.ts'
import { overlay } from '../state/overlay.ts'
import { rowsOf, snooze } from '../state/session-actions.ts'
import { counts, sessions } from '../state/sessions.ts'

const Welcome = lazy('welcome', async () => (await import('../parts/first-run.tsx')).FirstRun)
const AgentsGuide = lazy('welcome', async () => (await import('../parts/agents-guide.tsx')).AgentsGuide)

/** Every session, by what it needs. */
export function NowPage() {
  const list = sessions.value
  const [snoozing, setSnoozing] = useState(false)
  useEffect(() => tellAnsweredElsewhere(), [])
  useEffect(
    () => () => {
      showPeek(null)
      clearSelection()
      filter.value = ''
    },
    [],
  )
  const isFirstRun = list !== null && list.rows.size === 0
  return (
    <Page title="Now" actions={list && !isFirstRun && <Tools />}>
      <Summary />
      {list === null && <Skeleton />}
      {isFirstRun && <Welcome />}
      {list && !isFirstRun && <Sessions onSnooze={() => setSnoozing(true)} />}
      {snoozing && (
        <SnoozeDialog
          title={selected.value.size > 1 ? `Snooze ${selected.value.size} sessions` : 'Snooze'}
          choose={(until) => {
            snooze(rowsOf(meant()), until)
            clearSelection()
          }}
          onClose={() => setSnoozing(false)}
        />
      )}
    </Page>
  )
}

/** For those who only hear the page: what has changed in it by itself. */
function Summary() {
  const { needs_you: needs, working, done } = counts.value
  return (
    <p class="aside" role="status">
      {needs} need you, {working} working, {done} done since you looked.
    </p>
  )
}

function Sessions({ onSnooze }: { onSnooze(): void }) {
  const isWide = useMedia(WIDE)
  const asBoard = isWide && layout.value === 'board'
  useLayoutEffect(() => void (isBoard.value = asBoard), [asBoard])
  useNowKeys({ onSnooze })
  const nothing = ids.value.length === 0 && filter.value.trim() !== ''
  return (
    <div class="now" data-board={asBoard || undefined}>
      {nothing ? <NothingFits /> : asBoard ? <SessionBoard /> : <SessionListView />}
      {!nothing && <Calm />}
      {sessions.value?.more && (
        <p class="muted small">Older sessions are not listed here; Search finds what was said in them.</p>
      )}
      {isOnlyDemo() && <AgentsGuide />}
      <SelectionBar onSnooze={onSnooze} />
    </div>
  )
}

/** Who has seen the demo agent only wants to know how to go on. */
function isOnlyDemo(): boolean {
  const rows = sessions.value?.rows
  return rows !== undefined && rows.size > 0 && [...rows.values()].every(({ agent }) => agent === 'demo')
}

function Calm() {
  const { needs_you: needs, working, done } = counts.value
  if (needs + working + done > 0 || filter.value.trim() !== '' || grouping.value !== 'state') return null
  return (
    <p class="now-calm">
      <Icon name="circle-check" />
      Nothing needs you, and nothing is running.
    </p>
  )
}

function NothingFits() {
  const clear = <Button label="Clear the filter" onClick={() => (filter.value = '')} />
  return (
    <Empty icon="search" title="No session fits" actions={clear}>
      The filter looks at titles, agents, directories, projects, models and last lines.
    </Empty>
  )
}

function Tools() {
  const isWide = useMedia(WIDE)
  const isPhone = useMedia(PHONE)
  return (
    <div class="now-tools">
      <label class="filter">
        <Icon name="search" />
        <input
          id="now-filter"
          class="input"
          type="search"
          aria-label="Filter the sessions"
          placeholder="Filter"
          value={filter.value}
          onInput={({ currentTarget }) => (filter.value = currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return
            filter.value = ''
            event.currentTarget.blur()
          }}
        />
      </label>
      <Button
        icon="layers"
        label="By project"
        iconOnly={isPhone}
        pressed={grouping.value === 'project'}
        shortcut={keyOf('list', 'group')}
        onClick={() => (grouping.value = grouping.value === 'project' ? 'state' : 'project')}
      />
      {isWide && (
        <Button
          icon="square-kanban"
          label="Board"
          pressed={layout.value === 'board'}
          shortcut={keyOf('list', 'board')}
          onClick={() => (layout.value = layout.value === 'board' ? 'list' : 'board')}
        />
      )}
      <Button
        kind="primary"
        icon="plus"
        label="New session"
        iconOnly={isPhone}
        shortcut={keyOf('anywhere', 'new')}
        onClick={() => (overlay.value = 'new')}
      />
    </div>
  )
}

/** What will be there soon has its shape already. */
function Skeleton() {
  return (
    <div class="skeleton-list" role="status" aria-label="Loading the sessions">
      {[62, 48, 70, 55, 40].map((width) => (
        <div key={width} class="skeleton-row">
          <span class="skeleton skeleton-dot" />
          <span class="skeleton skeleton-text" style={{ width: `${width}%` }} />
        </div>
      ))}
    </div>
  )
}
