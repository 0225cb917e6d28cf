import { useEffect, useState } from 'preact/hooks'
import type { Api } from '../client/client.ts'
import { pathOf } from '../route.ts'
import { approvals } from '../state/approvals.ts'
import { client } from '../state/connection.ts'
import { wordsOf } from '../state/session-actions.ts'
import { visibleLine } from '../state/visible-text.ts'
import { outcomeOf, subjectOf, whoAnswered } from '../state/who.ts'
import { Badge, type Tone } from './badge.tsx'
import { Button } from './button.tsx'
import { Empty } from './empty.tsx'
import { Spinner } from './spinner.tsx'
import { Time } from './time.tsx'

type Page = Api['approval.history']['result']
type DecisionRow = Page['decisions'][number]

const PAGE = 50

/** What was decided, the newest first: by whom, from where, and which rule came of it. */
export function DecisionHistory() {
  const [rows, setRows] = useState<readonly DecisionRow[] | null>(null)
  const [next, setNext] = useState<string | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const [automatic, setAutomatic] = useState(false)

  async function read(cursor: string | null): Promise<void> {
    try {
      const page = await client().call('approval.history', {
        limit: PAGE,
        automatic,
        ...(cursor !== null && { cursor }),
      })
      setRows((before) => (cursor === null ? page.decisions : [...(before ?? []), ...page.decisions]))
      setNext(page.next)
      setProblem(null)
    } catch (error) {
      setProblem(wordsOf(error))
    }
  }

  // What was open and has gone is at the top of the history now.
  const open = approvals.value
  useEffect(() => void read(null), [open, automatic])

  if (problem !== null) {
    const again = <Button icon="refresh-cw" label="Try again" onClick={() => void read(null)} />
    return (
      <Empty icon="circle-alert" title="The history cannot be read" actions={again}>
        {problem}
      </Empty>
    )
  }
  if (rows === null) return <Spinner label="Reading the history" />
  return (
    <div class="history">
      <label class="tick">
        <input type="checkbox" checked={automatic} onChange={() => setAutomatic(!automatic)} />
        <span>Also what modes and rules answered by themselves</span>
      </label>
      {rows.length === 0 && <Empty icon="history" title="Nothing has been decided yet" />}
      <ol class="history-list">
        {rows.map((row) => (
          <HistoryLine key={row.id} row={row} />
        ))}
      </ol>
      {next !== null && <Button label="Older decisions" onClick={() => void read(next)} />}
    </div>
  )
}

const TONES: Readonly<Record<string, Tone>> = {
  allowed: 'good',
  answered: 'good',
  refused: 'bad',
  withdrawn: 'plain',
}

function HistoryLine({ row }: { row: DecisionRow }) {
  const { decision, decidedBy, decidedAt, requestedAt } = row
  const outcome = decision ? outcomeOf(decision) : 'open'
  const words = decision && saidWith(decision)
  return (
    <li class="history-line">
      <div class="history-what">
        <Badge tone={TONES[outcome] ?? 'plain'}>{outcome}</Badge>
        <code>{visibleLine(subjectOf(row))}</code>
      </div>
      <div class="history-facts">
        <a href={pathOf({ page: 'session', id: row.sessionId })}>
          {visibleLine(row.title ?? `A session of ${row.agent}`)}
        </a>
        <span title={row.cwd}>{row.agent}</span>
        {decidedBy !== null && <span>by {whoDecided(row)}</span>}
        <Time at={decidedAt ?? requestedAt} />
      </div>
      {words && <p class="history-words">“{visibleLine(words).slice(0, 500)}”</p>}
      {row.rule && (
        <p class="history-rule">
          {row.rule.scope === 'session' ? 'Rule for the session' : `Rule for ${row.rule.path}`}:{' '}
          {row.rule.text.map((text) => (
            <code key={text}>{visibleLine(text)}</code>
          ))}
        </p>
      )}
    </li>
  )
}

/** In a history this dashboard and another one are the same. */
function whoDecided({ decidedBy, device }: DecisionRow): string {
  return decidedBy === 'dashboard' && device === null ? 'the dashboard' : whoAnswered(decidedBy!, device)
}

function saidWith(decision: NonNullable<DecisionRow['decision']>): string | null {
  switch (decision.behavior) {
    case 'deny':
      return decision.comment || null
    case 'respond':
      return decision.text
    case 'cancelled':
      return decision.reason
    case 'allow':
      return decision.comment ?? (decision.answers ? Object.values(decision.answers).join(', ') : null)
  }
}
