import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { DRIVERS } from '../src/agents/drivers.ts'
import { COMMANDS, groupOf } from '../src/cli/program.ts'
import { COMMON, GROUPS } from '../src/cli/program/spec.ts'
import { TOOL_CLASSES } from '../src/core/about.ts'
import { ABILITIES } from '../src/core/capability.ts'
import { ERRORS, type ErrorCode, type ErrorEntry } from '../src/core/error.ts'
import type { Capabilities } from '../src/core/ports.ts'
import { allowed, SETTINGS } from '../src/config/schema.ts'
import { CODES } from '../src/dialects/clawde/errors.ts'
import { METHODS as CLAWDE_METHODS } from '../src/dialects/clawde/methods.ts'
import { PUSHES } from '../src/dialects/clawde/pushes.ts'
import * as clawde from '../src/dialects/clawde/wire.ts'
import type { Method, Repeat } from '../src/dialects/method.ts'
import { ERROR_CODES } from '../src/dialects/native/errors.ts'
import { METHODS } from '../src/dialects/native/methods.ts'
import * as wire from '../src/dialects/native/wire.ts'

/**
 * Writes the generated parts of docs/native.md, docs/clawde.md, docs/cli.md, docs/agents.md and docs/rules.md: what stands between `<!-- name -->` and
 * `<!-- /name -->`. Run it after changing a schema, a method, a command or a setting.
 */

type Json = z.core.JSONSchema.BaseSchema

const NAMED = new Map<unknown, string>([
  [wire.sessionView, 'Session'],
  [wire.turnView, 'Turn'],
  [wire.approvalView, 'Approval'],
  [wire.historyItem, 'HistoryItem'],
  [wire.searchHit, 'SearchHit'],
  [wire.projectView, 'Project'],
  [wire.device, 'Device'],
  [wire.agentReport, 'AgentReport'],
  [wire.check, 'Check'],
  [wire.content, 'Content'],
  [wire.usage, 'Usage'],
  [wire.failure, 'Failure'],
  [wire.decision, 'Decision'],
  [wire.settings, 'Settings'],
  [wire.event, 'Event'],
  [wire.eventTypes, 'EventType[]'],
  [clawde.session, 'Session'],
  [clawde.message, 'Message'],
  [clawde.toolCall, 'ToolCall'],
  [clawde.repoStatus, 'RepoStatus'],
  [clawde.provider, 'Provider'],
])

function jsonOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  return z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema, path }) {
      const name = NAMED.get(zodSchema)
      if (name === undefined || path.length === 0) return
      for (const key of Object.keys(jsonSchema)) delete (jsonSchema as Record<string, unknown>)[key]
      jsonSchema.title = name
    },
  })
}

function typeText(json: Json): string {
  if (json.title) return json.title
  const options = json.anyOf ?? json.oneOf
  if (options) return [...new Set(options.map((option) => typeText(option as Json)))].join(' | ')
  if (json.const !== undefined) return literal(json.const)
  if (json.enum) return json.enum.map(literal).join(' | ')
  if (json.prefixItems) return `[${json.prefixItems.map((item) => typeText(item as Json)).join(', ')}]`
  if (json.type === 'array') return arrayText(typeText(json.items as Json))
  if (json.type === 'object' && json.properties) return `{ ${fields(json).join('; ')} }`
  const types = [json.type ?? 'unknown'].flat() as string[]
  return types.map((type) => ({ integer: 'number', object: 'object' })[type] ?? type).join(' | ')
}

function arrayText(item: string): string {
  return item.includes(' | ') ? `(${item})[]` : `${item}[]`
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value)
}

function fields(json: Json): string[] {
  return Object.entries(json.properties ?? {}).map(([name, field]) => {
    return `${name}${json.required?.includes(name) ? '' : '?'}: ${typeText(field as Json)}`
  })
}

function variants(json: Json): Json[] {
  return (json.oneOf ?? json.anyOf ?? [json]) as Json[]
}

function fieldRows(json: Json): string[] {
  return Object.entries(json.properties ?? {}).map(([name, value]) => {
    const field = value as Json
    const start = field.default === undefined ? '' : ` (${JSON.stringify(field.default)})`
    const need = json.required?.includes(name) ? 'yes' : `no${start}`
    const type = typeText(field).replaceAll('|', '\\|')
    return `| \`${name}\` | ${type} | ${need} | ${field.description ?? ''} |`
  })
}

