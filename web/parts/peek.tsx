import { useEffect, useState } from 'preact/hooks'
import { answered, askedBy } from '../state/approvals.ts'
import { client } from '../state/connection.ts'
import { peekLines, type PeekLine } from '../state/peek-lines.ts'
import { wordsOf } from '../state/session-actions.ts'
import type { SessionRow } from '../client/rows.ts'
import { DecisionCard } from './decision.tsx'
import { PeekReply } from './peek-reply.tsx'

const ITEMS = 24

/** The end of a session's conversation, what it asks, and a line to answer with, without leaving the list. */
export function Peek({ row }: { row: SessionRow }) {
  const { lines, problem } = useLastLines(row)
  const asked = askedBy(row)
  return (
    <div class="peek">
      {problem !== null && <p class="field-error">{problem}</p>}
      {lines === null && problem === null && <div class="skeleton peek-skeleton" />}
      {lines?.length === 0 && <p class="muted">Nothing has been said yet.</p>}
      {lines !== null && lines.length > 0 && (
        <ol class="peek-lines">
          {lines.map((line, at) => (
            <li key={at} class="peek-line" data-who={line.who} data-bad={line.bad}>
              <span class="peek-who">{WHO[line.who]}</span>
              <span class="peek-text">{line.text}</span>
            </li>
          ))}
        </ol>
      )}
      {asked.map((approval) => (
        <DecisionCard key={approval.id} approval={approval} onDecided={() => answered(approval.id)} />
      ))}
      {asked.length === 0 && <PeekReply row={row} />}
    </div>
  )
}

const WHO: Readonly<Record<PeekLine['who'], string>> = {
  you: 'You',
  agent: 'Agent',
  tool: 'Tool',
  note: 'Note',
}

/** Read again whenever something has happened in the session. */
function useLastLines({ id, activeAt, lastLine, attention }: SessionRow) {
  const [lines, setLines] = useState<PeekLine[] | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  useEffect(() => {
    let isOver = false
    client()
      .call('history.read', { sessionId: id, limit: ITEMS })
      .then(
        ({ items }) => {
          if (isOver) return
          setProblem(null)
          setLines(peekLines(items))
        },
        (error: unknown) => !isOver && setProblem(`Its last lines cannot be read: ${wordsOf(error)}`),
      )
    return () => void (isOver = true)
  }, [id, activeAt, lastLine, attention])
  return { lines, problem }
}
