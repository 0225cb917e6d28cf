/**
 * Builds the dashboard: one page, hashed files, each with its .br and .gz beside it, and a manifest.json that says what is
 * where. `npm run build` puts it beside the bundle; a daemon that runs from a checkout runs this when somebody wants the
 * dashboard and its sources have changed.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { rolldown, type OutputChunk, type Plugin } from 'rolldown'
import { ICONS } from '../web/icons.ts'
import { bundledStyle } from './web/css.ts'
import { markPng } from './web/png.ts'
import { ICON_SOURCE, spriteOf } from './web/sprite.ts'

const ROOT = join(import.meta.dirname, '..')
const WEB = join(ROOT, 'web')

/** The first load, compressed: scripts and styles. */
const AIM_KB = 120
const LIMIT_KB = 150

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webmanifest': 'application/manifest+json',
}

interface BuiltFile {
  type: string
  etag: string
  /** The name changes with the contents. */
  immutable: boolean
  encodings: string[]
}

/** What the front door reads: src/door/web-files.ts. */
interface Manifest {
  build: string
  /** By path; that of the page is `/`. */
  files: Record<string, BuiltFile>
}

interface Output {
  /** Puts a file at a path. */
  add(path: string, content: string | Buffer): void
  /** Puts a file below /assets, and returns its path. */
  addHashed(name: string, content: string): string
  paths(): string[]
  hashOfAll(): string
}

/** How much the first load is, in compressed bytes. */
interface Budget {
  scripts: number
  styles: number
}

export interface WebBuild extends Budget {
  /** Every file that something was taken from. */
  modules: string[]
}

/** Builds into a directory that appears whole or not at all. */
export async function buildWeb(directory: string): Promise<WebBuild> {
  const draft = `${directory}.${process.pid}`
  rmSync(draft, { recursive: true, force: true })
  const files = new Map<string, BuiltFile>()
  const output = outputInto(draft, files)
  const style = output.addHashed('main.css', bundledStyle(join(WEB, 'style/main.css')))
  const modules = new Set([ICON_SOURCE])
  const { entry, preloads, scripts } = await buildScripts(output, modules)
  output.add('/', pageOf('index.html', { style, entry, preloads }))
  const offline = output.addHashed('offline.html', pageOf('offline.html', { style }))
  addIcons(output)
  const build = output.hashOfAll()
  const precache = output.paths().filter((path) => files.get(path)!.immutable)
  output.add('/sw.js', await serviceWorker(build, precache, offline, modules))
  const manifest: Manifest = { build, files: Object.fromEntries(files) }
  writeFileSync(join(draft, 'manifest.json'), JSON.stringify(manifest, null, 1))
  replace(draft, directory)
  const styles = gzipSync(readFileSync(fileAt(directory, style))).length
  return { scripts, styles, modules: [...modules] }
}

/** Somebody else may have built the same meanwhile, and be reading it. */
function replace(draft: string, directory: string): void {
  mkdirSync(dirname(directory), { recursive: true })
  if (manifestIn(directory) === manifestIn(draft)) return rmSync(draft, { recursive: true })
  rmSync(directory, { recursive: true, force: true })
  renameSync(draft, directory)
}

function manifestIn(directory: string): string | null {
  const path = join(directory, 'manifest.json')
  return existsSync(path) ? readFileSync(path, 'utf8') : null
}

function outputInto(directory: string, files: Map<string, BuiltFile>): Output {
  function add(path: string, content: string | Buffer): void {
    const file = fileAt(directory, path)
    const bytes = Buffer.from(content)
    const type = TYPES[extname(file)]!
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, bytes)
    const encodings = type.startsWith('image/png') ? [] : ['br', 'gzip']
    if (encodings.length > 0) compress(file, bytes)
    files.set(path, { type, etag: hashOf(bytes), immutable: path.startsWith('/assets/'), encodings })
  }
  return {
    add,
    addHashed(name, content) {
      const path = `/assets/${basename(name, extname(name))}.${hashOf(content)}${extname(name)}`
      add(path, content)
      return path
    },
    paths: () => [...files.keys()],
    hashOfAll: () => hashOf(JSON.stringify([...files].map(([path, { etag }]) => [path, etag]))),
  }
}

function compress(file: string, bytes: Buffer): void {
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY }
  writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params }))
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
}

/** The page has the path `/` and a name of its own. */
function fileAt(directory: string, path: string): string {
  return join(directory, path === '/' ? 'index.html' : path)
}

function hashOf(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 12)
}

interface Scripts {
  entry: string
  /** What it needs at once. */
  preloads: string[]
  /** Of both, compressed bytes. */
  scripts: number
}

async function buildScripts(output: Output, modules: Set<string>): Promise<Scripts> {
  const lazy = join(WEB, 'style/lazy')
  const styles = Object.fromEntries(
    filesIn(lazy, '.css').map((name) => [
      basename(name, '.css'),
      output.addHashed(name, bundledStyle(join(lazy, name))),
    ]),
  )
  const workers: Record<string, string> = {}
  for (const name of filesIn(join(WEB, 'worker'), '.ts')) {
    const code = await singleScript(join(WEB, 'worker', name), [], modules)
    workers[basename(name, '.ts')] = output.addHashed(`${basename(name, '.ts')}.js`, code)
  }
  const sprite = output.addHashed('icons.svg', spriteOf(ICONS))
  const values = {
    BUILD: hashOf(JSON.stringify([styles, workers, sprite])),
    SPRITE: sprite,
    STYLES: styles,
    WORKERS: workers,
  }
  const chunks = await chunksOf({ main: join(WEB, 'main.tsx') }, [virtual('corral:assets', values)], modules)
  for (const { fileName, code } of chunks) output.add(`/${fileName}`, code)
  return firstLoad(chunks)
}