function paramsText(schema: z.ZodType): string {
  const head = ['| Parameter | Type | Needed | |', '|---|---|---|---|']
  const tables = variants(jsonOf(schema, 'input')).map((variant) => {
    const rows = fieldRows(variant)
    return rows.length === 0 ? 'No parameters.' : [...head, ...rows].join('\n')
  })
  return tables.join('\n\nor\n\n')
}

function resultText(schema: z.ZodType): string {
  return NAMED.get(schema) ?? typeText(jsonOf(schema, 'output'))
}

/** Who may call it, whether it may be repeated, what it may end with. */
function terms({ scope, repeat, errors }: Pick<Method<never>, 'scope' | 'repeat' | 'errors'>): string {
  const ends = errors.length === 0 ? '' : `; may end with ${errors.map((code) => `\`${code}\``).join(', ')}`
  return `Scope \`${scope}\`; ${REPEATS[repeat]}${ends}.`
}

const REPEATS: Record<Repeat, string> = {
  read: 'may be repeated',
  idempotent: 'may be repeated',
  keyed: 'may be repeated with the same `key` or `id`',
  never: 'not to be repeated blindly',
}

function methodsText(): string {
  return METHODS.map((method) => {
    const stream = method.streaming ? ', then `events` notifications' : ''
    const result = `Answers \`${resultText(method.result)}\`${stream}`
    return `### ${method.name}\n\n${method.summary}\n\n${paramsText(method.params)}\n\n${result}\n\n${terms(method)}`
  }).join('\n\n')
}

const SHAPES = [
  wire.sessionView,
  wire.turnView,
  wire.approvalView,
  wire.historyItem,
  wire.searchHit,
  wire.projectView,
  wire.device,
  wire.agentReport,
  wire.check,
  wire.content,
  wire.decision,
  wire.usage,
  wire.failure,
  wire.settings,
]

const CLAWDE_SHAPES = [clawde.session, clawde.message, clawde.toolCall, clawde.repoStatus, clawde.provider]

function shapesText(shapes: readonly z.ZodType[] = SHAPES): string {
  const texts = shapes.map((shape) => {
    const all = variants(jsonOf(shape, 'output'))
    const only = all.length === 1 ? all[0] : undefined
    const body = only
      ? `{\n${fields(only)
          .map((field) => `  ${field}\n`)
          .join('')}}`
      : all.map((variant) => `\n  | ${typeText(variant)}`).join('')
    return `type ${NAMED.get(shape)} = ${body}`
  })
  return `\`\`\`ts\n${texts.join('\n\n')}\n\`\`\``
}

function errorsText(): string {
  const rows = Object.entries(ERROR_CODES).map(([name, code]) => {
    const { meaning, remedy, data = '' }: ErrorEntry = ERRORS[name as ErrorCode]
    return `| \`${name}\` | ${code} | ${meaning} | ${remedy} | ${data} |`
  })
  return [
    '| `data.code` | Code | Meaning | What to do | More in `data` |',
    '|---|---|---|---|---|',
    ...rows,
  ].join('\n')
}

function clawdeMethodsText(): string {
  return CLAWDE_METHODS.map((method) => {
    const { name, also, summary, params, result, aliases = {} } = method
    const title = [name, ...(also ?? [])].join(', ')
    const others = Object.entries(aliases).map(
      ([param, names]) => `${names.map((one) => `\`${one}\``).join(', ')} for \`${param}\``,
    )
    const known = others.length === 0 ? '' : ` Also known: ${others.join('; ')}.`
    return `### ${title}\n\n${summary}${known}\n\n${paramsText(params)}\n\nAnswers \`${resultText(result)}\`\n\n${terms(method)}`
  }).join('\n\n')
}

function pushesText(): string {
  const rows = Object.entries(PUSHES).map(([name, text]) => `| \`${name}\` | ${text} |`)
  return ['| Push | |', '|---|---|', ...rows].join('\n')
}

function codesText(): string {
  const rows = Object.entries(CODES).map(([name, code]) => `| ${code} | \`${name}\` |`)
  return ['| Code | |', '|---|---|', ...rows].join('\n')
}

