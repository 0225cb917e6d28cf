import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ERRORS, type ErrorCode } from '../src/core/error.ts'
import { METHODS as CLAWDE_METHODS } from '../src/dialects/clawde/methods.ts'
import * as clawde from '../src/dialects/clawde/wire.ts'
import * as codecastErrors from '../src/dialects/codecast/errors.ts'
import { METHODS as CODECAST_METHODS } from '../src/dialects/codecast/methods.ts'
import * as codecast from '../src/dialects/codecast/wire.ts'
import * as humanlayerErrors from '../src/dialects/humanlayer/errors.ts'
import type { RefusalCode } from '../src/dialects/humanlayer/method.ts'
import { METHODS as HUMANLAYER_METHODS } from '../src/dialects/humanlayer/methods.ts'
import * as humanlayer from '../src/dialects/humanlayer/shapes.ts'
import * as loafErrors from '../src/dialects/loaf/errors.ts'
import { METHODS as LOAF_METHODS } from '../src/dialects/loaf/methods.ts'
import { SHAPES as LOAF_SHAPES } from '../src/dialects/loaf/wire.ts'
import type { Repeat } from '../src/dialects/method.ts'
import { ERROR_CODES } from '../src/dialects/native/errors.ts'
import { methods, nativeSchema, SHAPES } from '../src/dialects/native/json-schema.ts'
import { METHODS } from '../src/dialects/native/methods.ts'
import { openRpc } from '../src/dialects/native/openrpc.ts'
import * as wire from '../src/dialects/native/wire.ts'
import { remediesSource, typesSource } from './docs/native-types.ts'
import { coreEntry, errorsOf, protocolParts, type Parts } from './docs/protocol.ts'
import { nameShapes } from './docs/schema.ts'
import { configurationText } from './docs/settings.ts'
import * as tables from './docs/tables.ts'

/**
 * Writes the generated parts of the pages in docs/: what stands between `<!-- name -->` and `<!-- /name -->`. Run it after changing a
 * schema, a method, a command, a setting, an error or the table of imports.
 * Where Chromium is, it takes the pictures of the dashboard anew as well; `--no-pictures` leaves them.
 */

nameShapes({ Event: wire.event, 'EventType[]': wire.eventTypes })

const native = protocolParts({
  methods,
  shapes: SHAPES,
  errors: Object.entries(ERROR_CODES).map(([name, code]) => ({ name, code, ...ERRORS[name as ErrorCode] })),
})

