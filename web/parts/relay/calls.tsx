import { useState } from 'preact/hooks'
import type { Api } from '../../client/client.ts'
import { count, usd } from '../../state/figures.ts'
import { client } from '../../state/connection.ts'
import { Ago } from '../ago.tsx'
import { Badge } from '../badge.tsx'
import { Button } from '../button.tsx'
import { Failed } from '../failed.tsx'
import { elapsed } from '../relative.ts'
import { Section } from '../section.tsx'
import { Spinner } from '../spinner.tsx'
import { problemOf, useCall } from '../use-call.ts'

type Overview = Api['relay.overview']['result']
type Call = Api['relay.calls']['result']['calls'][number]

const PAGE = 50
const EVERY_MS = 2000

/** Calls under way and those that are over, the newest first. */
export function CallsSection({ overview }: { overview: Overview }) {
  const { data, problem, reload } = useCall('relay.calls', { limit: PAGE }, { everyMs: EVERY_MS })
  const [older, setOlder] = useState<{ calls: Call[]; more: boolean } | null>(null)
  const [trouble, setTrouble] = useState<string | null>(null)
  const calls = merged(data?.calls ?? [], older?.calls ?? [])
  async function readOn(): Promise<void> {
    try {
      const { calls: next, more } = await client().call('relay.calls', {
        limit: PAGE,
        before: calls.at(-1)!.seq,
      })
      setOlder({ calls: merged(older?.calls ?? calls, next), more })
      setTrouble(null)
    } catch (error) {
      setTrouble(problemOf(error))
    }
  }
  const more = older ? older.more : (data?.more ?? false)
  return (
    <Section
      title="Calls"
      about="The last 1,000 are kept. Prompts and answers are not, unless the settings say so."
    >
      {problem !== null && <Failed what="The calls could not be read" problem={problem} onRetry={reload} />}
      {data && calls.length === 0 && overview.runningCount === 0 && <p class="muted">No calls yet.</p>}
      {!data && problem === null && <Spinner label="Loading" />}
      <Running overview={overview} />
      {calls.length > 0 && <Table calls={calls} />}
      {trouble !== null && <p class="problem">{trouble}</p>}
      {more && <Button label="Older calls" onClick={() => void readOn()} />}
    </Section>
  )
}

/** The newest first, each once. */
function merged(newer: readonly Call[], older: readonly Call[]): Call[] {
  const bySeq = new Map([...older, ...newer].map((call) => [call.seq, call]))
  return [...bySeq.values()].toSorted((a, b) => b.seq - a.seq)
}

function Running({ overview: { running, runningCount } }: { overview: Overview }) {
  if (running.length === 0) return null
  return (
    <ul class="rows" aria-label="Calls under way">
      {running.map(({ id, model, sessionId, startedAt }) => (
        <li key={id} class="along">
          <Badge tone="working">under way</Badge>
          <span class="along-main">
            {model}
            {sessionId !== null && <span class="muted"> in {sessionId}</span>}
          </span>
          <span class="muted numbers">{elapsed(Date.now() - startedAt)}</span>
        </li>
      ))}
      {runningCount > running.length && <li class="muted">and {runningCount - running.length} more</li>}
    </ul>
  )
}

function Table({ calls }: { calls: readonly Call[] }) {
  return (
    <table class="table table-calls">
      <thead>
        <tr>
          <th scope="col">When</th>
          <th scope="col">Model</th>
          <th scope="col">Answered by</th>
          <th scope="col" class="number">
            Tokens in
          </th>
          <th scope="col" class="number">
            Tokens out
          </th>
          <th scope="col" class="number">
            Took
          </th>
          <th scope="col" class="number">
            Avoided
          </th>
        </tr>
      </thead>
      <tbody>
        {calls.map((call) => (
          <Row key={call.seq} call={call} />
        ))}
      </tbody>
    </table>
  )
}

function Row({ call }: { call: Call }) {
  const passed = call.fallbackChain.map(({ provider, error }) => `${provider}: ${error}`)
  return (
    <tr>
      <td>
        <Ago at={call.completedAt} />
      </td>
      <td>
        <span class="call-model">
          {call.model}
          {call.promptPreview !== null && <span class="muted small call-preview">{call.promptPreview}</span>}
          {call.error !== null && <span class="problem small">{call.error}</span>}
        </span>
      </td>
      <td>
        <span>
          {call.status === 'error' ? <Badge tone="bad">failed</Badge> : (call.provider ?? '–')}
          {passed.length > 0 && (
            <span class="muted small" title={passed.join('\n')}>
              {' '}
              after {call.fallbackChain.map(({ provider }) => provider).join(', ')}
            </span>
          )}
        </span>
      </td>
      <td data-unit="in" class="number">
        {count(call.inputTokens)}
      </td>
      <td data-unit="out" class="number">
        {count(call.outputTokens)}
      </td>
      <td class="number">{tookOf(call)}</td>
      <td data-unit="avoided" class="number">
        {usd(call.costAvoidedUsd)}
      </td>
    </tr>
  )
}

function tookOf({ startedAt, completedAt }: Call): string {
  const ms = completedAt - startedAt
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)}s` : elapsed(ms)
}
