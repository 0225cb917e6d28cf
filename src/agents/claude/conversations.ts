import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Holder, Past, PastMessage } from '../../core/adoption.ts'
import { startTime } from '../host/process.ts'
import { asArray, asNumber, asObject, asString, parsed, type JsonObject } from '../json.ts'
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

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const FILE = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\.jsonl$/i
const TITLE_BYTES = 64 * 1024
const TITLES = /"(?:custom-title|ai-title|summary|last-prompt)"/

/** One file for each conversation, in a folder for each directory; each line is a record that names the one before it. */
export const claudeConversations: ConversationStore = {
  place: (env) => join(configIn(env), 'projects'),
  async list(env, look) {
    const files = await newestFirst(await filesBelow(this.place(env), 1, FILE))
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
  async holders(env, processes) {
    const told = await toldHolders(join(configIn(env), 'sessions'))
    // Older versions do not write down what they have open.
    const silent = (await processes.of('claude')).filter(({ pid }) => !told.some((one) => one.pid === pid))
    return async (kept) => {
      const holder = told.find(({ id }) => id === kept.id)
      return holder ? { pid: holder.pid, certain: true, endedBy: null } : likelyHolder(silent, kept, UUID)
    }
  },
}

function configIn(env: NodeJS.ProcessEnv): string {
  return env.CLAUDE_CONFIG_DIR || join(homeIn(env), '.claude')
}

const idOf = ({ name }: { name: string }): string => basename(name, '.jsonl').toLowerCase()

async function fileOf(place: string, id: string): Promise<AgedFile | null> {
  if (!UUID.test(id)) return null
  const [file] = await newestFirst(await filesBelow(place, 1, new RegExp(`^${id}\\.jsonl$`, 'i')))
  return file ?? null
}

async function keptIn(file: AgedFile): Promise<Kept | null> {
  let cwd: string | null = null
  let opening: string | null = null
  let isSpoken = false
  for await (const record of records(file.path, { most: HEAD_BYTES })) {
    const text = promptIn(record)
    if (text !== null) {
      isSpoken = true
      opening = openingOf(text)
    }
    cwd ??= record.isSidechain === true ? null : asString(record.cwd)
    if (opening !== null && cwd !== null) break
  }
  const told = await toldIn(file)
  opening ??= told.prompt
  if (cwd === null || !cwd.startsWith('/') || (!isSpoken && opening === null)) return null
  return { id: idOf(file), cwd, title: told.title, opening, updatedAt: file.updatedAt }
}

/** What Claude has noted about the conversation, near its end. */
async function toldIn({ path }: AgedFile): Promise<{ title: string | null; prompt: string | null }> {
  const last: Record<string, string | null> = {}
  for await (const record of records(path, { most: TITLE_BYTES, fromEnd: true, only: TITLES })) {
    if (record.type === 'custom-title') last['custom'] = asString(record.customTitle)
    else if (record.type === 'ai-title') last['ai'] = asString(record.aiTitle)
    else if (record.type === 'summary') last['summary'] = asString(record.summary)
    else if (record.type === 'last-prompt') last['prompt'] = asString(record.lastPrompt)
  }
  const title = last['custom'] ?? last['ai'] ?? last['summary'] ?? null
  return { title: title && openingOf(title), prompt: openingOf(last['prompt'] ?? '') }
}

/** What Claude puts around the words of the user, or in their place. */
const WRAPPINGS =
  /<(system-reminder|local-command-[a-z]+|bash-[a-z]+|command-(?:message|contents))>[^]*?<\/\1>/g
const COMMAND = /<command-name>([^<]*)<\/command-name>/
const ARGUMENTS = /<command-args>([^]*?)<\/command-args>/
const INTERRUPTED = /^\[Request interrupted by user[^\]]*\]$/

/** The words of the user in a record; null: it has none. */
function promptIn({ type, isMeta, isSidechain, isCompactSummary, message }: JsonObject): string | null {
  if (type !== 'user' || isMeta === true || isSidechain === true || isCompactSummary === true) return null
  const text = textIn(asObject(message).content).replace(WRAPPINGS, '').trim()
  if (text === '' || INTERRUPTED.test(text)) return null
  const [, command] = COMMAND.exec(text) ?? []
  if (command === undefined) return text
  return `${command} ${ARGUMENTS.exec(text)?.[1] ?? ''}`.trim()
}

function textIn(content: unknown): string {
  if (typeof content === 'string') return content
  const texts = asArray(content).flatMap((block) => {
    const { type, text } = asObject(block)
    return type === 'text' && typeof text === 'string' ? [text] : []
  })
  return texts.join('\n')
}

interface Link {
  before: string | null
  /** The record that stands before it in the file. */
  above: string | null
  said: PastMessage | null
}

/** Records are a tree: what was taken back is a branch that the last one does not come from. */
async function pastIn({ path, size }: AgedFile): Promise<Past> {
  const links = new Map<string, Link>()
  let above: string | null = null
  let last: string | null = null
  for await (const record of records(path, { most: PAST_BYTES, fromEnd: true })) {
    const uuid = asString(record.uuid)
    if (uuid === null || record.isSidechain === true) continue
    const before = asString(record.parentUuid) ?? asString(record.logicalParentUuid)
    links.set(uuid, { before, above, said: saidIn(record) })
    if (record.type === 'user' || record.type === 'assistant') last = uuid
    above = uuid
  }
  const messages: PastMessage[] = []
  for (let at: string | null = last; at !== null;) {
    const link: Link | undefined = links.get(at)
    if (!link) break
    if (link.said) messages.push(link.said)
    links.delete(at)
    // One that could not be read is passed over.
    at = link.before !== null && !links.has(link.before) ? link.above : link.before
  }
  return { messages: messages.toReversed(), isCut: size > PAST_BYTES }
}

function saidIn(record: JsonObject): PastMessage | null {
  const at = timeIn(record.timestamp)
  if (record.type === 'user') {
    const text = promptIn(record)
    return text === null ? null : { by: 'user', text, at }
  }
  const { role, model, content } = asObject(record.message)
  if (record.type !== 'assistant' || role !== 'assistant' || model === '<synthetic>') return null
  return { by: 'agent', text: textIn(content), at }
}

/** So many processes are looked at, the last that said something. */
const MAX_PROCESSES = 500
const MAX_TOLD = 64 * 1024

/** Every Claude that runs says which conversation it has open. A process of the same number may be another one by now. */
async function toldHolders(directory: string): Promise<(Pick<Holder, 'pid'> & { id: string })[]> {
  const files = await filesBelow(directory, 0, /^\d+\.json$/).catch(() => [])
  const found = await Promise.all(
    (await newestFirst(files)).slice(0, MAX_PROCESSES).map(async ({ path, size }) => {
      const text = size > MAX_TOLD ? '' : await readFile(path, 'utf8').catch(() => '')
      const { pid, sessionId, procStart } = asObject(parsed(text))
      const number = asNumber(pid)
      const id = asString(sessionId)
      if (number === null || id === null) return null
      const started = startTime(number)
      const isIt =
        started !== null &&
        (process.platform !== 'linux' || [undefined, started].includes(asString(procStart) ?? undefined))
      return isIt ? { pid: number, id } : null
    }),
  )
  return found.filter((one) => one !== null)
}