function commandsText(): string {
  const tables = GROUPS.flatMap((group) => {
    const rows = COMMANDS.filter((spec) => groupOf(spec) === group).map((spec) => {
      const shown = (spec.options ?? []).filter(([, , kind]) => kind !== 'old')
      const options = shown.map(([flags, description]) => `\`${flags}\` ${description}`).join('<br>')
      const command = `${spec.name} ${spec.args}`.trim()
      return `| \`${command}\` | ${spec.summary}. ${spec.use} | ${options} |`
    })
    return ['', `### ${group}`, '', '| Command | What it does | Options |', '|---|---|---|', ...rows]
  })
  const common = COMMON.map(([flags, description]) => `\`${flags}\` ${description}`).join('; ')
  return [`Every command has these options: ${common}.`, ...tables].join('\n')
}

function settingsText(): string {
  const rows = SETTINGS.map(({ path, env, schema, initial, description }) => {
    return `| \`${path.join('.')}\` | \`${env}\` | ${allowed(schema)} | ${JSON.stringify(initial)} | ${description} |`
  })
  return ['| Setting | Variable | Allowed | If not set | |', '|---|---|---|---|---|', ...rows].join('\n')
}

function capabilitiesText(): string {
  const names = Object.keys(DRIVERS[0]!.capabilities) as (keyof Capabilities)[]
  const rows = names.map((name) => {
    const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    return `| ${words} | ${ABILITIES[name]} | ${DRIVERS.map(({ capabilities }) => (capabilities[name] ? 'yes' : 'no')).join(' | ')} |`
  })
  const head = `| | an agent that has it can | ${DRIVERS.map(({ name }) => `\`${name}\``).join(' | ')} |`
  return [head, `|---|---${'|---'.repeat(DRIVERS.length)}|`, ...rows].join('\n')
}

function unaskedText(): string {
  const rows = TOOL_CLASSES.map((name) => {
    const cells = DRIVERS.map(({ unasked }) => unasked[name]?.what ?? 'asks')
    return `| \`${name}\` | ${cells.join(' | ')} |`
  })
  const head = `| | ${DRIVERS.map(({ name }) => `\`${name}\``).join(' | ')} |`
  return [head, `|---${'|---'.repeat(DRIVERS.length)}|`, ...rows].join('\n')
}

const PARTS: Record<string, Record<string, () => string>> = {
  'docs/native.md': { methods: methodsText, shapes: () => shapesText(), errors: errorsText },
  'docs/clawde.md': {
    methods: clawdeMethodsText,
    shapes: () => shapesText(CLAWDE_SHAPES),
    pushes: pushesText,
    errors: codesText,
  },
  'docs/cli.md': { commands: commandsText, settings: settingsText },
  'docs/agents.md': { capabilities: capabilitiesText },
  'docs/rules.md': { unasked: unaskedText },
}

interface Document {
  path: string
  current: string
  wanted: string
}

/** What the native client must know of methods without loading them. */
function repeatsSource(): Document {
  const path = join(import.meta.dirname, '../src/dialects/native/repeats.ts')
  const names = (repeats: readonly Repeat[]): string =>
    METHODS.filter(({ repeat }) => repeats.includes(repeat))
      .map(({ name }) => `\n  '${name}',`)
      .join('')
  const wanted = `/* Made by \`npm run docs\` from the descriptors of the methods. */

/** Calls that may be made again when their answer was lost. */
export const REPEATABLE: ReadonlySet<string> = new Set([${names(['read', 'idempotent'])}\n])

/** Calls that may be if they have a \`key\` or an \`id\` of the caller's own. */
export const KEYED: ReadonlySet<string> = new Set([${names(['keyed'])}\n])
`
  return { path, current: existsSync(path) ? readFileSync(path, 'utf8') : '', wanted }
}

/** Everything that is generated, as it is and as it should be. */
export function documents(): Document[] {
  return [repeatsSource(), ...pages()]
}

function pages(): Document[] {
  return Object.entries(PARTS).map(([name, parts]) => {
    const path = join(import.meta.dirname, `../${name}`)
    const current = readFileSync(path, 'utf8')
    let wanted = current
    for (const [part, text] of Object.entries(parts)) {
      const [open, close] = [`<!-- ${part} -->`, `<!-- /${part} -->`]
      const [start, end] = [wanted.indexOf(open), wanted.indexOf(close)]
      if (start < 0 || end < 0) throw new Error(`${name} has no place for ${part}`)
      wanted = `${wanted.slice(0, start + open.length)}\n${text()}\n${wanted.slice(end)}`
    }
    return { path, current, wanted }
  })
}

if (import.meta.main) {
  for (const { path, current, wanted } of documents()) if (current !== wanted) writeFileSync(path, wanted)
}
