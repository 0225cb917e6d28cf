import { tokensText as tokens, usageWords } from '../../state/row-words.ts'
import type { CompactedRow, EndRow, NoticeRow } from '../../state/row.ts'
import { Icon } from '../icon.tsx'
import { inert } from '../inert.ts'
import { elapsed } from '../relative.ts'

/** Something that the agent lets people know. */
export function Notice({ row: { level, text } }: { row: NoticeRow }) {
  return (
    <p class={`entry-notice entry-${level}`}>
      <Icon name={level === 'warning' ? 'triangle-alert' : 'circle-dot'} />
      {inert(text)}
    </p>
  )
}

/** The agent has summed up its conversation. */
export function Compacted({ row: { tokensBefore, tokensAfter, error } }: { row: CompactedRow }) {
  const numbers = tokensBefore !== null && tokensAfter !== null
  return (
    <p class="entry-mark">
      {error === null
        ? `Conversation summed up${numbers ? `: ${tokens(tokensBefore)} tokens became ${tokens(tokensAfter)}` : ''}`
        : `The conversation could not be summed up: ${inert(error)}`}
    </p>
  )
}

/** The end of a turn, and what it took. */
export function End({ row: { outcome, usage, error } }: { row: EndRow }) {
  const facts = [...(usage.durationMs >= 1000 ? [elapsed(usage.durationMs)] : []), ...usageWords(usage)]
  if (outcome === 'failed') return <Failed error={error} facts={facts.join(' · ')} />
  return (
    <p class="entry-mark">
      {outcome === 'interrupted' ? 'Stopped' : 'Done'}
      {facts.length > 0 && <span class="muted"> · {facts.join(' · ')}</span>}
    </p>
  )
}

function Failed({ error, facts }: { error: EndRow['error']; facts: string }) {
  return (
    <div class="entry-failed">
      <Icon name="circle-alert" />
      <div>
        <strong>This turn failed.</strong> {error && inert(error.message)}
        {facts !== '' && <span class="muted"> · {facts}</span>}
      </div>
    </div>
  )
}
