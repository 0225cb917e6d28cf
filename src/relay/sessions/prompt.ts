import { createHash } from 'node:crypto'
import type { Content } from '../../core/content.ts'
import type { Block, Message, ResultBlock } from '../ask.ts'

/*
 * Agents take messages of the user's only. A conversation that an agent does not have is told to it as a transcript, in one
 * message that ends with what the user said last.
 */

const BEFORE = 'This is our conversation so far. Go on from its end; do not repeat or mention the transcript.'
const GO_ON = 'Go on with the results of the tools above.'

const MARKS = /<\/?(?:transcript|user|assistant|tool_call|tool_result|document)\b/

/** What the agent is told: all of it, or the part that is new to it. */
export function promptOf(messages: readonly Message[]): Content[] {
  const last = messages.at(-1)!
  const end = endingFor(messages)
  const tell = ({ content }: Message): Content[] => content.flatMap((block) => said(block, end))
  if (messages.length === 1) return merged(tell(last))
  const isResult = last.content.some(({ type }) => type === 'tool_result')
  const past = isResult ? messages : messages.slice(0, -1)
  return merged([
    text(`${BEFORE}\n\n<transcript${end}>`),
    ...past.flatMap((message) => [
      text(`<${message.role}${end}>`),
      ...tell(message),
      text(`</${message.role}${end}>`),
    ]),
    text(`</transcript${end}>\n`),
    ...(isResult ? [text(GO_ON)] : tell(last)),
  ])
}

/**
 * What a tool has found may look like the marks of a transcript, and then speak for the user. Where anything does, the
 * real marks end with a hash over all that was said, which nobody can have written into it.
 */
function endingFor(messages: readonly Message[]): string {
  const all = JSON.stringify(messages.map(({ content }) => content.map(readable)))
  return MARKS.test(all) ? `-${createHash('sha256').update(all).digest('hex').slice(0, 16)}` : ''
}

/** As far as it is told as text. */
function readable(block: Block): unknown {
  return block.type === 'document' ? [block.title, decoded(block.data)] : block
}

function said(block: Block, end: string): Content[] {
  switch (block.type) {
    case 'text':
      return [text(block.text)]
    case 'image':
      return [{ type: 'image', mediaType: block.mediaType, data: block.data }]
    case 'document':
      return [document(block, end)]
    case 'tool_use': {
      const { name, id, input } = block
      return [text(`<tool_call${end} name="${name}" id="${id}">${JSON.stringify(input)}</tool_call${end}>`)]
    }
    case 'tool_result': {
      const error = block.isError ? ' error="true"' : ''
      return [
        text(`<tool_result${end} id="${block.toolUseId}"${error}>`),
        ...block.content.map(resultPart),
        text(`</tool_result${end}>`),
      ]
    }
    case 'thinking':
      return []
  }
}

/** A document that is text is told as text: every agent can read that. */
function document({ mediaType, data, title }: Block & { type: 'document' }, end: string): Content {
  if (mediaType === 'application/pdf') return { type: 'document', mediaType, data }
  const name = title === null ? '' : ` title=${JSON.stringify(title)}`
  return text(`<document${end}${name}>\n${decoded(data)}\n</document${end}>`)
}

function decoded(data: string): string {
  return Buffer.from(data, 'base64').toString('utf8')
}

/** What a tool has come to, as the agent gets it. */
export function resultPart(block: ResultBlock): Content {
  return block.type === 'text'
    ? text(block.text)
    : { type: 'image', mediaType: block.mediaType, data: block.data }
}

function text(said: string): Content {
  return { type: 'text', text: said }
}

function merged(content: readonly Content[]): Content[] {
  const parts: Content[] = []
  for (const part of content) {
    const last = parts.at(-1)
    if (part.type === 'text' && last?.type === 'text') {
      parts[parts.length - 1] = text(`${last.text}\n${part.text}`)
    } else parts.push(part)
  }
  return parts
}
