import { appendFile, chmod, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { MAX_ENTRIES } from './recall.ts'

/** What was sent from terminals, one JSON text a line, for nobody but its user. */
const NAME = 'typed.jsonl'
/** A longer text is not kept. */
const MAX_TEXT = 20_000
const MAX_BYTES = 1024 * 1024

/** The texts of earlier sessions, the newest last. Whatever is wrong with the file, there is none then. */
export async function readTyped(home: string): Promise<string[]> {
  const path = join(home, NAME)
  const text = await readFile(path, 'utf8').catch(() => '')
  const entries = text.split('\n').flatMap(entryOf)
  const kept = entries.slice(-MAX_ENTRIES)
  if (entries.length > 2 * MAX_ENTRIES || text.length > MAX_BYTES) await rewrite(path, kept).catch(() => {})
  return kept
}

export async function keepTyped(home: string, text: string): Promise<void> {
  if (text.length > MAX_TEXT) return
  const path = join(home, NAME)
  await appendFile(path, `${JSON.stringify(text)}\n`, { mode: 0o600 })
  await chmod(path, 0o600)
}

/** In one step: another terminal may be reading it. */
async function rewrite(path: string, entries: readonly string[]): Promise<void> {
  const temporary = `${path}.${process.pid}`
  let room = MAX_BYTES / 2
  const kept = entries
    .map((entry) => `${JSON.stringify(entry)}\n`)
    .filter((line) => (room -= line.length) > 0)
  await writeFile(temporary, kept.join(''), { mode: 0o600 })
  await rename(temporary, path)
}

function entryOf(line: string): string[] {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'string' && value !== '' ? [value] : []
  } catch {
    return []
  }
}
