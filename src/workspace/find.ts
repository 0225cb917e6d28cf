import { readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { CorralError } from '../core/error.ts'
import { bestMatches, type Match } from './fuzzy.ts'
import type { Place, Places } from './place.ts'

const MAX_LIST_BYTES = 16 * 1024 * 1024
const MAX_FILES = 100_000
/** Without git: nobody knows what is worth finding, so less is looked at. */
const MAX_WALKED = 20_000
const WALK_MS = 1000
/** Folders that other programs fill. */
const SKIPPED = new Set(['.git', 'node_modules', '.venv', '__pycache__', '.cache'])

/** While somebody types, each letter is a question about the same list. */
const KEPT_MS = 3000
const MAX_KEPT = 4

interface FileNames {
  readonly paths: readonly string[]
  readonly truncated: boolean
}

/** Finds files below a directory by a few letters of their paths. */
export class Finder {
  readonly #places: Places
  readonly #lists = new Map<string, Promise<FileNames>>()

  constructor(places: Places) {
    this.#places = places
  }

  async find(
    directory: string,
    query: string,
    limit: number,
  ): Promise<{ files: Match[]; truncated: boolean }> {
    const { paths, truncated } = await this.#namesIn(directory)
    const found = bestMatches(paths, query, limit)
    return { files: found.files, truncated: found.truncated || truncated }
  }

  #namesIn(directory: string): Promise<FileNames> {
    const known = this.#lists.get(directory)
    if (known) return known
    const list = this.#list(directory)
    const [oldest] = this.#lists.keys()
    if (oldest !== undefined && this.#lists.size >= MAX_KEPT) this.#lists.delete(oldest)
    this.#lists.set(directory, list)
    const forget = (): void => {
      if (this.#lists.get(directory) === list) this.#lists.delete(directory)
    }
    list.then(() => setTimeout(forget, KEPT_MS).unref(), forget)
    return list
  }

  async #list(directory: string): Promise<FileNames> {
    const root = await realpath(directory).catch((cause: unknown) => {
      throw new CorralError(
        'path_not_found',
        `The directory is gone: ${directory}`,
        { path: directory },
        cause,
      )
    })
    const place = await this.#places.at(root).catch(() => null)
    return place ? tracked(place, root) : walk(root)
  }
}

/** What git tracks, and what it does not ignore; only what is below the directory. */
async function tracked({ here, root }: Place, directory: string): Promise<FileNames> {
  const below = directory === root ? '' : `${directory.slice(root.length + 1)}/`
  const args = [
    'ls-files',
    '-z',
    '--cached',
    '--others',
    '--exclude-standard',
    '--',
    ...(below ? [below] : []),
  ]
  const { stdout, truncated } = await here.run(args, { maxBytes: MAX_LIST_BYTES, truncate: true })
  const names = new Set(stdout.toString().split('\0').slice(0, -1))
  const paths = [...names].filter((name) => !name.endsWith('/')).map((name) => name.slice(below.length))
  return { paths: paths.slice(0, MAX_FILES), truncated: truncated || paths.length > MAX_FILES }
}

/** The nearest first; links are not followed. */
async function walk(root: string): Promise<FileNames> {
  const until = performance.now() + WALK_MS
  const paths: string[] = []
  let seen = 0
  for (let level = ['']; level.length > 0;) {
    const next: string[] = []
    for (const folder of level) {
      if (seen > MAX_WALKED || performance.now() > until) return { paths, truncated: true }
      const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => [])
      seen += entries.length + 1
      for (const entry of entries) {
        const path = folder === '' ? entry.name : `${folder}/${entry.name}`
        if (entry.isFile()) paths.push(path)
        else if (entry.isDirectory() && !SKIPPED.has(entry.name)) next.push(path)
      }
    }
    level = next
  }
  return { paths, truncated: false }
}
