import { withResults } from '../reading/turns.ts'
import type { Ask, Block, JsonObject, Message, ToolChoice } from '../ask.ts'
import { systemOf } from '../json/structured.ts'

/** OpenAI's API takes no more. The relay itself minds all of them. */
const MAX_STOPS = 4

/** Models that think first have another name for the limit, and refuse the old one. */
const THINKS_FIRST = /^(o\d|gpt-5)/

/** A call of the other shape in the words of this one. */
export function openaiBody(ask: Ask, model: string): JsonObject {
  const { temperature, top_p: topP } = ask.body.json
  const said = systemOf(ask)
  const system = said === null ? [] : [{ role: 'system', content: said }]
  return {
    messages: [...system, ...withResults(ask.messages).flatMap(messagesOf)],
    [THINKS_FIRST.test(model) ? 'max_completion_tokens' : 'max_tokens']: ask.maxTokens,
    ...(ask.stopSequences.length > 0 && { stop: ask.stopSequences.slice(0, MAX_STOPS) }),
    ...(ask.tools.length > 0 && { tools: ask.tools.map(toolOf), tool_choice: choiceOf(ask.toolChoice) }),
    ...(typeof temperature === 'number' && { temperature }),
    ...(typeof topP === 'number' && { top_p: topP }),
  }
}

function toolOf({ name, description, inputSchema }: Ask['tools'][number]): JsonObject {
  return { type: 'function', function: { name, description, parameters: inputSchema } }
}

function choiceOf(choice: ToolChoice): unknown {
  if (choice.type === 'tool') return { type: 'function', function: { name: choice.name } }
  return choice.type === 'any' ? 'required' : choice.type
}

function messagesOf(message: Message): JsonObject[] {
  return message.role === 'assistant' ? assistantOf(message.content) : userOf(message.content)
}

function assistantOf(blocks: Block[]): JsonObject[] {
  const text = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('')
  const calls = blocks.flatMap((block) => (block.type === 'tool_use' ? [callOf(block)] : []))
  if (text === '' && calls.length === 0) return []
  const content = text === '' ? null : text
  return [{ role: 'assistant', content, ...(calls.length > 0 && { tool_calls: calls }) }]
}

function callOf({ id, name, input }: Extract<Block, { type: 'tool_use' }>): JsonObject {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(input) } }
}

/** Results come first, right behind the calls; what a result shows besides texts goes into the message after them. */
function userOf(blocks: Block[]): JsonObject[] {
  const results = blocks.filter((block) => block.type === 'tool_result')
  const parts = [
    ...results.flatMap(({ content }) => content.filter((part) => part.type === 'image')),
    ...blocks.filter((block) => block.type !== 'tool_result'),
  ].flatMap(partOf)
  const only = parts.length === 1 && parts[0]!['type'] === 'text' ? parts[0]!['text'] : parts
  return [...results.map(resultOf), ...(parts.length > 0 ? [{ role: 'user', content: only }] : [])]
}

function resultOf({ toolUseId, content, isError }: Extract<Block, { type: 'tool_result' }>): JsonObject {
  const text = content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  return { role: 'tool', tool_call_id: toolUseId, content: isError ? `Error: ${text}` : text }
}

function partOf(block: Block): JsonObject[] {
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: block.text }]
    case 'image':
      return [{ type: 'image_url', image_url: { url: `data:${block.mediaType};base64,${block.data}` } }]
    case 'document':
      return [documentOf(block)]
    default:
      return []
  }
}

function documentOf({ mediaType, data, title }: Extract<Block, { type: 'document' }>): JsonObject {
  if (mediaType.startsWith('text/')) {
    const text = Buffer.from(data, 'base64').toString('utf8')
    return { type: 'text', text: title === null ? text : `${title}\n\n${text}` }
  }
  const file = { filename: title ?? 'document.pdf', file_data: `data:${mediaType};base64,${data}` }
  return { type: 'file', file }
}
