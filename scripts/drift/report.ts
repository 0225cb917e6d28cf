import { type Drift, isEmpty, type NewField, type NewType } from './compare.ts'

export interface Report {
  agent: string
  /** The version that the baseline is of. */
  pinned: string
  now: string
  drift: Drift
  /** Known or not: types that left no trace, and those that the log has as they came (`agent.other`). */
  ignored: string[]
  unknown: string[]
}

/** An agent that could not be looked at. */
export interface Trouble {
  agent: string
  problem: string
}

export function textOf(report: Report | Trouble): string {
  if ('problem' in report) return `${report.agent}: could not run: ${report.problem}`
  const { agent, pinned, now, drift, ignored, unknown } = report
  const lines = [
    `${agent} ${pinned === now ? now : `${pinned} → ${now}`}${isEmpty(drift) ? ': nothing new' : ''}`,
    ...section('new message types', drift.newTypes.map(typeLine)),
    ...section('new fields', grouped(drift.newFields, fieldLine)),
    ...section('message types that are gone', drift.goneTypes),
    ...section(
      'fields that are gone',
      grouped(drift.goneFields, ({ path, read }) => `${plain(path)}  ${GONE[String(read)]}`),
    ),
    ...section(
      'turns that end in another way',
      drift.turns.map(({ turn, before, now: after }) => `${turn}: ${after}; was: ${before}`),
    ),
    `  no trace in the log (of all types seen): ${listed(ignored)}`,
    `  no branch, in the log as agent.other: ${listed(unknown)}`,
  ]
  return lines.join('\n')
}

const GONE: Record<string, string> = {
  true: 'THE TRANSLATOR READS IT',
  false: 'the translator does not read it',
  null: 'not in the recordings: look whether the translator reads it',
}

function section(title: string, lines: string[]): string[] {
  return lines.length === 0 ? [] : [`  ${title}`, ...lines.map((line) => `    ${line}`)]
}

function typeLine({ type, treatment, outputs, fields }: NewType): string {
  const made = {
    ignored: 'IGNORED: no output, nothing remembered',
    unknown: 'NO BRANCH: in the log as agent.other',
    read: `read: ${outputs.join(', ') || 'remembered'}`,
  }
  return `${type}  ${made[treatment]}  (${fields.join(', ')})`
}

function fieldLine({ path, kinds, before, read }: NewField): string {
  const what = kinds.join('|') + (before === null ? '' : ` (was ${before.join('|')})`)
  return `${plain(path)}: ${what}  ${read ? 'THE TRANSLATOR READS IT' : 'ignored by the translator'}`
}

/** What is the same in several types of messages is told once. */
function grouped<T extends { type: string }>(items: T[], told: (item: T) => string): string[] {
  const types = Map.groupBy(items, told)
  return Array.from(types, ([text, all]) => `${text}  [${all.map(({ type }) => type).join(', ')}]`)
}

function plain(path: string): string {
  return path.replace(/(?<!\])<[^>]*>(?=\.)/g, '')
}

function listed(names: string[]): string {
  return names.length === 0 ? 'none' : names.join(', ')
}
