import { constants } from 'node:fs'
import { lstat, mkdir, open, realpath, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path'
import type { Session } from '../../core/session.ts'
import { asString, type JsonObject } from '../json.ts'

/** A file of more bytes is not read into an answer. */
const MAX_BYTES = 16 * 1024 * 1024

/** Something that is refused, in words for the agent. */
export class Refused extends Error {}

/** `fs/read_text_file`, in the session's directories only. */
export async function readTextFile(session: Session, { path, line, limit }: JsonObject): Promise<object> {
  const file = await insidePath(session, path)
  if ((await existing(file)) === null) throw new Refused(`ENOENT: no such file: ${file}`)
  const text = await readFile(file)
  const from = typeof line === 'number' ? Math.max(0, line - 1) : 0
  const count = typeof limit === 'number' && limit >= 0 ? limit : null
  if (from === 0 && count === null) return { content: text }
  const lines = text.split('\n')
  return { content: lines.slice(from, count === null ? undefined : from + count).join('\n') }
}

async function readFile(path: string): Promise<string> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const { size } = await handle.stat().then(regular)
    if (size > MAX_BYTES) throw new Refused(`${path} is larger than ${MAX_BYTES} bytes`)
    return await handle.readFile('utf8')
  } finally {
    await handle.close()
  }
}

/** `fs/write_text_file`, in the session's directories only. */
export async function writeTextFile(session: Session, { path, content }: JsonObject): Promise<object> {
  const text = asString(content)
  if (text === null) throw new Refused('content is missing')
  const file = await insidePath(session, path)
  await mkdir(dirname(file), { recursive: true })
  const { O_WRONLY, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants
  const handle = await open(file, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o666)
  try {
    await handle.stat().then(regular)
    await handle.truncate()
    await handle.writeFile(text)
  } finally {
    await handle.close()
  }
  return {}
}

function regular<T extends { isFile(): boolean }>(found: T): T {
  if (!found.isFile()) throw new Refused('not a file')
  return found
}

/**
 * The real place of a path, links followed, if that is within the session's directories. What does not exist yet is
 * judged by the nearest directory above it that does.
 */
export async function insidePath(session: Session, given: unknown): Promise<string> {
  const path = asString(given)
  if (path === null || !isAbsolute(path) || path.includes('\0'))
    throw new Refused('an absolute path is needed')
  const place = await realPlace(resolve(path))
  for (const root of [session.cwd, ...(session.settings.additionalDirectories ?? [])].filter(isAbsolute)) {
    const real = await existing(root)
    if (real !== null && isWithin(place, real)) return place
  }
  throw new Refused(`${path} is outside of this session's directories`)
}

async function realPlace(path: string): Promise<string> {
  const real = await existing(path)
  if (real !== null) return real
  if (await isLink(path)) throw new Refused(`${path} is a link that leads nowhere`)
  return join(await realPlace(dirname(path)), basename(path))
}

function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep)
}

async function existing(path: string): Promise<string | null> {
  try {
    return await realpath(path)
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return null
    throw error
  }
}

async function isLink(path: string): Promise<boolean> {
  return lstat(path).then(
    (found) => found.isSymbolicLink(),
    () => false,
  )
}

export async function insideDirectory(session: Session, path: unknown): Promise<string> {
  const directory = await insidePath(session, path)
  if (!(await stat(directory)).isDirectory()) throw new Refused(`${directory} is not a directory`)
  return directory
}
