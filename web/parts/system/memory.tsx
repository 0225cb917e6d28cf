import { useMemo, useState } from 'preact/hooks'
import type { Api } from '../../client/client.ts'
import { bytes, count, wholeTick } from '../../state/figures.ts'
import { chartData } from '../../state/series.ts'
import { Chart, type ChartLine } from '../chart.tsx'
import { Segments, type Option } from '../choice.tsx'
import { Failed } from '../failed.tsx'
import { Figure, Section } from '../section.tsx'
import { Spinner } from '../spinner.tsx'
import { useCall } from '../use-call.ts'

type Sample = Api['system.history']['result']['samples'][number]
type Span = '60' | '360' | '1440'

const SPANS: readonly Option<Span>[] = [
  { value: '60', label: '1 hour' },
  { value: '360', label: '6 hours' },
  { value: '1440', label: '1 day' },
]

const EVERY_MS = 30_000
const NOW_MS = 5000

const MEMORY: readonly ChartLine[] = [
  { name: 'Agents', colour: '--working', format: bytes },
  { name: 'Daemon', colour: '--accent', format: bytes },
]

const TIERS: readonly ChartLine[] = [
  { name: 'Active', colour: '--working', format: count, tick: wholeTick },
  { name: 'Warm', colour: '--needs', format: count },
]

/** What is used now, and minute by minute. */
export function MemorySection() {
  const [span, setSpan] = useState<Span>('60')
  const { data, problem, reload } = useCall('system.history', { limit: Number(span) }, { everyMs: EVERY_MS })
  const now = useCall('system.resources', {}, { everyMs: NOW_MS })
  return (
    <Section
      title="Memory"
      about="A session is active while a turn runs, warm while its process waits, and cold without one. Cold ones cost nothing."
      actions={<Segments label="Time" options={SPANS} value={span} onChange={setSpan} />}
    >
      {now.data && <Figures sample={now.data} />}
      {problem !== null && <Failed what="The history could not be read" problem={problem} onRetry={reload} />}
      {data ? <History samples={data.samples} /> : problem === null && <Spinner label="Loading" />}
    </Section>
  )
}

function Figures({ sample }: { sample: Sample }) {
  return (
    <div class="figures">
      <Figure name="agents" value={bytes(sample.agentsBytes)} />
      <Figure name="daemon" value={bytes(sample.daemonBytes)} />
      <Figure
        name="of the computer in use"
        value={`${Math.round((100 * sample.usedBytes) / sample.totalBytes)} %`}
        hint={`${bytes(sample.usedBytes)} of ${bytes(sample.totalBytes)}`}
      />
      <Figure name="active" value={sample.active} />
      <Figure name="warm" value={sample.warm} />
      <Figure name="cold" value={sample.cold} />
    </div>
  )
}

function History({ samples }: { samples: readonly Sample[] }) {
  const memory = useMemo(
    () => chartData(samples, [({ agentsBytes }) => agentsBytes, ({ daemonBytes }) => daemonBytes]),
    [samples],
  )
  const tiers = useMemo(() => chartData(samples, [({ active }) => active, ({ warm }) => warm]), [samples])
  if (samples.length < 2) {
    return <p class="muted">Charts begin when the daemon has looked twice; it looks once a minute.</p>
  }
  return (
    <div class="charts">
      <Chart label="Memory of the agents and the daemon over time" lines={MEMORY} data={memory} />
      <Chart label="Sessions by tier over time" lines={TIERS} data={tiers} />
    </div>
  )
}
