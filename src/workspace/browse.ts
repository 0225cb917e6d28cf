import { constants, type BigIntStats } from 'node:fs'
import { lstat, open, opendir, readlink, realpath, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { CorralError } from '../core/error.ts'

export interface DirectoryEntry {
  readonly name: string
  readonly kind: 'file' | 'directory' | 'link' | 'other'
  /** In bytes, of files. */
  readonly size: number | null
  readonly modifiedAt: number
}

export interface Listing {
  readonly path: string
  readonly entries: readonly DirectoryEntry[]
  readonly truncated: boolean
}

export interface FilePiece {
  readonly path: string
  /** Null: it is no text. */
  readonly text: string | null
  /** Of images, whole. */
  readonly base64: string | null
  readonly mediaType: string | null
  readonly size: number
  /** There is more behind it. */
  readonly truncated: boolean
  readonly modifiedAt: number
}

const MAX_ENTRIES = 2000
/** So many names are looked at; of a larger directory it is not known which come first. */
const MAX_LOOKED_AT = 20_000
const AT_ONCE = 64
const MAX_PIECE = 1024 * 1024
const MAX_IMAGE = 5 * 1024 * 1024
/** A zero byte in the beginning is what git takes for the sign of a binary file. */
const SNIFFED = 8000

/** A path below a session's directory as clients give it; empty is the directory itself. Nothing of git's own. */
export function belowDirectory(path: string): string {
  const parts = path.split('/')
  if (path.includes('\0') || path.startsWith('/') || parts.includes('..'))
    throw refused(path, "must be a path below the session's directory")
  if (parts.some((part) => part.toLowerCase() === '.git')) throw refused(path, 'is not a file of the project')
  return parts.filter((part) => part !== '' && part !== '.').join('/')
}

/** What is in a directory: folders first, then by name. */
export async function listDirectory(directory: string, given: string): Promise<Listing> {
  const path = belowDirectory(given)
  return opened(directory, path, constants.O_DIRECTORY, async (file, place) => {
    // By what was opened, and not by its name, where the system can do that: the name may mean something else by now.
    const there = process.platform === 'linux' ? `/proc/self/fd/${file.fd}` : place
    const names: string[] = []
    let truncated = false
    for await (const { name } of await opendir(there, { bufferSize: 256 })) {
      if (name === '.git') continue
      truncated = names.length >= MAX_LOOKED_AT
      if (truncated) break
      names.push(name)
    }
    const entries: DirectoryEntry[] = []
    for (let at = 0; at < names.length; at += AT_ONCE) {
      const some = names.slice(at, at + AT_ONCE).map((name) => entryOf(there, name))
      entries.push(...(await Promise.all(some)).filter((entry) => entry !== null))
    }
    entries.sort(foldersFirst)
    return {
      path,
      entries: entries.slice(0, MAX_ENTRIES),
      truncated: truncated || entries.length > MAX_ENTRIES,
    }
  })
}

function foldersFirst(a: DirectoryEntry, b: DirectoryEntry): number {
  const [first, second] = [a.kind === 'directory', b.kind === 'directory']
  if (first !== second) return first ? -1 : 1
  return a.name < b.name ? -1 : 1
}

/** Null: it is gone. */
async function entryOf(directory: string, name: string): Promise<DirectoryEntry | null> {
  const found = await lstat(join(directory, name)).catch(() => null)
  if (!found) return null
  const kind = found.isFile()
    ? 'file'
    : found.isDirectory()
      ? 'directory'
      : found.isSymbolicLink()
        ? 'link'
        : 'other'
  return { name, kind, size: kind === 'file' ? found.size : null, modifiedAt: Math.round(found.mtimeMs) }
}

/** A part of a text, by bytes, or a whole image. */
export async function readPiece(
  directory: string,
  given: string,
  { offset = 0, limit = MAX_PIECE }: { offset?: number | undefined; limit?: number | undefined } = {},
): Promise<FilePiece> {
  const path = belowDirectory(given)
  if (path === '') throw refused(given, 'is not a file')
  return opened(directory, path, 0, async (file, _, found) => {
    if (!found.isFile()) throw refused(path, 'is not a file')
    const [size, modifiedAt] = [Number(found.size), Math.round(Number(found.mtimeMs))]
    const about = { path, size, modifiedAt }
    const head = await read(file, 0, SNIFFED)
    const mediaType = imageType(head)
    if (mediaType !== null) {
      const fits = size <= MAX_IMAGE
      const base64 = fits ? (await read(file, 0, MAX_IMAGE)).toString('base64') : null
      return { ...about, text: null, base64, mediaType, truncated: !fits }
    }
    const bytes = await read(file, offset, Math.min(limit, MAX_PIECE))
    const text = head.includes(0) ? null : textOf(bytes, offset > 0, offset + bytes.length < size)
    const nothing = { ...about, base64: null, mediaType: null }
    if (text === null) return { ...nothing, text, truncated: false }
    return { ...nothing, text: text.text, truncated: offset + text.end < size }
  })
}

/** Half a character at an edge belongs to the piece before or after. Null: it is no text. */
function textOf(bytes: Buffer, hasBefore: boolean, hasAfter: boolean): { text: string; end: number } | null {
  let start = 0
  while (hasBefore && start < 3 && start < bytes.length && (bytes[start]! & 0xc0) === 0x80) start++
  let end = bytes.length
  if (hasAfter) {
    let lead = end - 1
    while (lead >= start && lead > end - 4 && (bytes[lead]! & 0xc0) === 0x80) lead--
    const first = bytes[lead] ?? 0
    const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1
    if (lead + length > end) end = lead
  }
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    return { text: decoder.decode(bytes.subarray(start, end)), end }
  } catch {
    return null
  }
}

