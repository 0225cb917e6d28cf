import { existsSync, readFileSync } from 'node:fs'
import {
  AGENT_NAME,
  BUILT_IN,
  configSchema,
  customAgentSchema,
  SETTINGS,
  allowed,
  type CustomAgent,
  type Setting,
  type Settings,
} from './schema.ts'
import { homeOf, pathsOf, socketOf, type Paths, type PathOptions } from './paths.ts'

export type Config = DeepReadonly<Settings & { home: string; socket: string; paths: Paths }> & {
  /** ACP agents of the user's own, by name. */
  readonly customAgents: Record<string, CustomAgent>
}

type DeepReadonly<T> = { readonly [K in keyof T]: T[K] extends object ? DeepReadonly<T[K]> : T[K] }

/** A setting that cannot be used: where it came from, which one, and what it may be. */
export class ConfigError extends Error {
  readonly source: string
  readonly key: string

  constructor(source: string, key: string, problem: string) {
    super(`${source}: ${key ? `${key} ` : ''}${problem}`)
    this.name = 'ConfigError'
    this.source = source
    this.key = key
  }
}

export interface LoadOptions extends PathOptions {
  /** `home`, `socket`, and any setting by its path: `{ 'codecast.port': '0' }`. Undefined ones count as not given. */
  flags?: { home?: string | undefined; socket?: string | undefined } & Record<string, unknown>
}

type Tree = Record<string, Record<string, unknown>>

/** File, then environment, then flags: the later wins. Throws `ConfigError`. */
export async function loadConfig(options: LoadOptions): Promise<Config> {
  const home = homeOf(options)
  const paths = { ...pathsOf(home), socket: socketOf(options) }
  const { tree, customAgents } = await readFile(paths.config)
  for (const setting of SETTINGS) {
    const fromEnv = options.env[setting.env]
    if (fromEnv) place(tree, setting, fromText(setting, fromEnv, setting.env))
    const flag = options.flags?.[setting.path.join('.')]
    if (flag !== undefined) place(tree, setting, fromText(setting, String(flag), setting.flag))
  }
  const settings = configSchema.parse(tree)
  return deepFreeze({ ...settings, home, socket: paths.socket, paths, customAgents }) as Config
}

function place(tree: Tree, { path: [section, key] }: Setting, value: unknown): void {
  tree[section] = { ...tree[section], [key]: value }
}

interface FileContent {
  tree: Tree
  customAgents: Record<string, CustomAgent>
}

async function readFile(path: string): Promise<FileContent> {
  if (!existsSync(path)) return { tree: {}, customAgents: {} }
  const { parse } = await import('yaml')
  let content: unknown
  try {
    content = parse(readFileSync(path, 'utf8')) ?? {}
  } catch (error) {
    throw new ConfigError(
      path,
      '',
      `cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
  return checkTree(path, content)
}

/** The same tree if every key is known and every value allowed; what in `agents` has a command is an agent. */
function checkTree(source: string, content: unknown): FileContent {
  if (!isRecord(content))
    throw new ConfigError(source, '', 'must hold settings by section, as in `agents: {…}`')
  const sections = [...new Set(SETTINGS.map((setting) => setting.path[0]))]
  const tree: Tree = {}
  const customAgents: Record<string, CustomAgent> = {}
  for (const [section, group] of Object.entries(content)) {
    if (section === 'home' || section === 'socket') {
      throw new ConfigError(
        source,
        section,
        `is set by CORRAL_${section.toUpperCase()} or --${section}, not in the file`,
      )
    }
    if (!sections.includes(section)) {
      throw new ConfigError(source, section, `is not a section; there are ${sections.join(', ')}`)
    }
    if (group === null) continue
    if (!isRecord(group))
      throw new ConfigError(source, section, 'must hold settings, as in `agents: { maxWarm: 4 }`')
    const leaves: Record<string, unknown> = {}
    for (const [key, value] of Object.entries(group)) {
      if (section === 'agents' && isRecord(value)) customAgents[key] = checkAgent(source, key, value)
      else {
        checkLeaf(source, section, key, value)
        leaves[key] = value
      }
    }
    tree[section] = leaves
  }
  return { tree, customAgents }
}

function checkAgent(source: string, name: string, value: Record<string, unknown>): CustomAgent {
  const key = `agents.${name}`
  if (!AGENT_NAME.test(name))
    throw new ConfigError(source, key, 'is no name for an agent: small letters, digits and dashes')
  if (BUILT_IN.includes(name)) throw new ConfigError(source, key, 'is built in: give yours another name')
  const parsed = customAgentSchema.safeParse(value)
  if (parsed.success) return parsed.data
  const { path, message } = parsed.error.issues[0]!
  throw new ConfigError(source, [key, ...path].join('.'), message)
}

function checkLeaf(source: string, section: string, key: string, value: unknown): void {
  const known = SETTINGS.filter((setting) => setting.path[0] === section)
  const setting = known.find((candidate) => candidate.path[1] === key)
  const name = `${section}.${key}`
  if (!setting) {
    const keys = known.map((candidate) => candidate.path[1]).join(', ')
    throw new ConfigError(source, name, `is not a setting; ${section} has ${keys}`)
  }
  if (!setting.schema.safeParse(value).success) throw wrongValue(source, name, setting, value)
}

/** Texts stay texts where one is wanted, and become what they spell elsewhere. */
function fromText(setting: Setting, text: string, source: string): unknown {
  const candidates = [spelled(text), text]
  const found = candidates.find((candidate) => setting.schema.safeParse(candidate).success)
  if (found === undefined) throw wrongValue(source, '', setting, text)
  return found
}

function spelled(text: string): unknown {
  const trimmed = text.trim()
  if (trimmed === 'null') return null
  if (trimmed === 'true' || trimmed === 'false') return trimmed === 'true'
  return /^-?\d+(\.\d+)?$/.test(trimmed) ? Number(trimmed) : trimmed
}

function wrongValue(source: string, key: string, setting: Setting, value: unknown): ConfigError {
  return new ConfigError(source, key, `must be ${allowed(setting.schema)}, not ${JSON.stringify(value)}`)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function deepFreeze<T extends object>(value: T): T {
  for (const child of Object.values(value)) if (typeof child === 'object' && child !== null) deepFreeze(child)
  return Object.freeze(value)
}
