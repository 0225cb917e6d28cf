import type { SaidRow } from '../../state/row.ts'
import { Icon } from '../icon.tsx'
import { inert } from '../inert.ts'
import { Menu, type MenuItem } from '../menu.tsx'
import { Markdown } from '../markdown/markdown.tsx'

export interface SaidProps {
  row: SaidRow
  /** What can be done with it. */
  actions: readonly MenuItem[]
}

/** What an agent says. */
export function Said({ row: { text, open, aborted }, actions }: SaidProps) {
  return (
    <div class="entry-said" data-open={open || undefined}>
      <Menu kind="quiet" icon="ellipsis" iconOnly label="What to do with this answer" items={actions} />
      <Markdown text={text} open={open} />
      {aborted && <p class="entry-cut">Cut off here.</p>}
    </div>
  )
}

const MAX_LINE = 160

/** What an agent thinks: one line, until somebody wants to know. */
export function Thought({ row, isOpen, onToggle }: { row: SaidRow; isOpen: boolean; onToggle(): void }) {
  const { text, open, aborted } = row
  return (
    <div class="entry-thought">
      <button type="button" class="entry-line" aria-expanded={isOpen} onClick={onToggle}>
        <Icon name={isOpen ? 'chevron-down' : 'chevron-right'} />
        <span class="entry-verb">{open ? 'Thinking' : 'Thought'}</span>
        {!isOpen && <span class="entry-subject">{inert(lastLine(text))}</span>}
      </button>
      {isOpen && (
        <div class="entry-inner muted">
          <Markdown text={text} open={open} />
          {aborted && <p class="entry-cut">Cut off here.</p>}
        </div>
      )}
    </div>
  )
}

/** The newest line with something in it. */
function lastLine(text: string): string {
  const tail = text.slice(-2 * MAX_LINE).trimEnd()
  const line = tail.slice(tail.lastIndexOf('\n') + 1).trim()
  return line.length > MAX_LINE ? `…${line.slice(-MAX_LINE)}` : line
}
