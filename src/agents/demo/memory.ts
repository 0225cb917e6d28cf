import { randomUUID } from 'node:crypto'
import { appendFileSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Attachment, rememberedIn } from './script.ts'

/** What a conversation leaves behind: enough to answer `[[recall]]` and `[[attachments]]` later. */
export interface Memory {
  readonly id: string
  readonly remembered: string | null
  readonly attachments: readonly Attachment[]
  /** What was said in this turn. */
  add(turn: string, text: string, attachments: Attachment[]): void
}

export type Beginning =
  | { from: 'new' }
  | { from: 'resume'; id: string }
  /** `at`: after this turn; null: all of it. */
  | { from: 'fork'; id: string; at: string | null }

interface Entry {
  turn?: string
  remember?: string
  attachments?: Attachment[]
}

export function stateDirectory(env: NodeJS.ProcessEnv): string {
  return env['CORRAL_DEMO_STATE'] || join(tmpdir(), `corral-demo-${process.getuid?.() ?? 'user'}`)
}

/** Opens the file of a conversation in `directory`; null when the one to go on from is not there. */
export function openMemory(directory: string, beginning: Beginning): Memory | null {
  claimDirectory(directory)
  if (beginning.from === 'new') return memoryOf(directory, randomUUID(), [])
  if (!/^[A-Za-z0-9-]{1,64}$/.test(beginning.id)) return null
  const old = join(directory, `${beginning.id}.jsonl`)
  try {
    const entries = readEntries(old)
    if (beginning.from === 'resume') return memoryOf(directory, beginning.id, entries)
    const kept = upTo(entries, beginning.at)
    if (!kept) return null
    const id = randomUUID()
    writeFileSync(join(directory, `${id}.jsonl`), kept.map(lineOf).join(''), { mode: 0o600 })
    return memoryOf(directory, id, kept)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** Null: there is no such turn. */
function upTo(entries: Entry[], turn: string | null): Entry[] | null {
  const last = turn === null ? entries.length - 1 : entries.findLastIndex((entry) => entry.turn === turn)
  return last < 0 && turn !== null ? null : entries.slice(0, last + 1)
}

/** The LF before ends what a killed process may have left half written. */
function lineOf(entry: Entry): string {
  return `\n${JSON.stringify(entry)}\n`
}

function memoryOf(directory: string, id: string, entries: Entry[]): Memory {
  const file = join(directory, `${id}.jsonl`)
  let remembered = entries.findLast((entry) => entry.remember !== undefined)?.remember ?? null
  const attachments = entries.flatMap((entry) => entry.attachments ?? [])
  appendFileSync(file, '', { mode: 0o600 })
  return {
    id,
    get remembered() {
      return remembered
    },
    attachments,
    add(turn, text, more) {
      const marker = rememberedIn(text)
      remembered = marker ?? remembered
      attachments.push(...more)
      const entry: Entry = { turn, ...(marker !== null && { remember: marker }), attachments: more }
      appendFileSync(file, lineOf(entry))
    },
  }
}

function readEntries(file: string): Entry[] {
  const entries: Entry[] = []
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    try {
      if (line !== '') entries.push(JSON.parse(line) as Entry)
    } catch {
      // the last line of a process that was killed while it wrote
    }
  }
  return entries
}

/** In a shared temporary directory the name may be taken: what belongs to someone else is not written to. */
function claimDirectory(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const found = lstatSync(directory)
  if (!found.isDirectory() || (process.getuid && found.uid !== process.getuid())) {
    throw new Error(`${directory} belongs to someone else; name another one with CORRAL_DEMO_STATE`)
  }
}
