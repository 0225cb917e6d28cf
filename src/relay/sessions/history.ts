import { createHash } from 'node:crypto'
import type { Ask, Block, Message } from '../ask.ts'

/** How much of a conversation an agent has, without the conversation itself: its length and a hash over it. */
export interface Known {
  count: number
  hash: string
}

export const NOTHING: Known = { count: 0, hash: '' }

/** The conversation, and these messages more. */
export function grown(known: Known, messages: readonly Message[]): Known {
  let { hash } = known
  for (const message of messages) hash = digest([hash, message.role, canonical(message.content)])
  return { count: known.count + messages.length, hash }
}

/** What of these messages is new to somebody who knows that much; null: they tell another story. */
export function newPart(known: Known, messages: readonly Message[]): Message[] | null {
  if (messages.length <= known.count) return null
  const told = grown(NOTHING, messages.slice(0, known.count))
  return told.hash === known.hash ? messages.slice(known.count) : null
}

/** What an agent is told before the conversation begins: another one needs another beginning. */
export function groundsOf({
  system,
  tools,
  toolChoice,
  json,
}: Pick<Ask, 'system' | 'tools' | 'toolChoice'> & { json?: Ask['json'] }): string {
  return digest([system, tools, toolChoice, ...(json ? [json] : [])])
}

/** The same whether a client keeps an answer as one text or as several, in one shape or the other, with thoughts or without. */
function canonical(content: readonly Block[]): unknown[] {
  const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('')
  return [text, ...content.filter(({ type }) => type !== 'text' && type !== 'thinking')]
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url')
}
