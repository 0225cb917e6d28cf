import { chmodSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import { CorralError } from '../core/error.ts'

/** One secret: what is said about it openly and, if it is not in the keychain, the secret itself. */
const entry = z.object({
  place: z.enum(['keychain', 'file']),
  value: z.string().exactOptional(),
  /** An older one may still be in the keychain, which did not let go of it. */
  left: z.literal(true).exactOptional(),
  about: z.record(z.string(), z.unknown()).default({}),
})
export type Entry = z.output<typeof entry>

const content = z.object({ version: z.literal(1), entries: z.record(z.string(), entry) })

/** The file that says which secrets there are, and has those that no keychain took. */
export interface Vault {
  get(name: string): Entry | null
  all(): [name: string, entry: Entry][]
  put(name: string, entry: Entry): void
  drop(name: string): void
}

export function openVault(path: string, notice: (message: string) => void): Vault {
  const entries = new Map(Object.entries(read(path, notice)))

  function save(): void {
    const draft = `${path}.${process.pid}`
    try {
      rmSync(draft, { force: true }) // one that is there already may be open to others
      writeFileSync(draft, `${JSON.stringify({ version: 1, entries: Object.fromEntries(entries) })}\n`, {
        mode: 0o600,
        flag: 'wx',
        flush: true,
      })
      renameSync(draft, path)
    } catch (error) {
      rmSync(draft, { force: true })
      const { code, message } = error as NodeJS.ErrnoException
      throw new CorralError('storage', `${path} cannot be written: ${code ?? message}`, { path }, error)
    }
  }

  /** What could not be written is not kept in memory either. */
  function change(name: string, next: Entry | null): void {
    const before = entries.get(name)
    if (next) entries.set(name, next)
    else entries.delete(name)
    try {
      save()
    } catch (error) {
      if (before) entries.set(name, before)
      else entries.delete(name)
      throw error
    }
  }

  return {
    get: (name) => entries.get(name) ?? null,
    all: () => [...entries],
    put: (name, next) => change(name, next),
    drop: (name) => change(name, null),
  }
}

function read(path: string, notice: (message: string) => void): Record<string, Entry> {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat) return {}
  if (process.platform !== 'win32' && (stat.mode & 0o077) !== 0) {
    chmodSync(path, 0o600)
    notice(`${path} was open to others: it is its owner's only now, but what is in it may be known`)
  }
  try {
    return content.parse(JSON.parse(readFileSync(path, 'utf8'))).entries
  } catch {
    // Neither JSON's nor zod's message is passed on: they may quote a secret.
    const aside = `${path}.broken-${Date.now()}`
    renameSync(path, aside)
    notice(`${path} could not be understood and was put aside as ${aside}: sign in again`)
    return {}
  }
}
