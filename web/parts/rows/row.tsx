import { textOf } from '../../../src/core/content.ts'
import type { SessionView } from '../../../src/dialects/native/wire.ts'
import { fork } from '../../state/configuring.ts'
import { copyText } from '../../state/copy.ts'
import type { Row, UserRow } from '../../state/row.ts'
import type { OpenSession } from '../../state/session.ts'
import type { MenuItem } from '../menu.tsx'
import { Call } from './call.tsx'
import { Compacted, End, Notice } from './marks.tsx'
import { Said, Thought } from './said.tsx'
import { User } from './user.tsx'

export interface RowViewProps {
  id: string
  depth: number
  session: OpenSession
  view: SessionView
  /** Somebody has just jumped here. */
  isFound: boolean
  onReuse(text: string): void
  onToggle(id: string): void
}

const MAX_DEPTH = 4

/** One row of the conversation; it is drawn again only when it changes itself. */
export function RowView(props: RowViewProps) {
  const { id, depth, session, isFound } = props
  const row = session.row(id).value
  if (!row) return null
  return (
    <div
      class="entry"
      data-kind={row.kind}
      data-depth={depth === 0 ? undefined : Math.min(depth, MAX_DEPTH)}
      data-found={isFound || undefined}
    >
      <Content {...props} row={row} />
    </div>
  )
}

function Content({ row, session, view, onToggle: toggle, onReuse }: RowViewProps & { row: Row }) {
  const onToggle = (): void => toggle(row.id)
  const isOpen = session.expanded.value.has(row.id)
  switch (row.kind) {
    case 'user':
      return <User row={row} actions={actionsOf(row, session, onReuse)} />
    case 'text':
      return <Said row={row} actions={[copyOf(row.text), ...forkOf(row, session)]} />
    case 'thinking':
      return <Thought row={row} isOpen={isOpen} onToggle={onToggle} />
    case 'call':
      return <Call row={row} session={session} cwd={view.cwd} isOpen={isOpen} onToggle={onToggle} />
    case 'notice':
      return <Notice row={row} />
    case 'compacted':
      return <Compacted row={row} />
    case 'end':
      return <End row={row} />
  }
}

function actionsOf(row: UserRow, session: OpenSession, onReuse: (text: string) => void): MenuItem[] {
  const text = textOf(row.content)
  return [
    copyOf(text),
    { label: 'Say it again', icon: 'undo-2', run: () => onReuse(text) },
    ...forkOf(row, session),
  ]
}

function copyOf(text: string): MenuItem {
  return { label: 'Copy', icon: 'copy', run: () => copyText(text) }
}

/** A session goes on after whole turns, and after those that are over. */
function forkOf({ turnId }: Row, { id, turn }: OpenSession): MenuItem[] {
  if (turnId === null || turn.value?.id === turnId) return []
  return [{ label: 'Fork after this answer', icon: 'git-fork', run: () => fork(id, turnId) }]
}
