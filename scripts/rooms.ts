/**
 * Checks the plan of the house: which room may import which, that no file grows into a second one, and that tests wait
 * in one way.
 * Run by `npm run lint`; docs/architecture.md says why.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const MAX_LINES = 400

/** For each room of src/ the rooms that it may import from, beside itself. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  core: [],
  store: ['core'],
  agents: ['core'],
  workspace: ['core'],
  transports: [],
  access: ['core', 'transports'],
  relay: ['core', 'transports', 'access'],
  dialects: ['core', 'transports', 'access', 'relay'],
  config: ['dialects'],
  door: ['core', 'transports', 'access'],
  system: ['core'],
  signin: ['core'],
  doctor: ['agents', 'config', 'store'],
  cli: ['agents', 'config', 'core', 'dialects', 'doctor', 'system', 'daemon.ts', 'transports', 'signin'],
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
  ],
  'main.ts': ['cli'],
}

/** Of the rooms with a folder for each of their kind: the file that lists them, and may import them all. */
const LISTS = ['dialects/list.ts', 'agents/drivers.ts']

/** Dialects without a listener of their own: that of `dialects/relay` serves both. */
const SERVED_BY_RELAY = ['anthropic', 'openai']

const problems: string[] = []

for (const file of sources('src')) {
  const room = roomOf(file)
  for (const target of importsOf(file)) {
    const other = roomOf(target)
    const allowed = MAY_IMPORT[room]
    if (!allowed) problems.push(`${file}: the room ${room} is not in the plan (scripts/rooms.ts)`)
    else if (room !== other && !allowed.includes(other))
      problems.push(`${file}: ${room} may not import ${other} (${target})`)
    else if (room === other && isForeignFolder(file, target)) {
      problems.push(`${file}: ${room} never import each other (${target})`)
    }
  }
}

for (const file of ['src', 'test', 'bench', 'scripts', 'web'].flatMap(sources)) {
  const lines = readFileSync(join(ROOT, file), 'utf8').split('\n').length
  if (lines > MAX_LINES) problems.push(`${file}: ${lines} lines; above ${MAX_LINES} it is two files`)
}

for (const file of sources('test')) {
  if (file === 'test/support/wait.ts') continue
  for (const line of pollingLoops(readFileSync(join(ROOT, file), 'utf8')))
    problems.push(`${file}:${line}: a loop that waits; use until() of test/support/wait.ts`)
}

if (problems.length > 0) {
  console.error(problems.join('\n'))
  process.exit(1)
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

function importsOf(file: string): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const found = text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)
  return [...found].map(([, path]) => relative(ROOT, normalize(join(ROOT, dirname(file), path!))))
}
