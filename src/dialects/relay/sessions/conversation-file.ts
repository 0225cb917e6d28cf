import { appendFile, open, readdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { readLines } from '../call-file.ts'
import type { Message } from '../ask.ts'
import type { Conversation, Exchange, Grounds } from './conversation.ts'

/*
 * A conversation as a file: one line for each thing that happened, so that a call costs as much as it adds. Half a line at
 * its end, from a crash, is no line.
 */
export type Entry =
  | { name: string }
  | { grounds: Grounds }
  | { messages: Message[]; answer: Exchange['answer'] }
  /** The caller has the answer of the last exchange. */
  | { heard: true }
  /** The last exchange is taken back. */
  | { undone: true }

const entrySchema = z.union([
  z.object({ name: z.string() }),
  z.object({
    grounds: z.object({
      system: z.string().nullable(),
      tools: z.array(z.unknown()),
      toolChoice: z.unknown(),
    }),
  }),
  z.object({ messages: z.array(z.unknown()), answer: z.array(z.unknown()) }),
  z.object({ heard: z.literal(true) }),
  z.object({ undone: z.literal(true) }),
])

const SUFFIX = '.jsonl'
/** A name has at most 128 characters. */
const NAME_BYTES = 4096

export async function readConversation(path: string): Promise<Conversation> {
  let grounds: Grounds | null = null
  const exchanges: Exchange[] = []
  for (const line of (await readLines(path)).lines) {
    const entry = entryIn(line)
    if (!entry) continue
    if ('grounds' in entry) grounds = entry.grounds
    else if ('messages' in entry) exchanges.push({ ...entry, heard: false })
    else if ('undone' in entry) exchanges.pop()
    else if ('heard' in entry && exchanges.length > 0) exchanges.at(-1)!.heard = true
  }
  return { grounds, exchanges }
}

/** It was all written by this program, but a disk may have lost some of it. */
function entryIn(line: string): Entry | null {
  try {
    return entrySchema.parse(JSON.parse(line)) as Entry
  } catch {
    return null
  }
}

/** A crash, or a full disk, may have left half a line at the end: what comes now begins a line of its own. */
export async function append(path: string, entries: readonly Entry[]): Promise<void> {
  await appendFile(path, `\n${textOf(entries)}`, { mode: 0o600 })
}

/** In place of what is there, whole or not at all. */
export async function write(path: string, entries: readonly Entry[]): Promise<void> {
  const draft = `${path}.${process.pid}`
  await writeFile(draft, textOf(entries), { mode: 0o600 })
  await rename(draft, path)
}

function textOf(entries: readonly Entry[]): string {
  return entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')
}

/** The names that there are conversations of, with their files; what cannot be read is somebody else's. */
export async function conversationsIn(directory: string): Promise<{ name: string; path: string }[]> {
  const found: { name: string; path: string }[] = []
  for (const file of await readdir(directory)) {
    const path = join(directory, file)
    const name = file.endsWith(SUFFIX) ? await nameIn(path).catch(() => null) : null
    if (name !== null) found.push({ name, path })
  }
  return found
}

async function nameIn(path: string): Promise<string | null> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(NAME_BYTES), 0, NAME_BYTES, 0)
    const [line = ''] = buffer.toString('utf8', 0, bytesRead).split('\n', 1)
    const entry = entryIn(line)
    return entry && 'name' in entry ? entry.name : null
  } finally {
    await file.close()
  }
}
