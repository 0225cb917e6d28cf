import { useEffect, useRef } from 'preact/hooks'
import { cursor, lines, peeked, stayInPlace, toggleFold } from '../state/now-view.ts'
import type { Group, Line } from '../state/session-list.ts'
import { Icon } from './icon.tsx'
import { hasLostFocus, useListFocus } from './list-focus.ts'
import { SessionRowItem } from './session-row.tsx'
import { useMedia, WIDE } from './use-media.ts'
import { VirtualLines } from './virtual-lines.tsx'

/** Above so many lines only those in sight are drawn. */
const MANY = 100

/** Groups of sessions, one below the other. */
export function SessionListView() {
  const list = useRef<HTMLDivElement>(null)
  const all = lines.value
  useListFocus(list)
  useEffect(() => stayInPlace(hasLostFocus()), [all])
  return (
    <div class="session-list" ref={list}>
      {all.length > MANY ? (
        <ManyLines all={all} />
      ) : (
        all.map((line) => <ListLine key={line.key} line={line} />)
      )}
    </div>
  )
}

function ManyLines({ all }: { all: readonly Line[] }) {
  const at = cursor.value
  const indexOf = (id: string | null | undefined): number =>
    id == null ? -1 : all.findIndex((line) => line.kind === 'row' && line.row.id === id)
  const index = indexOf(at?.id)
  // Rows have another height there.
  const isNarrow = !useMedia(WIDE)
  return (
    <VirtualLines
      key={String(isNarrow)}
      keys={all.map(({ key }) => key)}
      kind={(one) => all[one]?.kind ?? 'row'}
      line={(one) => <ListLine line={all[one]!} />}
      kept={[index, indexOf(peeked.value)]}
      seek={at && at.seek > 0 ? { index, wish: at.seek } : null}
    />
  )
}

function ListLine({ line }: { line: Line }) {
  if (line.kind === 'row') return <SessionRowItem row={line.row} />
  return <GroupHead group={line.group} isFolded={line.folded} />
}

function GroupHead({ group, isFolded }: { group: Group; isFolded: boolean }) {
  return (
    <h2 class="group-head" data-state={group.attention ?? undefined}>
      <button
        type="button"
        class="group-fold"
        aria-expanded={!isFolded}
        onClick={() => toggleFold(group.key)}
      >
        <Icon name={isFolded ? 'chevron-right' : 'chevron-down'} />
        <span>{group.name}</span>
        <span class="group-count numbers">{group.rows.length}</span>
      </button>
    </h2>
  )
}
