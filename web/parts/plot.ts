import UPlot from 'uplot'
import type { ChartData } from '../state/series.ts'
import type { ChartLine } from './chart.tsx'

export interface Plot {
  setData(data: ChartData): void
  destroy(): void
}

export interface PlotOptions {
  lines: readonly ChartLine[]
  data: ChartData
  height: number
  /** The point under the pointer; null: there is none. */
  onPoint(index: number | null): void
}

const FONT = '12px system-ui, sans-serif'
const LINE_PX = 1.5

/** Draws into an element, as wide as it is. */
export function createPlot(root: HTMLElement, { lines, data, height, onPoint }: PlotOptions): Plot {
  const colours = coloursIn(root)
  const axis = {
    stroke: colours('--muted'),
    font: FONT,
    grid: { stroke: colours('--line'), width: 1 },
    ticks: { show: false },
  }
  const [{ format: written, tick: format = written }] = lines as [ChartLine]
  const plot = new UPlot(
    {
      width: Math.max(200, root.clientWidth),
      height,
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false } },
      series: [{}, ...lines.map((line) => seriesOf(line, colours(line.colour)))],
      axes: [
        { ...axis, size: 28, space: 80, values: (plot, ticks) => timesOf(plot, ticks) },
        { ...axis, size: 64, values: (_, ticks) => ticks.map((tick) => (tick === null ? '' : format(tick))) },
      ],
      scales: { y: { range: (_, __, max) => [0, max > 0 ? max * 1.08 : 1] } },
      hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
    },
    data,
    root,
  )
  const watch = new ResizeObserver(() => plot.setSize({ width: Math.max(200, root.clientWidth), height }))
  watch.observe(root)
  return {
    setData: (next) => plot.setData(next),
    destroy() {
      watch.disconnect()
      plot.destroy()
    },
  }
}

const DAY_S = 24 * 60 * 60

/** Hours within two days, dates beyond. */
function timesOf({ scales }: UPlot, ticks: readonly number[]): string[] {
  const span = (scales['x']!.max ?? 0) - (scales['x']!.min ?? 0)
  return ticks.map((tick) => {
    const date = new Date(tick * 1000)
    const isHours = span <= 2 * DAY_S && (date.getHours() !== 0 || span < DAY_S / 2)
    return isHours
      ? date.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' })
      : date.toLocaleDateString(undefined, { month: 'short', day: 'numeric' })
  })
}

function seriesOf({ name, kind }: ChartLine, colour: string): UPlot.Series {
  const look = { label: name, stroke: colour, width: LINE_PX, points: { show: false } }
  if (kind !== 'bars') return { ...look, fill: faint(colour) }
  return { ...look, fill: colour, width: 0, paths: UPlot.paths.bars!({ size: [0.7, 40] }) }
}

/** A canvas does not know custom properties: an element says what they are at the moment. */
function coloursIn(root: HTMLElement): (name: string) => string {
  const probe = document.createElement('span')
  return (name) => {
    probe.style.color = `var(${name})`
    root.append(probe)
    const { color } = getComputedStyle(probe)
    probe.remove()
    return color
  }
}

function faint(colour: string): string {
  return colour.replace(/^rgb\((.+)\)$/, 'rgba($1, 0.08)')
}
