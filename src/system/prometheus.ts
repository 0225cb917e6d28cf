/** One metric with all its values, as Prometheus' text format 0.0.4 wants it. */
export interface Family {
  name: string
  type: 'counter' | 'gauge'
  help: string
  values: readonly Value[]
}

export interface Value {
  labels?: Readonly<Record<string, string>>
  value: number
}

export function renderMetrics(families: readonly Family[]): string {
  return families.map(renderFamily).join('')
}

function renderFamily({ name, type, help, values }: Family): string {
  const lines = values.map(({ labels = {}, value }) => `${name}${renderLabels(labels)} ${value}\n`)
  return `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n${lines.join('')}`
}

function renderLabels(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

const escapeHelp = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
const escapeLabel = (text: string): string => escapeHelp(text).replaceAll('"', '\\"')
