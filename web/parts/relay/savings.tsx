import { useMemo, useState } from 'preact/hooks'
import type { Api } from '../../client/client.ts'
import { count, usd, usdTick, wholeTick } from '../../state/figures.ts'
import { byDay, chartData, filled, totalOf } from '../../state/series.ts'
import { Chart, dateAndTime, dateOnly, type ChartLine } from '../chart.tsx'
import { Segments, type Option } from '../choice.tsx'
import { Failed } from '../failed.tsx'
import { Figure, Section } from '../section.tsx'
import { Spinner } from '../spinner.tsx'
import { useCall } from '../use-call.ts'

type Sum = Api['relay.series']['result']['points'][number]
type Span = 'day' | 'week' | 'month' | 'quarter'

const DAY = 24 * 60 * 60 * 1000
const DAYS: Readonly<Record<Span, number>> = { day: 1, week: 7, month: 30, quarter: 90 }
const SPANS: readonly Option<Span>[] = [
  { value: 'day', label: '24 hours' },
  { value: 'week', label: '7 days' },
  { value: 'month', label: '30 days' },
  { value: 'quarter', label: '90 days' },
]

const EVERY_MS = 15_000

const CALLS: readonly ChartLine[] = [
  { name: 'Calls', colour: '--working', format: count, tick: wholeTick, kind: 'bars' },
  { name: 'Failed', colour: '--bad', format: count, kind: 'bars' },
]
const TOKENS: readonly ChartLine[] = [
  { name: 'Tokens in', colour: '--working', format: count },
  { name: 'Tokens out', colour: '--accent', format: count },
]
const COST: readonly ChartLine[] = [
  { name: 'Cost avoided', colour: '--good', format: usd, tick: usdTick, kind: 'bars' },
]

/** Calls, tokens and what an API would have cost, over time. */
export function SavingsSection() {
  const [span, setSpan] = useState<Span>('day')
  const [until, setUntil] = useState(Date.now)
  const since = until - DAYS[span] * DAY
  const { data, problem, reload } = useCall('relay.series', { since, by: 'hour' }, { everyMs: EVERY_MS })
  function choose(next: Span): void {
    setUntil(Date.now())
    setSpan(next)
  }
  return (
    <Section
      title="Over time"
      about="What it would have cost is counted with the prices of the API that the program asked for."
      actions={<Segments label="Time" options={SPANS} value={span} onChange={choose} />}
    >
      {problem !== null && (
        <Failed what="The calls could not be counted" problem={problem} onRetry={reload} />
      )}
      {data ? (
        <Charts points={data.points} since={since} span={span} />
      ) : (
        problem === null && <Spinner label="Loading" />
      )}
    </Section>
  )
}

function Charts({ points, since, span }: { points: readonly Sum[]; since: number; span: Span }) {
  const sums = useMemo(() => sumsOf(points, since, span), [points, since, span])
  const calls = useMemo(() => chartData(sums, [({ calls }) => calls, ({ errors }) => errors]), [sums])
  const tokens = useMemo(
    () => chartData(sums, [({ inputTokens }) => inputTokens, ({ outputTokens }) => outputTokens]),
    [sums],
  )
  const cost = useMemo(() => chartData(sums, [({ costAvoidedUsd }) => costAvoidedUsd]), [sums])
  const formatTime = span === 'day' ? dateAndTime : dateOnly
  return (
    <>
      <div class="figures">
        <Figure name="calls" value={count(totalOf(points, ({ calls }) => calls))} />
        <Figure name="failed" value={count(totalOf(points, ({ errors }) => errors))} />
        <Figure name="tokens in" value={count(totalOf(points, ({ inputTokens }) => inputTokens))} />
        <Figure name="tokens out" value={count(totalOf(points, ({ outputTokens }) => outputTokens))} />
        <Figure name="cost avoided" value={usd(totalOf(points, ({ costAvoidedUsd }) => costAvoidedUsd))} />
      </div>
      <div class="charts">
        <Chart label="Calls over time" lines={CALLS} data={calls} formatTime={formatTime} />
        <Chart label="Tokens over time" lines={TOKENS} data={tokens} formatTime={formatTime} />
        <Chart label="Cost avoided over time" lines={COST} data={cost} formatTime={formatTime} />
      </div>
    </>
  )
}

function sumsOf(points: readonly Sum[], since: number, span: Span): Sum[] {
  const by = span === 'day' ? 'hour' : 'day'
  const sums = by === 'hour' ? points : byDay(points, plus)
  return filled(sums, { since, until: Date.now(), by }, nothingAt)
}

function plus(one: Sum, other: Sum): Sum {
  return {
    at: one.at,
    calls: one.calls + other.calls,
    errors: one.errors + other.errors,
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    costAvoidedUsd: one.costAvoidedUsd + other.costAvoidedUsd,
  }
}

function nothingAt(at: number): Sum {
  return { at, calls: 0, errors: 0, inputTokens: 0, outputTokens: 0, costAvoidedUsd: 0 }
}
