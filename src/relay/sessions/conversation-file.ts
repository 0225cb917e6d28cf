import { appendFile, open, readdir, rename, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { readLines } from '../records/call-file.ts'
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
/** What a daemon that died was about to put in place of a conversation. */
const DRAFT = /\.jsonl\.\d+$/
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

/**
 * A crash may have left half a line at the end: what comes now begins a line of its own. What a full disk takes only a part of
 * is taken back: it would keep the room that smaller things need.
 */
export async function append(path: string, entries: readonly Entry[]): Promise<void> {
  const { size } = await stat(path)
  try {
    await appendFile(path, `\n${textOf(entries)}`, { mode: 0o600 })
  } catch (error) {
    await truncate(path, size).catch(() => undefined)
    throw error
  }
}

/** In place of what is there, whole or not at all. */
export async function write(path: string, entries: readonly Entry[]): Promise<void> {
  const draft = `${path}.${process.pid}`
  try {
    await writeFile(draft, textOf(entries), { mode: 0o600 })
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined)
    throw error
  }
}

function textOf(entries: readonly Entry[]): string {
  return entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')
}

interface Found {
  name: string
  path: string
  bytes: number
}

/** The conversations that there are; what cannot be read is somebody else's, and drafts are removed. */
export async function conversationsIn(directory: string): Promise<Found[]> {
  const found: Found[] = []
  for (const file of await readdir(directory)) {
    const path = join(directory, file)
    if (DRAFT.test(file)) await rm(path, { force: true })
    const one = file.endsWith(SUFFIX) ? await conversationAt(path).catch(() => null) : null
    if (one) found.push(one)
  }
  return found
}

async function conversationAt(path: string): Promise<Found | null> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(NAME_BYTES), 0, NAME_BYTES, 0)
    const [line = ''] = buffer.toString('utf8', 0, bytesRead).split('\n', 1)
    const entry = entryIn(line)
    return entry && 'name' in entry ? { name: entry.name, path, bytes: (await file.stat()).size } : null
  } finally {
    await file.close()
  }
}