async function read(file: FileHandle, offset: number, limit: number): Promise<Buffer> {
  const buffer = Buffer.alloc(limit)
  let size = 0
  while (size < limit) {
    const { bytesRead } = await file.read(buffer, size, limit - size, offset + size)
    if (bytesRead === 0) break
    size += bytesRead
  }
  return buffer.subarray(0, size)
}

const IMAGES: readonly (readonly [mediaType: string, starts: (head: Buffer) => boolean])[] = [
  ['image/png', (head) => head.subarray(0, 8).toString('latin1') === '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', (head) => head.subarray(0, 3).toString('latin1') === '\xff\xd8\xff'],
  ['image/gif', (head) => /^GIF8[79]a/.test(head.subarray(0, 6).toString('latin1'))],
  ['image/webp', (head) => /^RIFF[^]{4}WEBP/.test(head.subarray(0, 12).toString('latin1'))],
]

/** By what is in it: a name may say anything. */
function imageType(head: Buffer): string | null {
  return IMAGES.find(([, starts]) => starts(head))?.[0] ?? null
}

/**
 * Opens what a path leads to without a link anywhere in it, and without waiting for the writer of a FIFO. A part of the path
 * may be exchanged for a link after it was looked at: what counts is what was opened.
 */
async function opened<T>(
  directory: string,
  path: string,
  flag: number,
  use: (file: FileHandle, place: string, found: BigIntStats) => Promise<T>,
): Promise<T> {
  const root = await realpath(directory).catch((cause: unknown) => {
    throw notFound(directory, cause)
  })
  const place = path === '' ? root : join(root, path)
  await mustBeWithoutLinks(place, path)
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | flag
  const file = await open(place, flags).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOTDIR') throw refused(path, 'is not a directory')
    if (cause.code === 'ELOOP') throw refused(path, 'is a link, and links are not followed')
    throw notFound(path, cause)
  })
  try {
    await mustBeAt(file, place, path)
    return await use(file, place, await file.stat({ bigint: true }))
  } finally {
    await file.close()
  }
}

/** Linux says where a file is that is open. Elsewhere two looks in a row have to do. */
async function mustBeAt(file: FileHandle, place: string, path: string): Promise<void> {
  const known = await readlink(`/proc/self/fd/${file.fd}`).catch(() => null)
  if (known === place) return
  const exchanged = refused(path, 'has been exchanged for something else meanwhile')
  if (known !== null) throw exchanged
  for (let look = 0; look < 2; look++) {
    await mustBeWithoutLinks(place, path)
    const [found, now] = [
      await file.stat({ bigint: true }),
      await lstat(place, { bigint: true }).catch(() => null),
    ]
    if (now?.dev !== found.dev || now.ino !== found.ino) throw exchanged
  }
}

async function mustBeWithoutLinks(place: string, path: string): Promise<void> {
  const real = await realpath(place).catch((cause: unknown) => {
    throw notFound(path, cause)
  })
  if (real !== place) throw refused(path, 'leads through a link, and links are not followed')
}

function notFound(path: string, cause: unknown): CorralError {
  return new CorralError(
    'path_not_found',
    `There is no such file or directory: ${JSON.stringify(path)}`,
    { path },
    cause,
  )
}

function refused(path: string, why: string): CorralError {
  return new CorralError('invalid', `${JSON.stringify(path)} ${why}`, { field: 'path', path })
}
