import { visibleLine } from '../state/visible-text.ts'
import { Badge } from './badge.tsx'

const SHOWN = 3

/** What somebody has written on a session, in a few words. */
export function Flags({ flags }: { flags: readonly string[] }) {
  if (flags.length === 0) return null
  const more = flags.length - SHOWN
  return (
    <span class="flags" title={flags.map(visibleLine).join(', ')}>
      {flags.slice(0, SHOWN).map((flag) => (
        <Badge key={flag}>
          <span class="flag">{visibleLine(flag)}</span>
        </Badge>
      ))}
      {more > 0 && <Badge label={`and ${more} more`}>+{more}</Badge>}
    </span>
  )
}
