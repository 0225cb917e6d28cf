import type { Block, JsonObject } from '../../relay/ask.ts'
import { documentOfUrl, imageOfUrl } from '../../relay/reading/attachments.ts'
import { checkDepth, type Field, isObject } from '../../relay/reading/fields.ts'
import { toolName } from '../../relay/reading/tools.ts'
import { MAX_BLOCKS, type Placed } from '../../relay/reading/turns.ts'
import { customInput } from './custom.ts'

type Blocks = Placed['blocks']

/** A message of the conversation. Results of tools are the user's, so that those of one turn come together. */
export function placedOf(message: Field): Placed {
  message.object()
  const role = message.at('role').oneOf('user', 'assistant', 'tool')
  const blocks = blocksOf(message, role).filter(({ block }) => block.type !== 'text' || block.text !== '')
  // A model that had nothing to say was not wrong; a user who says nothing is.
  if (blocks.length === 0 && role === 'user') throw message.at('content').wrong('must not be empty')
  return { role: role === 'assistant' ? role : 'user', path: message.path, blocks }
}

/** A text, or the texts of its parts. */
export function textsOf(content: Field): string[] {
  if (typeof content.value === 'string') return [content.value]
  return content.items(MAX_BLOCKS).map((part) => {
    const type = part.at('type').oneOf('text', 'refusal')
    return part.at(type).text()
  })
}

function blocksOf(message: Field, role: 'user' | 'assistant' | 'tool'): Blocks {
  const content = message.at('content')
  switch (role) {
    case 'user':
      if (typeof content.value === 'string') return textBlocks(content)
      return content.items(MAX_BLOCKS).map((part) => ({ block: userBlock(part), path: part.path }))
    case 'assistant':
      return [...(content.maybe(textBlocks) ?? []), ...callsOf(message)]
    case 'tool':
      return [toolResult(message)]
  }
}

function textBlocks(content: Field): Blocks {
  return textsOf(content).map((text) => ({ block: { type: 'text', text }, path: content.path }))
}

function userBlock(part: Field): Block {
  switch (part.at('type').oneOf('text', 'image_url', 'file')) {
    case 'text':
      return { type: 'text', text: part.at('text').text() }
    case 'image_url':
      return imageOfUrl(part.at('image_url').at('url'))
    case 'file': {
      const file = part.at('file')
      if (file.at('file_id').given) throw file.at('file_id').wrong('is not supported: send `file_data`')
      const name = file.at('filename').maybe((field) => field.text()) ?? null
      return documentOfUrl(file.at('file_data'), name)
    }
  }
}

function callsOf(message: Field): Blocks {
  for (const name of ['function_call', 'audio']) {
    if (message.at(name).given) throw message.at(name).wrong('is not supported')
  }
  return message.at('tool_calls').maybe((calls) => calls.items(MAX_BLOCKS).map(callOf)) ?? []
}

function callOf(call: Field): Blocks[number] {
  const type = call.at('type').oneOf('function', 'custom')
  const called = call.at(type)
  const block: Block = {
    type: 'tool_use',
    id: call.at('id').filled(),
    name: toolName(called.at('name')),
    input: type === 'custom' ? customInput(called.at('input').text()) : argumentsOf(called.at('arguments')),
  }
  return { block, path: call.path }
}

/** Some models write nothing at all for a function without parameters. */
function argumentsOf(field: Field): JsonObject {
  const text = field.text()
  if (text.trim() === '') return {}
  const value = parsed(text)
  if (!isObject(value)) throw field.wrong('must be the JSON of an object')
  checkDepth(field.as(value))
  return value
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

function toolResult(message: Field): Blocks[number] {
  const id = message.at('tool_call_id')
  const content = textsOf(message.at('content')).map((text) => ({ type: 'text' as const, text }))
  const block: Block = { type: 'tool_result', toolUseId: id.filled(), content, isError: false }
  return { block, path: id.path }
}
