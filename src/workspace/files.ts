import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { CorralError } from '../core/error.ts'

export const MAX_FILE_BYTES = 1024 * 1024

export interface FileContent {
  readonly path: string
  readonly content: string
  readonly sizeBytes: number
}

/** A path below a repository as clients may give it: relative, and nothing of git's own. */
export function checkedPath(path: string): string {
  const parts = path.split('/')
  if (path === '' || path.includes('\0') || path.startsWith('/') || parts.includes('..'))
    throw refused(path, 'must be a path below the repository')
  if (parts.some((part) => part.toLowerCase() === '.git')) throw refused(path, 'is not a file of the project')
  return parts.filter((part) => part !== '' && part !== '.').join('/')
}

export function isInside(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep)
}

/** A text of at most 1 MiB. Symbolic links may point around inside of the repository, but not out of it. */
export async function readTextFile(root: string, given: string): Promise<FileContent> {
  const path = checkedPath(given)
  const real = await realpath(join(root, path)).catch((cause: unknown) => {
    throw new CorralError('path_not_found', `No such file: ${path}`, { path }, cause)
  })
  if (!isInside(root, real) || real === root) throw refused(path, 'leads out of the repository')
  checkedPath(real.slice(root.length + 1))
  const bytes = await readBytes(real, path)
  try {
    const content = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return { path, content, sizeBytes: bytes.length }
  } catch {
    throw refused(path, 'is not UTF-8 text')
  }
}

/** Not following a link that came after the check, and not waiting for the writer of a FIFO. */
async function readBytes(real: string, path: string): Promise<Buffer> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const file = await open(real, flags).catch((cause: unknown) => {
    throw new CorralError('path_not_found', `Cannot read: ${path}`, { path }, cause)
  })
  try {
    const found = await file.stat()
    if (!found.isFile()) throw refused(path, 'is not a file')
    if (found.size > MAX_FILE_BYTES) throw refused(path, `is larger than ${MAX_FILE_BYTES} bytes`)
    const buffer = Buffer.alloc(MAX_FILE_BYTES + 1)
    const size = await fill(buffer, (at) => file.read(buffer, at, buffer.length - at))
    if (size > MAX_FILE_BYTES) throw refused(path, `is larger than ${MAX_FILE_BYTES} bytes`)
    return buffer.subarray(0, size)
  } finally {
    await file.close()
  }
}

async function fill(buffer: Buffer, read: (at: number) => Promise<{ bytesRead: number }>): Promise<number> {
  let size = 0
  while (size < buffer.length) {
    const { bytesRead } = await read(size)
    if (bytesRead === 0) break
    size += bytesRead
  }
  return size
}

function refused(path: string, why: string): CorralError {
  return new CorralError('invalid', `${JSON.stringify(path)} ${why}`, { field: 'path', path })
}
