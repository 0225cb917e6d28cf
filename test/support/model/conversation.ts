import { type Attachment, type Facts, rememberedIn, type Utterance } from '../../../src/agents/demo/script.ts'

/** A piece of a conversation, in its order, in no API's form. */
export type Entry =
  | { by: 'system' | 'tool'; text: string }
  | {
      by: 'user'
      text: string
      /** Which message it is of, where a new one means that the one before it was given up and not answered. */
      message?: number
    }
  | { by: 'model' }
  | { by: 'attachment'; attachment: Attachment }

/** What a request says, as the script language sees it. */
export interface Ask {
  model: string
  stream: boolean
  said: Utterance[]
  facts: Facts
  /** Names of the tools that the agent offers in this request. */
  tools: readonly string[]
  /** Not what a tokeniser would say, but the same every time. */
  tokens: number
}

/** What agents wrap around the user's own words. */
const WRAPPINGS =
  /(?:# AGENTS\.md instructions[^\n]*\s+)?<(system-reminder|local-command-[a-z]+|command-[a-z]+|environment_context|session_context|INSTRUCTIONS)>[^]*?<\/\1>/g
const CONTEXTS = /<(environment_context|session_context)>[^]*?<\/\1>/g
const INTERRUPTED = /^(?:\[Request interrupted by user[^\]]*\]|<turn_aborted>[^]*<\/turn_aborted>)$/
const DIRECTORY =
  /(?:(?:Primary w|W)orking directory: |<cwd>|\*\*Workspace Directories:\*\*\s+- )(\/[^<\n]*)/g

/** `effort`: how long the model is to think, as the request says it. */
export function understand(
  entries: readonly Entry[],
  effort: unknown = null,
): Pick<Ask, 'said' | 'facts' | 'tokens'> {
  const system: string[] = []
  const attachments: Attachment[] = []
  const contexts: string[] = []
  let remembered: string | null = null
  let said: Utterance[] = []
  let message: number | undefined
  const hear = (by: Utterance['by'], text: string) => {
    remembered = rememberedIn(text) ?? remembered
    said.push({ by, text })
  }
  for (const entry of entries) {
    switch (entry.by) {
      case 'model':
        said = []
        break
      case 'attachment':
        attachments.push(entry.attachment)
        break
      case 'system':
        system.push(entry.text)
        break
      case 'tool':
        hear('tool', ownWords(entry.text))
        break
      case 'user': {
        contexts.push(...(entry.text.match(CONTEXTS) ?? []))
        const text = ownWords(entry.text)
        if (text === '') break
        const interrupted = INTERRUPTED.test(text)
        if (interrupted || entry.message !== message) said = []
        message = entry.message
        if (!interrupted) hear('user', text)
      }
    }
  }
  const chars = said.reduce((sum, one) => sum + one.text.length, 0)
  const directory = directoryIn([...system, ...contexts])
  const facts = {
    system,
    effort: typeof effort === 'string' ? effort : null,
    remembered,
    attachments,
    directory,
  }
  return { said, facts, tokens: Math.max(1, Math.ceil(chars / 4)) }
}

function ownWords(text: string): string {
  return text.replaceAll(WRAPPINGS, '').trim()
}

/** Every agent states its directory somewhere, maybe with the one before it; the last statement holds. */
function directoryIn(stated: readonly string[]): string | null {
  const found = stated.flatMap((text) => Array.from(text.matchAll(DIRECTORY)))
  return (
    found
      .at(-1)?.[1]
      ?.replace(/ \(was .*\)\s*$/, '')
      .trim() ?? null
  )
}

/** What a data URL holds; nothing when it is another kind of address. */
export function attachmentIn(url: string | undefined): Entry[] {
  const [, mediaType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url ?? '') ?? []
  return mediaType === undefined ? [] : [attachmentOf(mediaType, data!)]
}

export function attachmentOf(mediaType: string, data: string, encoding: 'base64' | 'utf8' = 'base64'): Entry {
  return { by: 'attachment', attachment: { mediaType, bytes: Buffer.byteLength(data, encoding) } }
}

/** A list, or none when a request has something else in its place. */
export function listOf<T>(value: unknown): T[] {
  return Array.isArray(value) ? (value as T[]) : []
}
