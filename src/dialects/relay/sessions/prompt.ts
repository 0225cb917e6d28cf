import type { Content } from '../../../core/content.ts'
import type { Block, Message, ResultBlock } from '../ask.ts'

/*
 * Agents take messages of the user's only. A conversation that an agent does not have is told to it as a transcript, in one
 * message that ends with what the user said last.
 */

const BEFORE = 'This is our conversation so far. Go on from its end; do not repeat or mention the transcript.'
const GO_ON = 'Go on with the results of the tools above.'

/** What the agent is told: all of it, or the part that is new to it. */
export function promptOf(messages: readonly Message[]): Content[] {
  const last = messages.at(-1)!
  if (messages.length === 1) return merged(last.content.flatMap(said))
  const isResult = last.content.some(({ type }) => type === 'tool_result')
  const past = isResult ? messages : messages.slice(0, -1)
  return merged([
    text(`${BEFORE}\n\n<transcript>`),
    ...past.flatMap(({ role, content }) => [text(`<${role}>`), ...content.flatMap(said), text(`</${role}>`)]),
    text('</transcript>\n'),
    ...(isResult ? [text(GO_ON)] : last.content.flatMap(said)),
  ])
}

function said(block: Block): Content[] {
  switch (block.type) {
    case 'text':
      return [text(block.text)]
    case 'image':
      return [{ type: 'image', mediaType: block.mediaType, data: block.data }]
    case 'document':
      return [document(block)]
    case 'tool_use':
      return [
        text(`<tool_call name="${block.name}" id="${block.id}">${JSON.stringify(block.input)}</tool_call>`),
      ]
    case 'tool_result': {
      const error = block.isError ? ' error="true"' : ''
      return [
        text(`<tool_result id="${block.toolUseId}"${error}>`),
        ...block.content.map(resultPart),
        text('</tool_result>'),
      ]
    }
    case 'thinking':
      return []
  }
}

/** A document that is text is told as text: every agent can read that. */
function document({ mediaType, data, title }: Block & { type: 'document' }): Content {
  if (mediaType === 'application/pdf') return { type: 'document', mediaType, data }
  const name = title === null ? '' : ` title="${title}"`
  return text(`<document${name}>\n${Buffer.from(data, 'base64').toString('utf8')}\n</document>`)
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
