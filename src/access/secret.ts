import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  type FSWatcher,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  watch,
  writeFileSync,
} from 'node:fs'
import { basename, dirname } from 'node:path'
import { bearer, digest, fileVersion, type TokenCheck } from './tokens.ts'

/** One token in a file that only its owner reads. */
export interface Secret extends TokenCheck {
  matches(token: string): boolean
  /** A key that changes with the token; null: there is no token. */
  derive(purpose: string): Buffer | null
  /** Tells when something has been done to the file; returns how to stop. */
  onTouched(tell: () => void): () => void
}

export interface SecretOptions {
  path: string
  /** The file cannot be used, or others could read it. */
  onProblem?(problem: string): void
}

/** A file that is being written may be empty for a moment: that is not yet another token. */
const SETTLED_MS = 50

/** Made when it is not there: 32 hexadecimal digits. Looked at on each check, so that a new one in the file holds at once. */
export function openSecret({ path, onProblem }: SecretOptions): Secret {
  create(path)
  if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0) {
    chmodSync(path, 0o600)
    onProblem?.(`${path} was open to others: it is its owner's only now, but the token may be known`)
  }
  let version = ''
  let known: Buffer | null = null

  function refresh(): void {
    const current = fileVersion(path)
    if (current === version) return
    version = current
    known = null
    try {
      const token = current === '' ? '' : readFileSync(path, 'utf8').trim()
      if (token === '') throw new Error('there is no token in it')
      known = digest(token)
    } catch (error) {
      onProblem?.(`${path} cannot be used: ${(error as Error).message}; no token is accepted`)
    }
  }

  function matches(token: string): boolean {
    refresh()
    return known !== null && timingSafeEqual(known, digest(token))
  }

  return {
    matches,
    derive(purpose) {
      refresh()
      return known && createHmac('sha256', known).update(purpose).digest()
    },
    onTouched: (tell) => watchFile(path, tell, (problem) => onProblem?.(problem)),
    check(authorization) {
      const token = bearer(authorization)
      if (token === null) return 'missing'
      return matches(token) ? 'ok' : 'invalid'
    },
  }
}

/** Appears whole or not at all, and never in the place of one that is there. */
function create(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })) return
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, randomBytes(16).toString('hex'), { mode: 0o600 })
  try {
    linkSync(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft)
  }
}

/**
 * The file itself is watched, since its directory may be a busy one; a new file in its place is watched in turn. Only while
 * there is none, the directory is.
 */
function watchFile(path: string, tell: () => void, onProblem: (problem: string) => void): () => void {
  const failed = (error: Error): void => onProblem(`${path} cannot be watched: ${error.message}`)
  let watcher: FSWatcher | undefined
  let settled: NodeJS.Timeout | undefined

  function touched(): void {
    clearTimeout(settled)
    settled = setTimeout(() => {
      // Before it is looked at: what happens to it afterwards is told again.
      begin()
      tell()
    }, SETTLED_MS).unref()
  }

  function begin(): void {
    watcher?.close()
    const isThere = existsSync(path)
    try {
      watcher = watch(isThere ? path : dirname(path), { persistent: false }, (_, name) => {
        if (isThere || name === null || name === basename(path)) touched()
      })
      watcher.on('error', failed)
    } catch (error) {
      failed(error as Error)
    }
  }

  begin()
  return () => {
    clearTimeout(settled)
    watcher?.close()
  }
}
