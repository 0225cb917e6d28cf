import { groupHits, hitPath, piecesOf, type Hit, type HitGroup } from '../../state/found.ts'
import { Ago } from '../ago.tsx'
import { Badge } from '../badge.tsx'
import { Button } from '../button.tsx'
import { inert, inertLine } from '../inert.ts'
import { useSessions, type Mentioned } from '../use-sessions.ts'

interface ResultsProps {
  hits: readonly Hit[]
  /** Null: all sessions are looked at. */
  sessionId: string | null
  onNarrow(sessionId: string): void
}

/** What was found, by session; each leads to its place. */
export function Results({ hits, sessionId, onNarrow }: ResultsProps) {
  const groups = groupHits(hits)
  const known = useSessions(groups.map((group) => group.sessionId))
  return (
    <div class="stack">
      {groups.map((group) => (
        <Group
          key={group.sessionId}
          group={group}
          session={known.get(group.sessionId)}
          onNarrow={sessionId === null ? () => onNarrow(group.sessionId) : null}
        />
      ))}
    </div>
  )
}

interface GroupProps {
  group: HitGroup
  session: Mentioned | undefined
  onNarrow: (() => void) | null
}

function Group({ group, session, onNarrow }: GroupProps) {
  const name = session ? inertLine(session.name) : group.sessionId.slice(0, 8)
  return (
    <section class="section found" aria-label={name}>
      <header class="along">
        <h2>
          <a href={`/s/${encodeURIComponent(group.sessionId)}`}>{name}</a>
        </h2>
        {session && (
          <>
            <Badge>{session.agent}</Badge>
            <span class="muted small mono found-cwd">{inertLine(session.cwd)}</span>
          </>
        )}
        {onNarrow && <Button kind="quiet" label="Only in this session" onClick={onNarrow} />}
      </header>
      <ul class="rows">
        {group.hits.map((hit) => (
          <li key={hit.seq}>
            <a class="found-hit" href={hitPath(hit)}>
              <span class="muted small">
                {hit.role === 'user' ? 'You' : (session?.agent ?? 'The agent')} · <Ago at={hit.at} />
              </span>
              <span class="found-text">
                <Marked hit={hit} />
              </span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Marked({ hit }: { hit: Hit }) {
  return (
    <>
      {piecesOf(hit.text, hit.marks).map(({ text, marked }, index) =>
        marked ? <mark key={index}>{inert(text)}</mark> : inert(text),
      )}
    </>
  )
}
