import { useEffect, useState } from 'preact/hooks'
import { aboutOf } from '../../../src/core/about.ts'
import type { ApprovalItem } from '../../../src/core/conversation/item.ts'
import type { OpenSession } from '../../state/session.ts'
import { usageWords } from '../../state/row-words.ts'
import { isOver, type CallRow, type Row } from '../../state/row.ts'
import { callDetails, knownDetails, type CallDetails } from '../../state/call-details.ts'
import { DecisionCard } from '../decision.tsx'
import { Diff } from '../diff.tsx'
import { Elapsed } from '../elapsed.tsx'
import { Icon } from '../icon.tsx'
import { inert, inertLine } from '../inert.ts'
import { Output } from '../output.tsx'
import { Pictures } from '../pictures.tsx'
import { elapsed } from '../relative.ts'
import { Spinner } from '../spinner.tsx'
import { toolWords, verbOf } from '../tool.ts'

interface CallProps {
  row: CallRow
  session: OpenSession
  cwd: string
  isOpen: boolean
  onToggle(): void
}

/** A call in one line, that opens into all there is to know about it; and what it asks, where it asks something. */
export function Call({ row, session, cwd, isOpen, onToggle }: CallProps) {
  const words = toolWords(row, cwd)
  return (
    <div class="entry-call" data-state={row.state}>
      <button type="button" class="entry-line" aria-expanded={isOpen} onClick={onToggle}>
        <Icon name={isOpen ? 'chevron-down' : 'chevron-right'} />
        <Icon name={words.icon} />
        <span class="entry-verb">{verbOf(words, row.state)}</span>
        <span class={`entry-subject ${words.isCode ? 'mono' : ''}`}>{words.subject}</span>
        <CallState row={row} />
      </button>
      <Inside row={row} session={session} cwd={cwd} isOpen={isOpen} />
      {isOpen && row.questions.length === 0 && <Details row={row} cwd={cwd} />}
      {row.questions.map((question) => (
        <DecisionCard key={question.approval.id} approval={askedOf(question)} />
      ))}
    </div>
  )
}

function askedOf({ approval, external, timeoutAt }: ApprovalItem) {
  return { ...approval, about: aboutOf(approval), external, timeoutAt }
}

/** How it stands, in a word. */
function CallState({ row }: { row: CallRow }) {
  const { state, since, endedAt, verdict, known } = row
  if (!known) return null
  if (state === 'asked') return <span class="entry-state entry-asked">waits for you</span>
  if (state === 'running')
    return (
      <span class="entry-state">
        <Elapsed since={since} label="since" />
        <Spinner />
      </span>
    )
  if (state === 'refused')
    return (
      <span class="entry-state entry-refused">
        {verdict ? `refused by ${inertLine(verdict.by)}` : 'refused'}
      </span>
    )
  return (
    <span class="entry-state numbers">
      {state === 'failed' && <span class="entry-failed-word">failed</span>}
      {endedAt !== null && endedAt - since >= 1000 && elapsed(endedAt - since)}
    </span>
  )
}

/** What a sub-agent has taken, and what it does while its rows are out of sight, in one line. */
function Inside({ row: { callId, usage }, session, cwd, isOpen }: Omit<CallProps, 'onToggle'>) {
  // Read, so that this is drawn again when something happens in there.
  void session.inside(callId).value
  const rows = session.rowsIn(callId)
  if (rows.length === 0 && !usage) return null
  const steps = rows.length === 1 ? '1 step' : `${rows.length} steps`
  const facts = [...(rows.length > 0 ? [steps] : []), ...(usage ? usageWords(usage) : [])]
  const last = rows.findLast((row) => row.kind === 'call' && !isOver(row.state)) ?? rows.at(-1)
  const asks = rows.some((row) => row.kind === 'call' && row.state === 'asked')
  return (
    <p class="entry-inside">
      <span class="numbers">{facts.join(' · ')}</span>
      {asks && <strong class="entry-asked">waits for you</strong>}
      {!asks && !isOpen && <span class="entry-subject">{wordsOf(last, cwd)}</span>}
    </p>
  )
}

function wordsOf(row: Row | undefined, cwd: string): string {
  if (row?.kind === 'call') {
    const words = toolWords(row, cwd)
    return `${verbOf(words, row.state)} ${words.subject}`
  }
  return row?.kind === 'text' || row?.kind === 'thinking' ? inertLine(row.text.slice(-200)) : ''
}

function Details({ row, cwd }: { row: CallRow; cwd: string }) {
  const [details, setDetails] = useState<CallDetails | null>(() => knownDetails(row))
  const [failed, setFailed] = useState(false)
  useEffect(() => {
    let wanted = true
    callDetails(row, cwd).then(
      (found) => wanted && setDetails(found),
      () => wanted && setFailed(true),
    )
    return () => void (wanted = false)
  }, [row.id, row.endSeq])
  if (failed) return <p class="entry-inner entry-cut">It could not be read. Close it and try again.</p>
  if (!details) return <p class="entry-inner muted">Reading…</p>
  return (
    <div class="entry-inner">
      {details.files ? <Diff files={details.files} /> : <Input tool={row.tool} input={details.input} />}
      {details.output !== null && details.output !== '' && (!details.files || details.isError) && (
        <Output text={details.output} cut={details.cut} />
      )}
      <Pictures content={details.images} />
      {details.output === '' && <p class="muted">It wrote nothing.</p>}
      {details.output === null && isOver(row.state) && <p class="muted">There is no output.</p>}
    </div>
  )
}

const MAX_INPUT = 20_000
/** A command that is shorter than this stands whole in the line above. */
const SEEN_CHARS = 60

/** A command as it is; anything else with the names of its parts. */
function Input({ tool, input }: { tool: string; input: unknown }) {
  const { class: kind, subjects } = aboutOf({ tool, input })
  const [command] = kind === 'shell' ? subjects : []
  const text = command ?? (typeof input === 'string' ? input : (JSON.stringify(input, null, 2) ?? ''))
  const isSeen = command !== undefined && command.length <= SEEN_CHARS && !command.includes('\n')
  if (isSeen || text === 'null' || text === '{}') return null
  return (
    <pre class="entry-input" tabIndex={0} aria-label="Input">
      {inert(text.slice(0, MAX_INPUT))}
      {text.length > MAX_INPUT && '…'}
    </pre>
  )
}
