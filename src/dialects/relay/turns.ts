import type { Block, Message } from './ask.ts'
import { Field } from './fields.ts'

/** It is kept with every record of a call. */
export const MAX_MODEL = 256
export const MAX_MESSAGES = 10_000
export const MAX_BLOCKS = 10_000

/** A message of the body, with the place of each block: for a tool's result, the place of the id that it names. */
export interface Placed {
  role: Message['role']
  path: string
  blocks: { block: Block; path: string }[]
}

/** The conversation, or why it is none. Neighbours of the same role are one turn, as everywhere else. */
export function turnsOf(messages: readonly Placed[]): Message[] {
  if (messages.length === 0) throw new Field(messages, 'messages').wrong('must not be empty')
  const last = messages.at(-1)!
  if (last.role === 'assistant') {
    throw new Field(last, last.path).wrong(
      'must be a message of the user: an answer cannot be begun for the model',
    )
  }
  checkCalls(messages)
  const turns: Message[] = []
  for (const { role, blocks } of messages) {
    if (blocks.length === 0) continue
    const content = blocks.map(({ block }) => block)
    const before = turns.at(-1)
    if (before?.role === role) before.content.push(...content)
    else turns.push({ role, content })
  }
  return turns
}

/** Every call has one result, in the turn that follows it; every result has its call in the turn before. */
function checkCalls(messages: readonly Placed[]): void {
  const seen = new Set<string>()
  const waiting = new Map<string, string>()
  let role: Message['role'] | null = null
  for (const message of messages) {
    if (message.role === 'assistant' && role === 'user') checkAnswered(waiting)
    for (const { block, path } of message.blocks) {
      if (block.type === 'tool_use') {
        if (seen.has(block.id))
          throw new Field(block, path).wrong(`has the id of another call: ${shown(block.id)}`)
        seen.add(block.id)
        waiting.set(block.id, path)
      } else if (block.type === 'tool_result' && !waiting.delete(block.toolUseId)) {
        const id = shown(block.toolUseId)
        throw new Field(block, path).wrong(`names no unanswered tool call of the message before: ${id}`)
      }
    }
    role = message.role
  }
  checkAnswered(waiting)
}

function checkAnswered(waiting: ReadonlyMap<string, string>): void {
  const [call] = waiting
  if (!call) return
  const [id, path] = call
  throw new Field(id, path).wrong(`is a tool call without a result in the message after it: ${shown(id)}`)
}

function shown(id: string): string {
  return JSON.stringify(id.slice(0, 100))
}
