/**
 * Checks the plan of the house: which room may import which, that no file grows into a second one, and that tests wait
 * in one way.
 * Run by `npm run lint`; docs/architecture.md says why.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const MAX_LINES = 400
/** Nobody reads a generated file from top to bottom. */
const GENERATED = '/* Made by `npm run docs`'

/** For each room of src/ the rooms that it may import from, beside itself. */
export const MAY_IMPORT: Record<string, readonly string[]> = {
  core: [],
  store: ['core'],
  agents: ['core'],
  workspace: ['core'],
  transports: [],
  client: ['transports', 'config'],
  access: ['core', 'transports'],
  relay: ['core', 'transports', 'access'],
  dialects: ['core', 'transports', 'access', 'relay'],
  config: ['dialects'],
  door: ['core', 'transports', 'access'],
  system: ['core'],
  fleet: ['core', 'client', 'access'],
  signin: ['core'],
  doctor: ['agents', 'config', 'store'],
  backup: ['core', 'store', 'system'],
  cli: [
    'agents',
    'backup',
    'client',
    'config',
    'core',
    'dialects',
    'doctor',
    'system',
    'daemon.ts',
    'transports',
    'signin',
  ],
  'listeners.ts': ['core', 'dialects', 'access', 'config', 'door', 'system', 'workspace'],
  'daemon.ts': [
    'listeners.ts',
    'core',
    'store',
    'agents',
    'dialects',
    'config',
    'system',
    'doctor',
    'workspace',
    'signin',
    'fleet',
  ],
  'main.ts': ['cli'],
}

/** Of the rooms with a folder for each of their kind: the file that lists them, and may import them all. */
const LISTS = ['dialects/list.ts', 'agents/drivers.ts']

/** Dialects without a listener of their own: that of `dialects/relay` serves both. */
const SERVED_BY_RELAY = ['anthropic', 'openai']

/**
 * What the dashboard may import of src/: the client and the domain. Types may come from anywhere in the native protocol. That
 * nothing of Node gets into the bundle is checked when it is built.
 */
const WEB_MAY_IMPORT = [/^src\/core\//, /^src\/client\//]
const WEB_MAY_IMPORT_TYPES = [...WEB_MAY_IMPORT, /^src\/dialects\/native\//]

if (import.meta.main) {
  const problems = [...wrongImports(), ...wrongWebImports(), ...longFiles(), ...waitingLoops()]
  if (problems.length > 0) {
    console.error(problems.join('\n'))
    process.exitCode = 1
  }
}

function wrongImports(): string[] {
  return sources('src').flatMap((file) => {
    const room = roomOf(file)
    const allowed = MAY_IMPORT[room]
    if (!allowed) return [`${file}: the room ${room} is not in the plan (scripts/rooms.ts)`]
    return importsOf(file).flatMap((target) => {
      const other = roomOf(target)
      if (room !== other && !allowed.includes(other))
        return [`${file}: ${room} may not import ${other} (${target})`]
      const isForeign = room === other && isForeignFolder(file, target)
      return isForeign ? [`${file}: ${room} never import each other (${target})`] : []
    })
  })
}

function wrongWebImports(): string[] {
  return sources('web').flatMap((file) =>
    importsOf(file).flatMap((target) => {
      const isType = importsOf(file, 'type').includes(target) && !importsOf(file, 'value').includes(target)
      const allowed = isType ? WEB_MAY_IMPORT_TYPES : WEB_MAY_IMPORT
      const isFine = target.startsWith('web/') || allowed.some((pattern) => pattern.test(target))
      return isFine ? [] : [`${file}: web may not import ${target}`]
    }),
  )
}

function longFiles(): string[] {
  return ['src', 'test', 'bench', 'scripts', 'web', 'examples'].flatMap(sources).flatMap((file) => {
    const text = readFileSync(join(ROOT, file), 'utf8')
    if (text.startsWith(GENERATED)) return []
    const lines = text.split('\n').length
    return lines > MAX_LINES ? [`${file}: ${lines} lines; above ${MAX_LINES} it is two files`] : []
  })
}

function waitingLoops(): string[] {
  const files = sources('test').filter((file) => file !== 'test/support/wait.ts')
  return files.flatMap((file) =>
    pollingLoops(readFileSync(join(ROOT, file), 'utf8')).map(
      (line) => `${file}:${line}: a loop that waits; use until() of test/support/wait.ts`,
    ),
  )
}

/** Dialects do not know each other, nor do agents: they share what lies beside their folders. */
function isForeignFolder(file: string, target: string): boolean {
  const [, room, folder] = file.split('/')
  const [, , other] = target.split('/')
  if (room !== 'dialects' && room !== 'agents') return false
  if (folder === other || other!.endsWith('.ts') || LISTS.includes(`${room}/${folder}`)) return false
  if (folder === 'relay' && SERVED_BY_RELAY.includes(other!)) return false
  return room === 'dialects' || (folder !== 'host' && other !== 'host')
}

/** Lines where a loop begins that sleeps and looks again. One that counts, or goes through a list, only sets a pace. */
function pollingLoops(text: string): number[] {
  const lines = text.split('\n')
  return lines.flatMap((line, index) => {
    const [, indent] = /^(\s*)(?:while|for) \(/.exec(line) ?? []
    if (indent === undefined || /\+\+\)| of /.test(line)) return []
    const length = lines.slice(index + 1).findIndex((next) => next !== '' && !next.startsWith(`${indent} `))
    const loop = lines.slice(index, index + 1 + length)
    return loop.some((one) => /await .*\bsetTimeout\b/.test(one)) ? [index + 1] : []
  })
}

function roomOf(file: string): string {
  return file.split('/')[1]!
}

function sources(folder: string): string[] {
  try {
    return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name) && !name.includes('node_modules'))
      .map((name) => join(folder, name))
  } catch {
    return []
  }
}

/** `kind`: only what is imported for its types, or only the rest. */
function importsOf(file: string, kind?: 'type' | 'value'): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const types = /^(?:import|export) type [^']*from\s*'(\.[^']+)'/gm
  const kept = kind === 'value' ? text.replace(types, '') : text
  const found = kept.matchAll(kind === 'type' ? types : /(?:from|import)\s*\(?\s*'(\.[^']+)'/g)
  return [...found].map(([, path]) => relative(ROOT, normalize(join(ROOT, dirname(file), path!))))
}
