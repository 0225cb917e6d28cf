type Fields = Record<string, unknown>

/** Parameters as the methods know them: `repo_path` is `repoPath`; what came in both spellings is as in ours. */
export function camelCased(params: unknown): unknown {
  if (!isFields(params)) return params
  const snake = Object.keys(params).filter((key) => key.includes('_'))
  if (snake.length === 0) return params
  const others = snake.map((key) => [camel(key), params[key]] as const)
  const rest = Object.entries(params).filter(([key]) => !key.includes('_'))
  return { ...Object.fromEntries(others), ...Object.fromEntries(rest) }
}

/** Other names of a parameter, for when it is not given under its own. */
export function withAliases(params: unknown, aliases: Readonly<Record<string, readonly string[]>>): unknown {
  if (!isFields(params)) return params
  let known = params
  for (const [name, others] of Object.entries(aliases)) {
    const other = known[name] === undefined ? others.find((key) => known[key] !== undefined) : undefined
    if (other === undefined) continue
    const { [other]: value, ...rest } = known
    known = { ...rest, [name]: value }
  }
  return known
}

/** An answer in both spellings: half of the clients look for the one, half for the other. */
export function bothWays<T extends Fields>(fields: T): T & Fields {
  const twins: Fields = {}
  for (const [key, value] of Object.entries(fields)) {
    const other = snake(key)
    if (other !== key && fields[other] === undefined) twins[other] = value
  }
  return { ...fields, ...twins }
}

function camel(key: string): string {
  return key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

function snake(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Moments are texts; who asked for numbers gets them as seconds. What is in the input of a tool is not ours to change. */
export function unixTimes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unixTimes)
  if (!isFields(value)) return value
  const inUnix = (key: string, field: unknown): unknown =>
    isMoment(key, field) ? seconds(field) : key === 'input' ? field : unixTimes(field)
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, inUnix(key, field)]))
}

function isMoment(key: string, value: unknown): value is string {
  return (key.endsWith('At') || key.endsWith('_at')) && typeof value === 'string'
}

function seconds(moment: string): number {
  return Math.floor(Date.parse(moment) / 1000)
}
