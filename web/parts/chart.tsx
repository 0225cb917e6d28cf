import { useEffect, useRef, useState } from 'preact/hooks'
import type { ChartData } from '../state/series.ts'
import { theme } from '../state/theme.ts'
import type { Plot } from './plot.ts'
import { useMedia } from './use-media.ts'

export interface ChartLine {
  name: string
  /** A custom property of the style sheets. */
  colour: `--${string}`
  /** How a value is written. */
  format(value: number): string
  /** The same at the axis, where values are round; empty where none should stand. */
  tick?(value: number): string
  kind?: 'line' | 'bars'
}

export interface ChartProps {
  /** What it shows, for those who do not see it. */
  label: string
  lines: readonly ChartLine[]
  data: ChartData
  height?: number
  /** How a time is written in the table. */
  formatTime?(at: number): string
}

/** Lines or bars over time; what they are drawn with is loaded when the first chart is shown. The same is there as a table. */
export function Chart({ label, lines, data, height = 180, formatTime = dateAndTime }: ChartProps) {
  const root = useRef<HTMLDivElement>(null)
  const plot = useRef<Plot | null>(null)
  const [at, setAt] = useState<number | null>(null)
  // Colours of a canvas do not follow the theme by themselves.
  const chosen = `${theme.value} ${useMedia('(prefers-color-scheme: dark)')}`
  useEffect(() => {
    let isGone = false
    void import('./plot.ts').then(({ createPlot }) => {
      if (isGone || !root.current) return
      plot.current = createPlot(root.current, { lines, data, height, onPoint: setAt })
    })
    return () => {
      isGone = true
      plot.current?.destroy()
      plot.current = null
    }
  }, [chosen, lines.length, height])
  useEffect(() => plot.current?.setData(data), [data])
  const [times, ...values] = data
  const shown = at ?? times.length - 1
  return (
    <figure class="chart">
      <figcaption class="chart-legend">
        {lines.map(({ name, colour, format }, index) => (
          <span key={name} class="chart-name">
            <span class={`chart-dot chart${colour}`} aria-hidden="true" />
            {name}
            <span class="numbers muted">{written(values[index]?.[shown], format)}</span>
          </span>
        ))}
        {at !== null && times[at] !== undefined && <span class="muted">{formatTime(times[at] * 1000)}</span>}
      </figcaption>
      <div ref={root} class="chart-plot" role="img" aria-label={label} />
      <DataTable label={label} lines={lines} data={data} formatTime={formatTime} />
    </figure>
  )
}

const MAX_ROWS = 200

/** The newest values in words. */
function DataTable({
  label,
  lines,
  data,
  formatTime,
}: Required<Pick<ChartProps, 'label' | 'lines' | 'data' | 'formatTime'>>) {
  const [isOpen, setOpen] = useState(false)
  const [times, ...values] = data
  const rows = times.map((time, index) => ({ time, index })).slice(-MAX_ROWS)
  return (
    <details class="chart-table" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary class="small">As a table</summary>
      {isOpen && (
        <div class="table-scroll" tabIndex={0} role="region" aria-label={label}>
          <table class="table small">
            <thead>
              <tr>
                <th scope="col">Time</th>
                {lines.map(({ name }) => (
                  <th key={name} scope="col" class="number">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.toReversed().map(({ time, index }) => (
                <tr key={time}>
                  <td>{formatTime(time * 1000)}</td>
                  {lines.map(({ name, format }, line) => (
                    <td key={name} class="number">
                      {written(values[line]?.[index], format)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  )
}

function written(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? '–' : format(value)
}

export function dateAndTime(at: number): string {
  return new Date(at).toLocaleString(undefined, {
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
  })
}

export function dateOnly(at: number): string {
  return new Date(at).toLocaleDateString(undefined, { weekday: 'short', month: 'short', day: 'numeric' })
}
