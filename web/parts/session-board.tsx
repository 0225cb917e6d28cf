import { useEffect, useRef } from 'preact/hooks'
import { ATTENTIONS, type Attention } from '../../src/core/attention.ts'
import type { SessionRow } from '../client/rows.ts'
import { pathOf } from '../route.ts'
import { askedBy } from '../state/approvals.ts'
import {
  columns,
  layout,
  moveTo,
  peeked,
  PER_COLUMN,
  showPeek,
  stayInPlace,
  togglePeek,
} from '../state/now-view.ts'
import { contextPercent, costText, newsOf, questionOf, whereText } from '../state/row-words.ts'
import { titleOf } from '../state/session-actions.ts'
import { GROUP_NAMES } from '../state/session-list.ts'
import { rowOf } from '../state/sessions.ts'
import { Button } from './button.tsx'
import { Elapsed } from './elapsed.tsx'
import { Flags } from './flags.tsx'
import { Icon } from './icon.tsx'
import { hasLostFocus, useCursor, useListFocus } from './list-focus.ts'
import { Menu } from './menu.tsx'
import { Peek } from './peek.tsx'
import { rowMenu } from './row-menu.ts'
import { Time } from './time.tsx'

/** The same sessions in columns, one for each state. */
export function SessionBoard() {
  const root = useRef<HTMLDivElement>(null)
  const all = columns.value
  const byState = new Map(all.map(({ attention, rows }) => [attention, rows]))
  useListFocus(root)
  useEffect(() => stayInPlace(hasLostFocus()), [all])
  return (
    <div ref={root}>
      <div class="board">
        {ATTENTIONS.map((attention) => (
          <Column key={attention} attention={attention} rows={byState.get(attention) ?? []} />
        ))}
      </div>
      <BoardPeek />
    </div>
  )
}

function Column({ attention, rows }: { attention: Attention; rows: readonly SessionRow[] }) {
  return (
    <section class="board-column" data-state={attention} aria-label={GROUP_NAMES[attention]}>
      <h2 class="board-head">
        {GROUP_NAMES[attention]} <span class="group-count numbers">{rows.length}</span>
      </h2>
      {rows.length === 0 && <p class="board-none">None</p>}
      {rows.slice(0, PER_COLUMN).map((row) => (
        <Card key={row.id} row={row} />
      ))}
      {rows.length > PER_COLUMN && (
        <Button
          kind="quiet"
          label={`${rows.length - PER_COLUMN} more in the list`}
          onClick={() => (layout.value = 'list')}
        />
      )}
    </section>
  )
}

function Card({ row }: { row: SessionRow }) {
  const link = useCursor(row.id)
  const percent = contextPercent(row)
  const facts = [row.agent, whereText(row), costText(row.costUsd), percent !== null && `${percent}%`]
  const isPeeked = peeked.value === row.id
  return (
    <article class="board-card" data-state={row.attention} data-peeked={isPeeked || undefined}>
      <div class="board-card-head">
        <a
          ref={link}
          class="session-row-title"
          href={pathOf({ page: 'session', id: row.id })}
          onFocus={() => moveTo(row.id)}
          onClick={() => showPeek(null)}
        >
          {row.marks.pinned && <Icon name="pin" label="Pinned" />}
          <span class="session-row-name">{titleOf(row)}</span>
        </a>
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
      <p class="board-news">
        <Flags flags={row.marks.flags} />
        {questionOf(row, askedBy(row)) ?? newsOf(row)}
      </p>
      <p class="board-facts">
        <span>{facts.filter(Boolean).join(' · ')}</span>
        {row.turn ? (
          <Elapsed since={row.turn.startedAt} label="Running since" />
        ) : (
          <Time at={row.endedAt ?? row.activeAt} />
        )}
      </p>
    </article>
  )
}

/** What is peeked at has no room in a column. */
function BoardPeek() {
  const row = peeked.value === null ? null : rowOf(peeked.value)
  if (!row) return null
  return (
    <section class="board-peek" data-row={row.id} aria-label={`Peek at ${titleOf(row)}`}>
      <div class="board-card-head">
        <h2>{titleOf(row)}</h2>
        <Button kind="quiet" icon="x" iconOnly label="Close the peek" onClick={() => showPeek(null)} />
      </div>
      <Peek row={row} />
    </section>
  )
}
