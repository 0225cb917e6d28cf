import { useRef } from 'preact/hooks'
import type { IconName } from '../icons.ts'
import { pathOf } from '../route.ts'
import { askedBy } from '../state/approvals.ts'
import { moveTo, peeked, selected, showPeek, togglePeek, toggleSelected } from '../state/now-view.ts'
import {
  contextPercent,
  costText,
  newsOf,
  questionOf,
  STATE_WORDS,
  tokensText,
  whereText,
} from '../state/row-words.ts'
import { markDone, snooze, titleOf, togglePin, wake } from '../state/session-actions.ts'
import type { SessionRow } from '../client/rows.ts'
import { laterThan, whenBack } from '../state/snooze.ts'
import { Button } from './button.tsx'
import { useCursor } from './list-focus.ts'
import { Elapsed } from './elapsed.tsx'
import { Flags } from './flags.tsx'
import { Icon } from './icon.tsx'
import { Peek } from './peek.tsx'
import { rowMenu } from './row-menu.ts'
import { Menu } from './menu.tsx'
import { useSwipe } from './swipe.ts'
import { Time } from './time.tsx'

const ICONS: Readonly<Record<SessionRow['attention'], IconName>> = {
  needs_you: 'circle-alert',
  working: 'circle-dot',
  done: 'circle-check',
  snoozed: 'clock',
  quiet: 'message-square',
}

/** One session of the list: what it is, what it does, and what one can do about it without opening it. */
export function SessionRowItem({ row }: { row: SessionRow }) {
  const swiped = useRef<HTMLDivElement>(null)
  const isPeeked = peeked.value === row.id
  const isSelected = selected.value.has(row.id)
  useSwipe(swiped, {
    right: () => markDone([row]),
    left: () => snooze([row], laterThan(Date.now())[0]!.at),
  })
  return (
    <div
      class="session-row-item"
      data-row={row.id}
      data-selected={isSelected || undefined}
      data-peeked={isPeeked || undefined}
    >
      <div class="session-row" ref={swiped} data-state={row.attention}>
        <label class={`session-row-state session-row-${row.attention}`}>
          <input
            type="checkbox"
            checked={isSelected}
            aria-label={`Select ${titleOf(row)}`}
            onChange={() => toggleSelected(row.id)}
          />
          <Icon key={row.attention} name={ICONS[row.attention]} />
        </label>
        <RowText row={row} />
        <RowFacts row={row} />
        <RowActions row={row} isPeeked={isPeeked} />
      </div>
      {isPeeked && <Peek row={row} />}
    </div>
  )
}

function RowText({ row }: { row: SessionRow }) {
  const link = useCursor(row.id)
  const isCalm = row.attention === 'quiet' || row.attention === 'snoozed'
  return (
    <div class="session-row-text">
      <a
        ref={link}
        class={`session-row-title ${isCalm ? 'session-row-calm' : ''}`}
        href={pathOf({ page: 'session', id: row.id })}
        onFocus={() => moveTo(row.id)}
        onClick={() => showPeek(null)}
      >
        {row.marks.pinned && <Icon name="pin" label="Pinned" />}
        <span class="session-row-name">{titleOf(row)}</span>
        <span class="aside">, {STATE_WORDS[row.attention]}</span>
      </a>
      <span class="session-row-news">
        <Flags flags={row.marks.flags} />
        {questionOf(row, askedBy(row)) ?? newsOf(row)}
      </span>
    </div>
  )
}

function RowFacts({ row }: { row: SessionRow }) {
  const cost = costText(row.costUsd)
  return (
    <div class="session-row-facts">
      <span class="session-row-agent">{row.agent}</span>
      <span class="session-row-where" title={row.cwd}>
        <Icon name={row.worktree ? 'folder-git-2' : 'folder'} />
        <span class="session-row-where-name">{whereText(row)}</span>
      </span>
      <span class="session-row-when">
        <When row={row} />
      </span>
      <span class="session-row-cost numbers" title="Cost so far">
        {cost}
      </span>
      <Context row={row} />
    </div>
  )
}

function When({ row }: { row: SessionRow }) {
  const { attention, turn, marks, endedAt, activeAt } = row
  const [asked] = askedBy(row)
  if (attention === 'snoozed' && marks.snoozedUntil !== null)
    return <>{whenBack(marks.snoozedUntil, Date.now())}</>
  if (asked) return <Elapsed since={asked.requestedAt} label="Waiting since" />
  if (turn) return <Elapsed since={turn.startedAt} label="Running since" />
  return <Time at={endedAt ?? activeAt} />
}

function Context({ row }: { row: SessionRow }) {
  const percent = contextPercent(row)
  const { used, window } = row.tokens
  if (percent === null)
    return <span class="session-row-context numbers">{used === null ? '' : tokensText(used)}</span>
  const title = `Context: ${tokensText(used!)} of ${tokensText(window!)} tokens`
  return (
    <span class="session-row-context numbers" title={title} data-full={percent >= 80 || undefined}>
      <meter min={0} max={100} value={percent} aria-label={title} />
      {percent}%
    </span>
  )
}

function RowActions({ row, isPeeked }: { row: SessionRow; isPeeked: boolean }) {
  const isSnoozed = row.marks.snoozedUntil !== null && row.attention === 'snoozed'
  return (
    <div class="session-row-actions">
      <span class="session-row-quick">
        <Button
          kind="quiet"
          icon="pin"
          iconOnly
          label={row.marks.pinned ? 'Take the pin off' : 'Pin'}
          pressed={row.marks.pinned}
          onClick={() => togglePin([row])}
        />
        {isSnoozed ? (
          <Button kind="quiet" icon="undo-2" iconOnly label="Wake now" onClick={() => wake([row])} />
        ) : (
          <Button kind="quiet" icon="check" iconOnly label="Mark as done" onClick={() => markDone([row])} />
        )}
      </span>
      <Menu kind="quiet" icon="ellipsis" iconOnly label={`More for ${titleOf(row)}`} items={rowMenu(row)} />
      <Button
        kind="quiet"
        icon={isPeeked ? 'chevron-down' : 'chevron-right'}
        iconOnly
        label="Peek"
        expanded={isPeeked}
        onClick={() => {
          moveTo(row.id)
          togglePeek(row.id)
        }}
      />
    </div>
  )
}
