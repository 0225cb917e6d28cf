import { useMemo, useState } from 'preact/hooks'
import { count, usd, usdTick } from '../../state/figures.ts'
import { chartData, filled } from '../../state/series.ts'
import {
  usageByAgent,
  usageByDay,
  type AgentUsage,
  type DayUsage,
  type UsagePoint,
} from '../../state/usage.ts'
import { Chart, dateOnly, type ChartLine } from '../chart.tsx'
import { Segments, type Option } from '../choice.tsx'
import { Failed } from '../failed.tsx'
import { Section } from '../section.tsx'
import { Spinner } from '../spinner.tsx'
import { useCall } from '../use-call.ts'

type Span = '7' | '30' | '90'

const DAY = 24 * 60 * 60 * 1000
const SPANS: readonly Option<Span>[] = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
]
const COLOURS = ['--accent', '--working', '--needs', '--good', '--bad'] as const
const TOKENS: readonly ChartLine[] = [{ name: 'Tokens', colour: '--working', format: count, kind: 'bars' }]

/** What turns have used and cost, day by day. */
export function UsageSection() {
  const [span, setSpan] = useState<Span>('30')
  const [today] = useState(() => new Date().setHours(0, 0, 0, 0))
  const since = today - (Number(span) - 1) * DAY
  const offsetMinutes = -new Date(today).getTimezoneOffset()
  const { data, problem, reload } = useCall('usage.series', { since, by: 'day', offsetMinutes })
  return (
    <Section
      title="Money and tokens"
      about="What turns have cost, as the agents tell it. With a subscription that is what an API would have charged, and nobody pays it."
      actions={<Segments label="Time" options={SPANS} value={span} onChange={setSpan} />}
    >
      {problem !== null && (
        <Failed what="What was used could not be read" problem={problem} onRetry={reload} />
      )}
      {!data && problem === null && <Spinner label="Loading" />}
      {data && data.points.length === 0 && <p class="muted">No turn has ended in this time.</p>}
      {data && data.points.length > 0 && <Usage points={data.points} since={since} />}
      {data?.truncated && (
        <p class="muted small">There were more turns than can be counted: the oldest are left out.</p>
      )}
    </Section>
  )
}

function Usage({ points, since }: { points: readonly UsagePoint[]; since: number }) {
  const agents = useMemo(() => usageByAgent(points), [points])
  const days = useMemo(
    () => filled(usageByDay(points), { since, until: Date.now(), by: 'day' }, nothingAt),
    [points, since],
  )
  const paid = agents.filter(({ costUsd }) => costUsd !== null).slice(0, COLOURS.length)
  const names = paid.map(({ agent }) => agent)
  const lines = names.map((name, index): ChartLine => ({
    name,
    colour: COLOURS[index]!,
    format: usd,
    tick: usdTick,
    ...(names.length === 1 && { kind: 'bars' }),
  }))
  const cost = useMemo(
    () =>
      chartData(
        days,
        names.map((name) => (day: DayUsage) => day.cost.get(name) ?? 0),
      ),
    [days, names.join()],
  )
  const tokens = useMemo(() => chartData(days, [(day) => day.tokens]), [days])
  return (
    <>
      <AgentTable agents={agents} />
      <div class="charts">
        {lines.length > 0 && <Chart label="Cost by day" lines={lines} data={cost} formatTime={dateOnly} />}
        <Chart label="Tokens by day" lines={TOKENS} data={tokens} formatTime={dateOnly} />
      </div>
    </>
  )
}

function nothingAt(at: number): DayUsage {
  return { at, cost: new Map(), tokens: 0 }
}

function AgentTable({ agents }: { agents: readonly AgentUsage[] }) {
  return (
    <table class="table table-cards">
      <thead>
        <tr>
          <th scope="col">Agent</th>
          {['Turns', 'Tokens in', 'From the cache', 'Tokens out', 'Cost'].map((name) => (
            <th key={name} scope="col" class="number">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {agents.map(({ agent, turns, inputTokens, cachedTokens, outputTokens, costUsd }) => (
          <tr key={agent}>
            <td data-name="Agent">
              <strong>{agent}</strong>
            </td>
            <td data-name="Turns" class="number">
              {count(turns)}
            </td>
            <td data-name="Tokens in" class="number">
              {count(inputTokens)}
            </td>
            <td data-name="From the cache" class="number">
              {count(cachedTokens)}
            </td>
            <td data-name="Tokens out" class="number">
              {count(outputTokens)}
            </td>
            <td data-name="Cost" class="number">
              {costUsd === null ? 'not told' : usd(costUsd)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
