import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Past, PastMessage } from '../../core/adoption.ts'
import { asArray, asObject, asString, isObject, type JsonObject } from '../json.ts'
import {
  filesBelow,
  HEAD_BYTES,
  listFiles,
  newestFirst,
  openingOf,
  PAST_BYTES,
  records,
  timeIn,
  type AgedFile,
} from '../kept-file.ts'
import { likelyHolder } from '../processes.ts'
import { homeIn } from '../signed-in.ts'
import type { ConversationStore, Kept } from '../store.ts'

const FILE = /^session-.*-[0-9a-f]{8}\.jsonl$/i
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const CHATS = 'chats'
/** The folder of the directory, and `chats` in it. */
const LEVELS = 2

/** One file for each conversation, in a folder for each directory, which names that directory in a file of its own. */
export const geminiConversations: ConversationStore = {
  place: (env) => join(env.GEMINI_CLI_HOME || homeIn(env), '.gemini', 'tmp'),
  async list(env, look) {
    const files = await newestFirst(await chatsIn(this.place(env), FILE))
    return listFiles(files, look, () => null, keptIn)
  },
  async find(env, id) {
    return (await firstOf(this.place(env), id))?.kept ?? null
  },
  async past(env, id) {
    const found = await firstOf(this.place(env), id)
    return found ? pastIn(found.file) : { messages: [], isCut: false }
  },
  async holders(_, processes) {
    const programs = await processes.of('gemini')
    return (kept) => likelyHolder(programs, kept, UUID)
  },
}

async function chatsIn(place: string, isOne: RegExp) {
  const files = await filesBelow(place, LEVELS, isOne)
  return files.filter(({ path }) => basename(dirname(path)) === CHATS)
}

/** The file that has its messages: a load leaves empty ones beside it. */
async function firstOf(place: string, id: string): Promise<{ file: AgedFile; kept: Kept } | null> {
  if (!UUID.test(id)) return null
  for (const file of await newestFirst(
    await chatsIn(place, new RegExp(`-${id.slice(0, 8)}\\.jsonl$`, 'i')),
  )) {
    const kept = await keptIn(file).catch(() => null)
    if (kept?.id === id) return { file, kept }
  }
  return null
}

async function keptIn(file: AgedFile): Promise<Kept | null> {
  const cwd = await directoryOf(file)
  if (cwd === null) return null
  let id: string | null = null
  for await (const record of records(file.path, { most: HEAD_BYTES })) {
    id ??= asString(record.sessionId)
    if (record.kind !== undefined && record.kind !== 'main') return null
    const said = messagesIn(record).find((message) => message.by === 'user')
    const opening = said ? openingOf(said.text) : null
    if (id !== null && opening !== null) return { id, cwd, title: null, opening, updatedAt: file.updatedAt }
  }
  return null
}

async function directoryOf({ path }: AgedFile): Promise<string | null> {
  const text = await readFile(join(dirname(dirname(path)), '.project_root'), 'utf8').catch(() => '')
  const cwd = text.trim()
  return cwd.startsWith('/') && cwd.length < 4096 ? cwd : null
}

type NamedMessage = PastMessage & { id: string }

/** A record may set all messages anew, take some back, add one, or tell more about one. */
async function pastIn({ path, size }: AgedFile): Promise<Past> {
  const messages = new Map<string, PastMessage>()
  for await (const record of records(path, { most: PAST_BYTES, fromEnd: true })) {
    if (isObject(record.$set) && Array.isArray(record.$set.messages)) messages.clear()
    const rewound = asString(record.$rewindTo)
    if (rewound !== null) takeBack(messages, rewound)
    for (const { id, ...message } of messagesIn(record)) messages.set(id, message)
  }
  return { messages: [...messages.values()], isCut: size > PAST_BYTES }
}

function takeBack(messages: Map<string, PastMessage>, id: string): void {
  const ids = [...messages.keys()]
  const from = ids.indexOf(id)
  if (from >= 0) for (const one of ids.slice(from)) messages.delete(one)
}

function messagesIn(record: JsonObject): NamedMessage[] {
  const all = isObject(record.$set) ? asArray(record.$set.messages) : [record]
  return all.flatMap((one) => messageOf(asObject(one)) ?? [])
}

function messageOf({ id, type, content, displayContent, timestamp }: JsonObject): NamedMessage | null {
  const text = textIn(displayContent ?? content)
  if (typeof id !== 'string' || (type !== 'user' && type !== 'gemini') || text.trim() === '') return null
  // What Gemini says to its model in the user's name.
  if (type === 'user' && /^\s*<session_context>/.test(text)) return null
  return { id, by: type === 'user' ? 'user' : 'agent', text, at: timeIn(timestamp) }
}

function textIn(content: unknown): string {
  if (typeof content === 'string') return content
  const parts = Array.isArray(content) ? content : [content]
  return parts.map((part) => asString(typeof part === 'string' ? part : asObject(part).text) ?? '').join('')
}