/** The entry and everything that it imports statically. */
function firstLoad(chunks: readonly OutputChunk[]): Scripts {
  const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk]))
  const entry = chunks.find((chunk) => chunk.isEntry)!
  const wanted = new Set([entry.fileName])
  for (const name of wanted) for (const needed of byName.get(name)!.imports) wanted.add(needed)
  const [, ...preloads] = [...wanted].map((name) => `/${name}`)
  const scripts = [...wanted].map((name) => gzipSync(byName.get(name)!.code, { level: 9 }).length)
  return { entry: `/${entry.fileName}`, preloads, scripts: scripts.reduce((sum, size) => sum + size, 0) }
}

/** Notes in `modules` what the chunks were made of. */
async function chunksOf(
  input: Record<string, string>,
  plugins: Plugin[],
  modules: Set<string>,
): Promise<OutputChunk[]> {
  const bundle = await rolldown({
    cwd: ROOT,
    input,
    platform: 'browser',
    plugins: [browserOnly(), ...plugins],
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
    // That a build is slow, as on a busy machine, is nothing that is wrong with it.
    checks: { bundlerTimings: false },
    onLog(level, log) {
      if (level === 'warn') throw new Error(log.message)
    },
  })
  const { output } = await bundle.generate({
    format: 'esm',
    minify: true,
    entryFileNames: 'assets/[name].[hash].js',
    chunkFileNames: 'assets/[name].[hash].js',
  })
  await bundle.close()
  const chunks = output.filter((one) => one.type === 'chunk')
  for (const { moduleIds } of chunks) for (const id of moduleIds) modules.add(id)
  return chunks
}

/** A script that runs alone: a worker. */
async function singleScript(file: string, plugins: Plugin[], modules: Set<string>): Promise<string> {
  const [chunk, ...others] = await chunksOf({ worker: file }, plugins, modules)
  if (others.length > 0) throw new Error(`${file} must be one file`)
  return chunk!.code
}

function serviceWorker(
  build: string,
  files: string[],
  offline: string,
  modules: Set<string>,
): Promise<string> {
  const values = { BUILD: build, FILES: files, OFFLINE: offline }
  return singleScript(join(WEB, 'sw.ts'), [virtual('corral:precache', values)], modules)
}

/** A module that the build writes. */
function virtual(name: string, values: Record<string, unknown>): Plugin {
  const lines = Object.entries(values).map(([key, value]) => `export const ${key} = ${JSON.stringify(value)}`)
  return {
    name,
    resolveId: (id) => (id === name ? `\0${name}` : null),
    load: (id) => (id === `\0${name}` ? lines.join('\n') : null),
  }
}

/** What needs Node, or zod, has no place in a page. */
export function browserOnly(): Plugin {
  return {
    name: 'browser-only',
    resolveId(id, importer) {
      if (id.startsWith('node:') || id === 'zod') throw new Error(`${importer} imports ${id}`)
      return null
    },
  }
}

function addIcons(output: Output): void {
  output.add('/icons/mark.svg', readFileSync(join(WEB, 'icons/mark.svg')))
  for (const size of [180, 192, 512]) output.add(`/icons/mark-${size}.png`, markPng(size))
  output.add('/manifest.webmanifest', readFileSync(join(WEB, 'manifest.webmanifest')))
}

/** An HTML file of the sources, with the names that the build gave to what it loads. */
function pageOf(name: string, links: { style: string; entry?: string; preloads?: string[] }): string {
  const { style, entry, preloads = [] } = links
  const ahead = preloads.map((path) => `<link rel="modulepreload" href="${path}">`).join('')
  return readFileSync(join(WEB, name), 'utf8')
    .replace('href="style/main.css"', `href="${style}"`)
    .replace('src="main.tsx"', `src="${entry}"`)
    .replace('</head>', `${ahead}</head>`)
    .replace(/\n\s*/g, '\n')
}

function filesIn(directory: string, extension: string): string[] {
  try {
    return readdirSync(directory)
      .filter((name) => name.endsWith(extension))
      .toSorted()
  } catch {
    return []
  }
}

/** For people: how much the first load is. Throws when it is too much. */
export function budgetLine({ scripts, styles }: Budget): string {
  const kb = (bytes: number): string => (bytes / 1000).toFixed(1)
  const total = scripts + styles
  const line = `dashboard: first load ${kb(total)} kB compressed (scripts ${kb(scripts)}, styles ${kb(styles)}; aim ${AIM_KB}, limit ${LIMIT_KB})`
  if (total > LIMIT_KB * 1000) throw new Error(line)
  return line
}

if (import.meta.main) {
  const budget = await buildWeb(resolve(process.argv[2] ?? join(ROOT, 'dist/web')))
  console.log(budgetLine(budget))
}
