import { type Attachment, type Facts, rememberedIn, type Said } from '../../../src/agents/demo/script.ts'

/** What a Messages API request says, as the script language sees it. */
export interface MessagesRequest {
  model: string
  stream: boolean
  said: Said[]
  facts: Facts
}

interface Block {
  type?: string
  text?: string
  content?: unknown
  source?: { type?: string; media_type?: string; data?: string }
}

/** What agents wrap around the user's own words. */
const WRAPPINGS = /<(system-reminder|local-command-[a-z]+|command-[a-z]+)>[^]*?<\/\1>/g
const INTERRUPTED = /^\s*\[Request interrupted by user[^\]]*\]\s*$/

export function readRequest(body: unknown): MessagesRequest {
  const request = (body ?? {}) as { model?: unknown; stream?: unknown; system?: unknown; messages?: unknown }
  const messages = (Array.isArray(request.messages) ? request.messages : []) as {
    role?: string
    content?: unknown
  }[]
  const system = blocksOf(request.system).map(textOfBlock)
  const attachments: Attachment[] = []
  let remembered: string | null = null
  let said: Said[] = []
  for (const message of messages) {
    const blocks = blocksOf(message.content)
    if (message.role === 'system') {
      system.push(...blocks.map(textOfBlock))
      continue
    }
    attachments.push(...attachmentsIn(blocks))
    for (const one of blocks.flatMap(saidIn)) {
      remembered = rememberedIn(one.text) ?? remembered
      said = INTERRUPTED.test(one.text) ? [] : [...said, one]
    }
    if (message.role === 'assistant') said = []
  }
  return {
    model: typeof request.model === 'string' ? request.model : 'scripted',
    stream: request.stream === true,
    said,
    facts: { system, remembered, attachments, directory: directoryIn(system) },
  }
}

/** The agent states its directory in a system prompt; the last statement holds. */
function directoryIn(system: string[]): string | null {
  const stated = system.flatMap((text) =>
    Array.from(text.matchAll(/(?:Primary w|W)orking directory: (\/.*)/g)),
  )
  return stated.at(-1)?.[1]?.trim() ?? null
}

function saidIn(block: Block): Said[] {
  const by = block.type === 'tool_result' ? 'tool' : 'user'
  if (by === 'user' && block.type !== 'text') return []
  const text = textOfBlock(block).replaceAll(WRAPPINGS, '').trim()
  return by === 'user' && text === '' ? [] : [{ by, text }]
}

function textOfBlock(block: Block): string {
  if (block.type !== 'tool_result') return block.text ?? ''
  return blocksOf(block.content).map(textOfBlock).join('\n')
}

function attachmentsIn(blocks: Block[]): Attachment[] {
  return blocks.flatMap((block) => {
    if (block.type === 'tool_result') return attachmentsIn(blocksOf(block.content))
    if ((block.type !== 'image' && block.type !== 'document') || !block.source) return []
    const { type, media_type: mediaType = block.type, data = '' } = block.source
    return [{ mediaType, bytes: Buffer.byteLength(data, type === 'base64' ? 'base64' : 'utf8') }]
  })
}

function blocksOf(content: unknown): Block[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return Array.isArray(content) ? (content as Block[]) : []
}
