import { join } from 'node:path'
import type { Past, PastMessage } from '../../core/adoption.ts'
import { asArray, asCount, asObject, asString, type JsonObject } from '../json.ts'
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
import { homeIn } from '../signed-in.ts'
import type { ConversationStore, Kept } from '../store.ts'

const FILE = /^rollout-.*-([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.jsonl$/i
/** Folders for the year, the month and the day. */
const LEVELS = 3

/** One file for each conversation; its first line says where it is, and the others what has happened. */
export const codexConversations: ConversationStore = {
  place: (env) => join(codexHome(env), 'sessions'),
  async list(env, look) {
    const files = await newestFirst(await filesBelow(this.place(env), LEVELS, FILE))
    return listFiles(files, look, idOf, keptIn)
  },
  async find(env, id) {
    const file = await fileOf(this.place(env), id)
    return file && keptIn(file)
  },
  async past(env, id) {
    const file = await fileOf(this.place(env), id)
    return file ? pastIn(file) : { messages: [], isCut: false }
  },
  /**
   * Who has a conversation open holds a lock for it; older versions hold the file itself. What is begun on its screen runs in a process
   * in the background, which keeps it open when its user has left.
   */
  async holders(_, processes) {
    const programs = await Promise.all(
      (await processes.of('codex')).map(async ({ pid, args }) => ({
        files: await processes.openFiles(pid),
        pid,
        endedBy: args.includes('--managed-daemon') ? 'codex app-server daemon stop' : null,
      })),
    )
    return async ({ id }) => {
      const isHeld = (path: string): boolean =>
        path.endsWith(`/thread-writer-locks/${id}.lock`) ||
        (path.endsWith(`-${id}.jsonl`) && FILE.test(path.slice(path.lastIndexOf('/') + 1)))
      const holder = programs.find(({ files }) => files.some(isHeld))
      return holder ? { pid: holder.pid, certain: true, endedBy: holder.endedBy } : null
    }
  },
}

function codexHome(env: NodeJS.ProcessEnv): string {
  return env.CODEX_HOME || join(homeIn(env), '.codex')
}

const idOf = ({ name }: { name: string }): string => FILE.exec(name)![1]!.toLowerCase()

async function fileOf(place: string, id: string): Promise<AgedFile | null> {
  const files = (await filesBelow(place, LEVELS, FILE)).filter((file) => idOf(file) === id.toLowerCase())
  return (await newestFirst(files))[0] ?? null
}

async function keptIn(file: AgedFile): Promise<Kept | null> {
  let cwd: string | null = null
  let opening: string | null = null
  for await (const record of records(file.path, { most: HEAD_BYTES })) {
    if (record.type === 'session_meta' && cwd === null) {
      const meta = asObject(record.payload)
      // What a sub-agent does belongs to whoever runs it.
      if (asString(meta.id)?.toLowerCase() !== idOf(file) || typeof meta.source === 'object') return null
      cwd = asString(meta.cwd)
    }
    const said = saidIn(record) ?? shownIn(record)
    if (said?.by === 'user') opening = openingOf(said.text)
    if (cwd !== null && opening !== null) break
  }
  if (cwd === null || !cwd.startsWith('/') || opening === null) return null
  return { id: idOf(file), cwd, title: null, opening, updatedAt: file.updatedAt }
}

async function pastIn({ path, size }: AgedFile): Promise<Past> {
  let messages: PastMessage[] = []
  const shown: PastMessage[] = []
  for await (const record of records(path, { most: PAST_BYTES, fromEnd: true })) {
    const said = saidIn(record)
    if (said) messages.push(said)
    const model = shownIn(record)
    if (model) shown.push(model)
    const taken = takenBack(record)
    if (taken > 0) messages = withoutLast(messages, taken)
  }
  const isCut = size > PAST_BYTES
  return { messages: messages.some(({ by }) => by === 'user') ? messages : shown, isCut }
}

/** What people have seen: in the events of newer versions, and of older ones. */
function saidIn({ type, payload, timestamp }: JsonObject): PastMessage | null {
  if (type !== 'event_msg') return null
  const event = asObject(payload)
  const at = timeIn(timestamp)
  if (event.type === 'user_message') return message('user', asString(event.message), at)
  if (event.type === 'agent_message') return message('agent', asString(event.message), at)
  if (event.type !== 'item_completed') return null
  const { type: kind, content } = asObject(event.item)
  if (kind === 'UserMessage') return message('user', textIn(content), at)
  return kind === 'AgentMessage' ? message('agent', textIn(content), at) : null
}

/** What the model was shown, for conversations without such events; Codex's own words to it are not the user's. */
function shownIn({ type, payload, timestamp }: JsonObject): PastMessage | null {
  const item = asObject(payload)
  if (type !== 'response_item' || item.type !== 'message') return null
  const text = textIn(item.content)
  if (item.role === 'assistant') return message('agent', text, timeIn(timestamp))
  const isOwn = item.role !== 'user' || /^\s*(?:<[a-z_]+>|# AGENTS\.md instructions)/.test(text)
  return isOwn ? null : message('user', text, timeIn(timestamp))
}

function message(by: PastMessage['by'], text: string | null, at: number | null): PastMessage | null {
  return text === null || text === '' ? null : { by, text, at }
}

function textIn(content: unknown): string {
  const texts = asArray(content).flatMap((part) => {
    const { text } = asObject(part)
    return typeof text === 'string' ? [text] : []
  })
  return texts.join('\n')
}

/** How many turns the user has taken back. */
function takenBack({ type, payload }: JsonObject): number {
  const { type: kind, num_turns: turns } = asObject(payload)
  return type === 'event_msg' && kind === 'thread_rolled_back' ? asCount(turns) : 0
}

function withoutLast(messages: readonly PastMessage[], turns: number): PastMessage[] {
  const starts = messages.flatMap(({ by }, index) => (by === 'user' ? [index] : []))
  return messages.slice(0, starts.at(-turns) ?? 0)
}
