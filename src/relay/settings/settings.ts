import { readFileSync, renameSync, statSync } from 'node:fs'
import type { z } from 'zod'
import { invalid, RelayFailure } from '../failure.ts'
import { replaceFile, tighten } from '../private-file.ts'
import { redacted } from '../redact.ts'
import { type RelaySettings, settingsSchema } from './schema.ts'

export interface SettingsStore {
  /** What holds now, the environment included. */
  current(): RelaySettings
  /** The same for eyes: keys are redacted. */
  view(): RelaySettings
  /** Changes what is named, and only that. Throws a `RelayFailure` that names the field; nothing is changed then. */
  patch(body: unknown): RelaySettings
  /** Everything that must never be shown. */
  secrets(): string[]
}

export interface SettingsOptions {
  path: string
  env: NodeJS.ProcessEnv
  /** The file was not as it should be; what was done about it. */
  onProblem?(problem: string): void
}

/** The relay's own settings, in a file that only its owner reads. */
export function openSettings({ path, env, onProblem }: SettingsOptions): SettingsStore {
  let stored = read(path, onProblem)
  const agent = env['CORRAL_RELAY_AGENT']

  function current(): RelaySettings {
    return agent ? { ...stored, agent } : stored
  }

  return {
    current,
    view: () => viewOf(current()),
    patch(body) {
      const next = patched(stored, body)
      try {
        replaceFile(path, `${JSON.stringify(next, null, 2)}\n`)
      } catch (cause) {
        throw new RelayFailure(500, 'api_error', 'The settings cannot be written', { cause })
      }
      stored = next
      return current()
    },
    secrets: () => secretsOf(stored),
  }
}

function read(path: string, onProblem: SettingsOptions['onProblem']): RelaySettings {
  try {
    if (tighten(path))
      onProblem?.(`${path} was open to others: it is its owner's only now, but its keys may be known`)
    const { success, data, error } = settingsSchema.safeParse(JSON.parse(readFileSync(path, 'utf8')))
    if (success) return data
    putAside(path, fieldOf(error.issues[0]!), onProblem)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    // JSON's message is not passed on: it may quote a key.
    if (code !== 'ENOENT')
      putAside(path, error instanceof SyntaxError ? 'it is not JSON' : message, onProblem)
  }
  return settingsSchema.parse({})
}

/** What a user has written is never overwritten, however broken it is. */
function putAside(path: string, reason: string, onProblem: SettingsOptions['onProblem']): void {
  const aside = `${path}.broken-${Date.now()}`
  try {
    renameSync(path, aside)
    onProblem?.(`${path} cannot be used (${reason}): it is now ${aside}, and the settings are the defaults`)
  } catch (error) {
    onProblem?.(`${path} cannot be used (${reason}), nor moved: ${(error as Error).message}`)
  }
}

function patched(stored: RelaySettings, body: unknown): RelaySettings {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw invalid('', 'the settings must be an object')
  }
  // What is not named must not become its default.
  const { success, data, error } = settingsSchema.safeParse({ ...stored, ...restored(stored, body) })
  if (!success) throw refusal(error.issues[0]!)
  const { workingDir } = data
  if (workingDir !== null && !isDirectory(workingDir))
    throw invalid('workingDir', 'workingDir: no such directory')
  return data
}

/** A client may send back what it was shown: a key that is redacted stays what it is. */
function restored(stored: RelaySettings, body: object): Record<string, unknown> {
  const given = { ...body } as Record<string, unknown>
  if (stored.licenseKey !== null && given['licenseKey'] === redacted(stored.licenseKey))
    delete given['licenseKey']
  const { upstreams } = given
  return Array.isArray(upstreams)
    ? { ...given, upstreams: upstreams.map((item) => withKey(stored, item)) }
    : given
}

/** A key is for the server that it was given for: whoever only sees its last four cannot send it anywhere else. */
function withKey({ upstreams }: RelaySettings, item: unknown): unknown {
  if (typeof item !== 'object' || item === null) return item
  const { name, apiKey, baseUrl } = item as { name?: unknown; apiKey?: unknown; baseUrl?: unknown }
  const known = upstreams.find((upstream) => upstream.name === name)
  if (known?.apiKey === undefined || apiKey !== redacted(known.apiKey)) return item
  const { origin } = new URL(known.baseUrl)
  return URL.parse(String(baseUrl))?.origin === origin ? { ...item, apiKey: known.apiKey } : item
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

function refusal(issue: z.core.$ZodIssue): RelayFailure {
  if (issue.code === 'unrecognized_keys' && issue.path.length === 0) {
    return invalid(issue.keys[0]!, `unknown field \`${issue.keys[0]}\``)
  }
  return invalid(issue.path.join('.'), fieldOf(issue))
}

/** zod's messages say what is expected, and never what was given. */
function fieldOf({ path, message }: z.core.$ZodIssue): string {
  return path.length === 0 ? message : `${path.join('.')}: ${message}`
}

function viewOf(settings: RelaySettings): RelaySettings {
  const { licenseKey, upstreams } = settings
  return {
    ...settings,
    licenseKey: licenseKey === null ? null : redacted(licenseKey),
    upstreams: upstreams.map((upstream) =>
      upstream.apiKey === undefined ? upstream : { ...upstream, apiKey: redacted(upstream.apiKey) },
    ),
  }
}

function secretsOf({ licenseKey, upstreams }: RelaySettings): string[] {
  return [licenseKey, ...upstreams.map(({ apiKey }) => apiKey)].filter((key) => typeof key === 'string')
}
