import { ATTENTIONS } from '../../src/core/attention.ts'
import { pathOf } from '../route.ts'
import { askedBy } from '../state/approvals.ts'
import { layout, groups, moveTo } from '../state/now-view.ts'
import { contextPercent, costText, newsOf, questionOf, whereText } from '../state/row-words.ts'
import { titleOf } from '../state/session-actions.ts'
import { GROUP_NAMES, groupsByState } from '../state/session-list.ts'
import type { SessionRow } from '../client/rows.ts'
import { visibleLine } from '../state/visible-text.ts'
import { Button } from './button.tsx'
import { Elapsed } from './elapsed.tsx'
import { Icon } from './icon.tsx'
import { Menu } from './menu.tsx'
import { rowMenu } from './row-menu.ts'
import { Time } from './time.tsx'

/** More than these are for the list. */
const PER_COLUMN = 50

/** The same sessions in columns, one for each state. */
export function SessionBoard() {
  const all = groups.value.flatMap(({ rows }) => rows)
  const byState = new Map(groupsByState(all).map((group) => [group.attention, group.rows]))
  return (
    <div class="board">
      {ATTENTIONS.map((attention) => {
        const rows = byState.get(attention) ?? []
        return (
          <section
            key={attention}
            class="board-column"
            data-state={attention}
            aria-label={GROUP_NAMES[attention]}
          >
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
      })}
    </div>
  )
}

function Card({ row }: { row: SessionRow }) {
  const percent = contextPercent(row)
  const facts = [row.agent, whereText(row), costText(row.costUsd), percent !== null && `${percent}%`].filter(
    Boolean,
  )
  return (
    <article class="board-card" data-row={row.id} data-state={row.attention}>
      <div class="board-card-head">
        <a
          class="session-row-title"
          href={pathOf({ page: 'session', id: row.id })}
          onFocus={() => moveTo(row.id)}
        >
          {row.marks.pinned && <Icon name="pin" label="Pinned" />}
          <span class="session-row-name">{visibleLine(titleOf(row))}</span>
        </a>
        <Menu kind="quiet" icon="ellipsis" iconOnly label={`More for ${titleOf(row)}`} items={rowMenu(row)} />
      </div>
      <p class="board-news">{questionOf(row, askedBy(row)) ?? newsOf(row)}</p>
      <p class="board-facts">
        <span>{facts.join(' · ')}</span>
        <span>
          {row.turn ? (
            <Elapsed since={row.turn.startedAt} label="Running since" />
          ) : (
            <Time at={row.endedAt ?? row.activeAt} />
          )}
        </span>
      </p>
    </article>
  )
}
