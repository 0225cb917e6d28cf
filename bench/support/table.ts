import { cpus, totalmem } from 'node:os'
import { met, type Result, type Row, type Target } from './row.ts'
import { brief } from './stats.ts'

export function machine(): string {
  const [cpu] = cpus()
  const memory = Math.round(totalmem() / 1024 ** 3)
  return `${cpus().length} × ${cpu?.model.trim() ?? 'unknown CPU'}, ${memory} GB, ${process.platform}, node ${process.version}`
}

export function table(results: readonly Result[]): string {
  const head = ['', 'measured', 'ratio', 'target', '', 'samples']
  const lines = [head, ...results.map(cells)]
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)))
  const pad = (cell: string, column: number): string => {
    const right = column === 1 || column === 2
    return right ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!)
  }
  return lines.map((line) => line.map(pad).join('  ').trimEnd()).join('\n')
}

function cells(result: Result): string[] {
  if ('skipped' in result) return [result.name, '-', '', '', 'skipped', result.skipped]
  const { name, value, unit, ratio, target, note = '' } = result
  const measured = `${brief(value)} ${unit}`
  return [
    name,
    measured,
    ratio === undefined ? '' : `× ${ratio.toFixed(2)}`,
    words(target, unit),
    verdict(result),
    note,
  ]
}

function words(target: Target | undefined, unit: string): string {
  if (!target) return ''
  const sign = target.at === 'most' ? '≤' : '≥'
  return target.of === 'ratio'
    ? `${sign} × ${target.limit}`
    : `${sign} ${target.limit.toLocaleString('en')} ${unit}`
}

function verdict(row: Row): string {
  const answer = met(row)
  return answer === null ? '' : answer ? 'met' : 'MISSED'
}