const PAGES: Record<string, Parts> = {
  'docs/native.md': native,
  'docs/clawde.md': {
    ...protocolParts({
      methods: CLAWDE_METHODS,
      shapes: {
        Session: clawde.session,
        Message: clawde.message,
        ToolCall: clawde.toolCall,
        RepoStatus: clawde.repoStatus,
        Provider: clawde.provider,
      },
    }),
    settings: () => tables.settingsText('clawde'),
    pushes: tables.pushesText,
    errors: tables.codesText,
  },
  'docs/humanlayer.md': {
    ...protocolParts({
      methods: HUMANLAYER_METHODS,
      stream: ', then events',
      shapes: {
        Session: humanlayer.session,
        Approval: humanlayer.approval,
        ConversationEvent: humanlayer.conversationEvent,
        Snapshot: humanlayer.snapshot,
      },
      errors: errorsOf(HUMANLAYER_METHODS, humanlayerErrors.ALWAYS, humanlayerErrors.codeOf, (name) =>
        name in humanlayerErrors.REFUSALS
          ? humanlayerErrors.REFUSALS[name as RefusalCode]
          : coreEntry(name as ErrorCode, ['field']),
      ),
    }),
    settings: () => tables.settingsText('humanlayer'),
  },
  'docs/codecast.md': {
    ...protocolParts({
      methods: CODECAST_METHODS,
      stream: ' with a stream of `StreamEvent`s, then `[DONE]`',
      shapes: {
        StreamEvent: codecast.event,
        Session: codecast.session,
        Queue: codecast.queue,
        MonitoredSession: codecast.monitored,
        Health: codecast.health,
      },
      errorName: 'Error',
      errors: errorsOf(CODECAST_METHODS, codecastErrors.ALWAYS, codecastErrors.codeOf, (name) =>
        coreEntry(name, []),
      ),
    }),
    settings: () => tables.settingsText('codecast'),
  },
  'docs/loaf.md': protocolParts({
    methods: LOAF_METHODS,
    shapes: LOAF_SHAPES,
    errorName: 'Name',
    errors: errorsOf(
      LOAF_METHODS,
      loafErrors.ALWAYS,
      (name) => loafErrors.CODES[name],
      (name) =>
        name in loafErrors.OWN_ERRORS
          ? loafErrors.OWN_ERRORS[name as keyof typeof loafErrors.OWN_ERRORS]
          : coreEntry(name as ErrorCode, []),
    ),
  }),
  'docs/relay.md': { settings: () => tables.settingsText('relay') },
  'docs/cli.md': { commands: tables.commandsText },
  'docs/configuration.md': { configuration: configurationText },
  'docs/agents.md': { capabilities: tables.capabilitiesText },
  ...Object.fromEntries(
    ['claude', 'codex', 'gemini', 'opencode'].map((agent) => [
      `docs/agents/${agent}.md`,
      { capabilities: () => tables.capabilitiesOf(agent), unasked: () => tables.unaskedOf(agent) },
    ]),
  ),
  'docs/agents/demo.md': { capabilities: () => tables.capabilitiesOf('demo') },
  'docs/rules.md': { unasked: tables.unaskedText },
  'docs/architecture.md': { imports: tables.importsText },
  'docs/dashboard.md': { keys: tables.keysText },
}

interface Document {
  path: string
  current: string
  wanted: string
}

/** What the native client must know of methods without loading them. */
function repeatsSource(): string {
  const names = (repeats: readonly Repeat[]): string =>
    METHODS.filter(({ repeat }) => repeats.includes(repeat))
      .map(({ name }) => `\n  '${name}',`)
      .join('')
  return `/* Made by \`npm run docs\` from the descriptors of the methods. */

/** Calls that may be made again when their answer was lost. */
export const REPEATABLE: ReadonlySet<string> = new Set([${names(['read', 'idempotent'])}\n])

/** Calls that may be if they have a \`key\` or an \`id\` of the caller's own. */
export const KEYED: ReadonlySet<string> = new Set([${names(['keyed'])}\n])

/** Calls that may be if they say which turn they are about. */
export const AIMED: ReadonlySet<string> = new Set([${names(['aimed']).replaceAll(/\n {2}|,$/g, '')}])
`
}

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')) as {
  version: string
}

/** Files that are generated as a whole. */
const FILES: Record<string, () => string> = {
  'src/client/repeats.ts': repeatsSource,
  'src/client/api.ts': typesSource,
  'src/client/remedies.ts': remediesSource,
  'docs/schema/native.schema.json': () => `${JSON.stringify(nativeSchema(), null, 1)}\n`,
  'docs/schema/openrpc.json': () => `${JSON.stringify(openRpc(version), null, 1)}\n`,
}

function files(): Document[] {
  return Object.entries(FILES).map(([name, text]) => {
    const path = join(import.meta.dirname, `../${name}`)
    return { path, current: existsSync(path) ? readFileSync(path, 'utf8') : '', wanted: text() }
  })
}

/** Everything that is generated, as it is and as it should be. */
export function documents(): Document[] {
  return [...files(), ...pages()]
}

function pages(): Document[] {
  return Object.entries(PAGES).map(([name, parts]) => {
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
  for (const { path, current, wanted } of documents()) {
    if (current === wanted) continue
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, wanted)
  }
  if (!process.argv.includes('--no-pictures')) await (await import('./docs/pictures.ts')).takePictures()
}
