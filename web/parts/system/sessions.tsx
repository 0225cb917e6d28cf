import type { Api } from '../../client/client.ts'
import { bytes } from '../../state/figures.ts'
import { Ago } from '../ago.tsx'
import { Badge } from '../badge.tsx'
import { Failed } from '../failed.tsx'
import { Section } from '../section.tsx'
import { useCall } from '../use-call.ts'
import { useSessions } from '../use-sessions.ts'

type Used = Api['system.resources']['result']['sessions'][number]

const EVERY_MS = 5000

/** What each session uses that has a process. */
export function SessionsSection() {
  const { data, problem, reload } = useCall('system.resources', {}, { everyMs: EVERY_MS })
  const sessions = data?.sessions.toSorted((a, b) => b.bytes - a.bytes) ?? []
  return (
    <Section title="Sessions with a process" about="Sessions in one process share it evenly.">
      {problem !== null && (
        <Failed what="The sessions could not be read" problem={problem} onRetry={reload} />
      )}
      {data && sessions.length === 0 && <p class="muted">No session has a process now.</p>}
      {sessions.length > 0 && <Table sessions={sessions} />}
    </Section>
  )
}

function Table({ sessions }: { sessions: readonly Used[] }) {
  const known = useSessions(sessions.map(({ sessionId }) => sessionId))
  return (
    <table class="table table-cards">
      <thead>
        <tr>
          <th scope="col">Session</th>
          <th scope="col">Agent</th>
          <th scope="col">Tier</th>
          <th scope="col" class="number">
            Memory
          </th>
          <th scope="col" class="number">
            Process
          </th>
          <th scope="col">Last active</th>
        </tr>
      </thead>
      <tbody>
        {sessions.map(({ sessionId, agent, tier, bytes: used, pid, activeAt }) => (
          <tr key={sessionId}>
            <td data-name="Session">
              <a href={`/s/${encodeURIComponent(sessionId)}`}>
                {known.get(sessionId)?.name ?? sessionId.slice(0, 8)}
              </a>
            </td>
            <td data-name="Agent">{agent}</td>
            <td data-name="Tier">
              <Badge tone={tier === 'active' ? 'working' : 'plain'}>{tier}</Badge>
            </td>
            <td data-name="Memory" class="number">
              {bytes(used)}
            </td>
            <td data-name="Process" class="number">
              {pid ?? '–'}
            </td>
            <td data-name="Last active">
              <Ago at={activeAt} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
