import { constants } from 'node:fs'
import { lstat, open, readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { firstLine } from '../core/excerpt.ts'
import { inertOutput } from '../core/inert.ts'
import { isObject, parsed, type JsonObject } from './json.ts'
import type { Kept, Listing, Look } from './store.ts'

/*
 * Files of stores that are not ours: there may be thousands of them, any of them may be huge or broken, and what is in them may be
 * hostile. Links are not followed, and nothing is written.
 */

/** So many files of a store are known of. */
const MAX_FILES = 50_000
/** Into so many of them one look is taken to fill a list. */
const MAX_LOOKED_INTO = 3000
const AT_ONCE = 16
const CHUNK = 64 * 1024
/** A line that is longer is passed over. */
const MAX_LINE = 4 * 1024 ** 2
/** The beginning of a conversation is looked for here. */
export const HEAD_BYTES = 1024 ** 2
/** Of a conversation so much is read, from its end. */
export const PAST_BYTES = 32 * 1024 ** 2
const MAX_OPENING = 200

export interface StoredFile {
  path: string
  name: string
}

export interface AgedFile extends StoredFile {
  updatedAt: number
  size: number
}

/** The files so many levels below a directory. */
export async function filesBelow(directory: string, levels: number, isOne: RegExp): Promise<StoredFile[]> {
  const found: StoredFile[] = []
  await walk(directory, levels)
  return found

  async function walk(at: string, left: number): Promise<void> {
    const entries = await readdir(at, { withFileTypes: true }).catch(absent)
    for (const entry of entries) {
      if (found.length >= MAX_FILES) return
      const path = join(at, entry.name)
      if (left > 0 && entry.isDirectory()) await walk(path, left - 1)
      else if (left === 0 && entry.isFile() && isOne.test(entry.name)) found.push({ path, name: entry.name })
    }
  }
}

function absent(error: NodeJS.ErrnoException): never[] {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return []
  throw error
}

/** The last changed first. */
export async function newestFirst(files: readonly StoredFile[]): Promise<AgedFile[]> {
  const aged = await inPieces(files, async ({ path, name }) => {
    const found = await lstat(path).catch(() => null)
    return found?.isFile() ? { path, name, updatedAt: Math.round(found.mtimeMs), size: found.size } : null
  })
  return aged.filter((file) => file !== null).sort((a, b) => b.updatedAt - a.updatedAt)
}

/** Takes as many as are wanted. `idOf`: what the name of a file tells; null: only its contents do. */
export async function listFiles(
  files: readonly AgedFile[],
  look: Look,
  idOf: (file: AgedFile) => string | null,
  read: (file: AgedFile) => Promise<Kept | null>,
): Promise<Listing> {
  const found = new Map<string, Kept>()
  const skipped = new Set<string>()
  const wanted = files.filter((file) => {
    const id = idOf(file)
    if (id === null || !look.skip(id)) return true
    skipped.add(id)
    return false
  })
  const isWanted = placeFilter(look)
  let at = 0
  for (; at < wanted.length && at < MAX_LOOKED_INTO && found.size < look.limit; at += AT_ONCE) {
    const some = await Promise.all(wanted.slice(at, at + AT_ONCE).map((file) => read(file).catch(() => null)))
    for (const kept of some) {
      if (!kept || found.has(kept.id)) continue
      if (look.skip(kept.id)) skipped.add(kept.id)
      else if (await isWanted(kept)) found.set(kept.id, kept)
    }
  }
  const all = [...found.values()].sort((a, b) => b.updatedAt - a.updatedAt)
  const truncated = all.length > look.limit || at < wanted.length
  return { found: all.slice(0, look.limit), skipped: skipped.size, truncated }
}

/** Whether a conversation is of the directory that is looked for. */
export function placeFilter({ cwd }: Look): (kept: Pick<Kept, 'cwd'>) => Promise<boolean> {
  const real = new Map<string, Promise<string>>()
  return async (kept) => {
    if (cwd === undefined || kept.cwd === cwd) return true
    let place = real.get(kept.cwd)
    if (!place) real.set(kept.cwd, (place = realpath(kept.cwd).catch(() => kept.cwd)))
    return (await place) === cwd
  }
}

/**
 * The lines of a file that are JSON objects, from its beginning, or from so many bytes before its end. `only`: others than these are not
 * worth reading.
 */
export async function* records(
  path: string,
  { most, fromEnd = false, only }: { most: number; fromEnd?: boolean; only?: RegExp },
): AsyncGenerator<JsonObject> {
  for await (const line of linesOf(path, most, fromEnd)) {
    const value = only && !only.test(line) ? null : parsed(line)
    if (isObject(value)) yield value
  }
}

async function* linesOf(path: string, most: number, fromEnd: boolean): AsyncGenerator<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const { size } = await file.stat()
    const from = fromEnd ? Math.max(0, size - most) : 0
    const chunk = Buffer.allocUnsafe(CHUNK)
    let line = new Line(from > 0)
    for (let at = from; at < from + most;) {
      const { bytesRead } = await file.read(chunk, 0, Math.min(CHUNK, from + most - at), at)
      if (bytesRead === 0) break
      at += bytesRead
      let start = 0
      for (let end = chunk.indexOf(10); end >= 0 && end < bytesRead; end = chunk.indexOf(10, start)) {
        line.add(chunk.subarray(start, end))
        const text = line.text()
        if (text !== null) yield text
        line = new Line(false)
        start = end + 1
      }
      line.add(chunk.subarray(start, bytesRead))
    }
    // The last one may still be being written: it is no JSON then.
    const text = line.text()
    if (text !== null) yield text
  } finally {
    await file.close()
  }
}

/** What there is of a line. */
class Line {
  #parts: Buffer[] = []
  #length = 0
  #isLost: boolean

  constructor(isLost: boolean) {
    this.#isLost = isLost
  }

  add(part: Buffer): void {
    this.#length += part.length
    if (this.#length > MAX_LINE) this.#isLost = true
    if (this.#isLost) this.#parts = []
    else if (part.length > 0) this.#parts.push(Buffer.from(part))
  }

  /** Null: it has no beginning, or is too long. */
  text(): string | null {
    return this.#isLost || this.#length === 0 ? null : Buffer.concat(this.#parts).toString('utf8')
  }
}

/** The first line of a message, for a list. */
export function openingOf(text: string): string | null {
  return firstLine(inertOutput(text.slice(0, 10_000)), MAX_OPENING)
}

/** A time as a record tells it. */
export function timeIn(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) && value > 0 ? value : null
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isFinite(time) && time > 0 ? time : null
}

async function inPieces<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const done: R[] = []
  for (let at = 0; at < items.length; at += AT_ONCE) {
    done.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(work))))
  }
  return done
}
