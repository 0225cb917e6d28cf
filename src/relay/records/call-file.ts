import { appendFile, readFile, rename, writeFile } from 'node:fs/promises'
import { tighten } from '../private-file.ts'

export interface CallFileOptions {
  path: string
  /** Lines that are kept. */
  keep: number
  /** The newest lines: the whole content when it is written anew. */
  lines(): string[]
  onProblem?(problem: string): void
}

/** Lines in a file, appended as they come; at twice what is kept it is written anew, whole or not at all. */
export interface CallFile {
  append(line: string): void
  /** Writes `lines()` in place of what is there. */
  rewrite(): void
  /** Resolves when everything is written that was asked for until now. */
  flushed(): Promise<void>
}

/** Every complete line; a last one that was torn off is left out. */
export async function readLines(path: string): Promise<{ lines: string[]; torn: boolean }> {
  tighten(path)
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  const lines = text.split('\n')
  const rest = lines.pop()!
  return { lines, torn: rest !== '' }
}

/** `written` is how many lines the file has now. */
export function createCallFile(options: CallFileOptions, written: number): CallFile {
  const { path, keep } = options
  let waiting: string[] = []
  let anew = false
  let writing: Promise<void> | null = null
  let troubled = false

  async function replace(): Promise<void> {
    const lines = options.lines()
    anew = false
    waiting = []
    const draft = `${path}.${process.pid}`
    await writeFile(draft, lines.map((line) => `${line}\n`).join(''), { mode: 0o600 })
    await rename(draft, path)
    written = lines.length
  }

  async function add(): Promise<void> {
    const lines = waiting
    waiting = []
    await appendFile(path, lines.map((line) => `${line}\n`).join(''), { mode: 0o600 })
    written += lines.length
  }

  async function write(): Promise<void> {
    while (anew || waiting.length > 0) {
      try {
        await (anew || written + waiting.length > 2 * keep ? replace() : add())
        troubled = false
      } catch (error) {
        if (!troubled) options.onProblem?.(`${path} cannot be written: ${(error as Error).message}`)
        troubled = true
        // Half a line may be there: the next write is a whole one.
        anew = true
        break
      }
    }
    writing = null
  }

  return {
    append(line) {
      // More than is kept need not wait: what is kept is in memory, too.
      if (waiting.length >= keep) {
        waiting = []
        anew = true
      }
      if (!anew) waiting.push(line)
      writing ??= write()
    },
    rewrite() {
      anew = true
      writing ??= write()
    },
    flushed: () => writing ?? Promise.resolve(),
  }
}
