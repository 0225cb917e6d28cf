import { randomUUID } from 'node:crypto'
import { appendFileSync, copyFileSync, lstatSync, mkdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Attachment, rememberedIn } from './script.ts'

/** What a conversation leaves behind: enough to answer `[[recall]]` and `[[attachments]]` later. */
export interface Memory {
  readonly id: string
  readonly remembered: string | null
  readonly attachments: readonly Attachment[]
  add(text: string, attachments: Attachment[]): void
}

export type Beginning = { from: 'new' } | { from: 'resume' | 'fork'; id: string }

interface Entry {
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
    const id = randomUUID()
    copyFileSync(old, join(directory, `${id}.jsonl`))
    return memoryOf(directory, id, entries)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
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
    add(text, more) {
      const marker = rememberedIn(text)
      if (marker === null && more.length === 0) return
      remembered = marker ?? remembered
      attachments.push(...more)
      const entry: Entry = { ...(marker !== null && { remember: marker }), attachments: more }
      // The LF before ends what a killed process may have left half written.
      appendFileSync(file, `\n${JSON.stringify(entry)}\n`)
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
