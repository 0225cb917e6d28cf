import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** What the dashboard is made from, within a checkout. */
const SOURCES = [
  'web',
  'src/core',
  'src/dialects/native',
  'src/transports',
  'scripts/web',
  'scripts/web.ts',
  'package-lock.json',
]
const BUILD_MS = 120_000
/** Other daemons of the same checkout may be using these. */
const KEPT = 5

const run = promisify(execFile)

/** Builds the dashboard of a checkout. The bundler runs in a process of its own: this one neither waits nor grows. */
export function createCheckout(root: string) {
  const cache = join(root, '.cache/web')
  let building: Promise<string> | null = null

  async function build(): Promise<string> {
    const directory = join(cache, await hashOf(root))
    if (existsSync(join(directory, 'manifest.json'))) return directory
    await run(process.execPath, [join(root, 'scripts/web.ts'), directory], { cwd: root, timeout: BUILD_MS })
    await tidy(cache)
    return directory
  }

  return {
    /** The directory with a build of the sources as they are now. */
    built: (): Promise<string> => (building ??= build().finally(() => (building = null))),
  }
}

async function hashOf(root: string): Promise<string> {
  const hash = createHash('sha256')
  const lists = await Promise.all(SOURCES.map((source) => filesBelow(root, source)))
  const files = lists.flat().toSorted()
  const contents = await Promise.all(files.map((file) => readFile(join(root, file))))
  for (const [index, content] of contents.entries()) {
    hash.update(`${files[index]}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex').slice(0, 16)
}

async function filesBelow(root: string, source: string): Promise<string[]> {
  if (!(await stat(join(root, source))).isDirectory()) return [source]
  const entries = await readdir(join(root, source), { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length))
}

async function tidy(cache: string): Promise<void> {
  const names = await readdir(cache)
  const dated = await Promise.all(
    names.map(async (name) => ({
      name,
      at: (await stat(join(cache, name)).catch(() => null))?.mtimeMs ?? 0,
    })),
  )
  const old = dated.toSorted((a, b) => b.at - a.at).slice(KEPT)
  await Promise.all(old.map(({ name }) => rm(join(cache, name), { recursive: true, force: true })))
}
