import { DRIVERS } from '../../src/agents/drivers.ts'
import { COMMANDS, groupOf } from '../../src/cli/program.ts'
import { COMMON, GROUPS } from '../../src/cli/program/spec.ts'
import { TOOL_CLASSES } from '../../src/core/about.ts'
import { ABILITIES } from '../../src/core/capability.ts'
import type { Capabilities } from '../../src/core/capabilities.ts'
import { allowed, SETTINGS } from '../../src/config/schema.ts'
import { CODES } from '../../src/dialects/clawde/errors.ts'
import { PUSHES } from '../../src/dialects/clawde/pushes.ts'
import { CONTEXT_NAMES, helpOf } from '../../web/state/keys.ts'
import { MAY_IMPORT } from '../rooms.ts'

export function pushesText(): string {
  const rows = Object.entries(PUSHES).map(([name, text]) => `| \`${name}\` | ${text} |`)
  return ['| Push | |', '|---|---|', ...rows].join('\n')
}

export function codesText(): string {
  const rows = Object.entries(CODES).map(([name, code]) => `| ${code} | \`${name}\` |`)
  return ['| Code | |', '|---|---|', ...rows].join('\n')
}

/** The keys of the dashboard, as its help shows them. */
export function keysText(): string {
  const rows = helpOf().flatMap(({ context, lines }) =>
    lines.map(({ keys, what }) => {
      const names = keys.map((key) =>
        key
          .split(' ')
          .map((one) => `\`${one.replace('Mod', 'Ctrl')}\``)
          .join(' then '),
      )
      return `| ${CONTEXT_NAMES[context]} | ${names.join(' or ')} | ${what} |`
    }),
  )
  return ['| Where | Key | What it does |', '|---|---|---|', ...rows].join('\n')
}

export function commandsText(): string {
  const tables = GROUPS.flatMap((group) => {
    const rows = COMMANDS.filter((spec) => groupOf(spec) === group).map(commandRow)
    return ['', `### ${group}`, '', '| Command | What it does | Options |', '|---|---|---|', ...rows]
  })
  const common = COMMON.map(([flags, description]) => `\`${flags}\` ${description}`).join('; ')
  return [`Every command has these options: ${common}.`, ...tables].join('\n')
}

function commandRow({ name, args, summary, use, options = [] }: (typeof COMMANDS)[number]): string {
  const shown = options.filter(([, , kind]) => kind !== 'old')
  const texts = shown.map(([flags, description]) => `\`${flags}\` ${description}`)
  return `| \`${`${name} ${args}`.trim()}\` | ${summary}. ${use} | ${texts.join('<br>')} |`
}

/** The settings of one section. */
export function settingsText(section: string): string {
  const shown = SETTINGS.filter(({ path }) => path[0] === section)
  const rows = shown.map(({ path, env, schema, initial, description }) => {
    return `| \`${path.join('.')}\` | \`${env}\` | ${allowed(schema)} | ${JSON.stringify(initial)} | ${description} |`
  })
  return ['| Setting | Variable | Allowed | If not set | |', '|---|---|---|---|---|', ...rows].join('\n')
}

export function capabilitiesText(): string {
  const names = Object.keys(DRIVERS[0]!.capabilities) as (keyof Capabilities)[]
  const rows = names.map((name) => {
    const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    return `| ${words} | ${ABILITIES[name]} | ${DRIVERS.map(({ capabilities }) => (capabilities[name] ? 'yes' : 'no')).join(' | ')} |`
  })
  const head = `| | an agent that has it can | ${DRIVERS.map(({ name }) => `\`${name}\``).join(' | ')} |`
  return [head, `|---|---${'|---'.repeat(DRIVERS.length)}|`, ...rows].join('\n')
}

export function unaskedText(): string {
  const rows = TOOL_CLASSES.map((name) => {
    const cells = DRIVERS.map(({ unasked }) => unasked[name]?.what ?? 'asks')
    return `| \`${name}\` | ${cells.join(' | ')} |`
  })
  const head = `| | ${DRIVERS.map(({ name }) => `\`${name}\``).join(' | ')} |`
  return [head, `|---${'|---'.repeat(DRIVERS.length)}|`, ...rows].join('\n')
}

/** What one agent can do: the part of the table that is on its own page. */
export function capabilitiesOf(agent: string): string {
  const { capabilities } = driverOf(agent)
  const names = Object.keys(capabilities) as (keyof Capabilities)[]
  const rows = names.map((name) => `| ${ABILITIES[name]} | ${capabilities[name] ? 'yes' : '**no**'} |`)
  return ['| It can | |', '|---|---|', ...rows].join('\n')
}

export function unaskedOf(agent: string): string {
  const { unasked } = driverOf(agent)
  const rows = TOOL_CLASSES.map((name) => `| \`${name}\` | ${unasked[name]?.what ?? '(it asks)'} |`)
  return ['| Class | Done without a question |', '|---|---|', ...rows].join('\n')
}

function driverOf(agent: string): (typeof DRIVERS)[number] {
  const found = DRIVERS.find(({ name }) => name === agent)
  if (!found) throw new Error(`no driver is called ${agent}`)
  return found
}

/** Rooms that may import the same are in one row; those that may import least come first. */
export function importsText(): string {
  const groups = Map.groupBy(Object.entries(MAY_IMPORT), ([, others]) => [...others].sort().join())
  const sorted = [...groups.values()].sort((one, other) => one[0]![1].length - other[0]![1].length)
  const code = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ')
  const rows = sorted.map((group) => {
    const others = group[0]![1]
    return `| ${code(group.map(([room]) => room))} | ${others.length === 0 ? 'nothing' : code(others)} |`
  })
  return ['| Room | may import |', '|---|---|', ...rows].join('\n')
}
