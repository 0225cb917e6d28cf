import { type Ask, attachmentOf, type Entry, listOf, understand } from './conversation.ts'

interface Block {
  type?: string
  text?: string
  content?: unknown
  source?: { type?: string; media_type?: string; data?: string }
}

export function readRequest(body: unknown): Ask {
  const request = (body ?? {}) as Record<string, unknown>
  const messages = listOf<{ role?: string; content?: unknown }>(request['messages'])
  const entries = [
    ...blocksOf(request['system']).map(systemEntry),
    ...messages.flatMap(({ role, content }): Entry[] => {
      if (role === 'assistant') return [{ by: 'model' }]
      return role === 'system' ? blocksOf(content).map(asideEntry) : blocksOf(content).flatMap(entriesOf)
    }),
  ]
  return {
    ...understand(entries, effortIn(request)),
    model: typeof request['model'] === 'string' ? request['model'] : 'scripted',
    stream: request['stream'] === true,
    tools: listOf<{ name?: string }>(request['tools']).map((tool) => tool.name ?? ''),
  }
}

/** What the user says while Claude is at work comes in Claude's own words around it. */
const STEERED =
  /^(?:<system-reminder>\n)?The user sent a new message while you were working:\n([^]*?)\n\nThis is how Claude Code/

function asideEntry(block: Block): Entry {
  return steered(block.text) ?? systemEntry(block)
}

function steered(text = ''): Entry | null {
  const [, said] = STEERED.exec(text) ?? []
  return said === undefined ? null : { by: 'user', text: said }
}

function systemEntry(block: Block): Entry {
  return { by: 'system', text: block.text ?? '' }
}

function entriesOf(block: Block): Entry[] {
  if (block.type === 'text') return [steered(block.text) ?? { by: 'user', text: block.text ?? '' }]
  if (block.type !== 'tool_result') return attachmentsIn(block)
  const parts = blocksOf(block.content)
  const text = parts.map((part) => part.text ?? '').join('\n')
  return [...parts.flatMap(attachmentsIn), { by: 'tool', text }]
}

function attachmentsIn({ type, source }: Block): Entry[] {
  if ((type !== 'image' && type !== 'document') || !source) return []
  const encoding = source.type === 'base64' ? 'base64' : 'utf8'
  return [attachmentOf(source.media_type ?? type, source.data ?? '', encoding)]
}

function blocksOf(content: unknown): Block[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content)
}

function effortIn({ thinking, output_config: output }: Record<string, unknown>): unknown {
  if ((thinking as { type?: unknown } | undefined)?.type === 'disabled') return 'off'
  return (output as { effort?: unknown } | undefined)?.effort
}
