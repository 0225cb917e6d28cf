import type { Block, ResultBlock } from '../../relay/ask.ts'
import { documentOf, imageOf, textDocument } from '../../relay/reading/attachments.ts'
import type { Field } from '../../relay/reading/fields.ts'
import { toolName } from '../../relay/reading/tools.ts'
import { MAX_BLOCKS, type Placed } from '../../relay/reading/turns.ts'

type Blocks = Placed['blocks']
type Document = Extract<Block, { type: 'document' }>
/** What can be put before a model. */
type Shown = ResultBlock | Document

/** What a user's message may have in it. */
export function userBlocks(field: Field): Blocks {
  const type = field.at('type').oneOf('text', 'image', 'document', 'search_result', 'tool_result')
  if (type !== 'tool_result') return shownBlocks(field, type).map((block) => ({ block, path: field.path }))
  return toolResult(field)
}

/** What an assistant's message may have in it. */
export function assistantBlocks(field: Field): Blocks {
  return [{ block: assistantBlock(field), path: field.path }]
}

export function textOf(field: Field): string {
  return field.at('text').text()
}

function assistantBlock(field: Field): Block {
  switch (field.at('type').oneOf('text', 'thinking', 'redacted_thinking', 'tool_use')) {
    case 'text':
      return { type: 'text', text: textOf(field) }
    case 'thinking':
      return { type: 'thinking', text: field.at('thinking').text() }
    case 'redacted_thinking':
      return { type: 'thinking', text: '' }
    case 'tool_use':
      return {
        type: 'tool_use',
        id: field.at('id').filled(),
        name: toolName(field.at('name')),
        input: field.at('input').object(),
      }
  }
}

function shownBlocks(field: Field, type: 'text' | 'image' | 'document' | 'search_result'): Shown[] {
  switch (type) {
    case 'text':
      return [{ type, text: textOf(field) }]
    case 'image':
      return [image(field)]
    case 'document':
      return documentBlocks(field)
    case 'search_result':
      return [searchResult(field)]
  }
}

function image(field: Field): Shown {
  const source = field.at('source')
  checkInline(source, ['base64'])
  return imageOf(source.at('media_type'), source.at('data'))
}

function documentBlocks(field: Field): Shown[] {
  const source = field.at('source')
  const title = field.at('title').maybe((given) => given.text()) ?? null
  switch (checkInline(source, ['base64', 'text', 'content'])) {
    case 'base64':
      return [documentOf(source.at('media_type'), source.at('data'), title)]
    case 'text':
      source.at('media_type').oneOf('text/plain')
      return [textDocument(source.at('data').filled(), title)]
    case 'content':
      return contentBlocks(source.at('content'), title)
  }
}

/** A document that is given in blocks is those blocks. */
function contentBlocks(content: Field, title: string | null): Shown[] {
  if (typeof content.value === 'string') return [textDocument(content.filled(), title)]
  return content
    .items(MAX_BLOCKS)
    .flatMap((block) => shownBlocks(block, block.at('type').oneOf('text', 'image')))
}

/** What stands elsewhere is not fetched: the daemon is inside the user's network, and who asks may not be. */
function checkInline<T extends string>(source: Field, types: readonly T[]): T {
  source.object()
  const type = source.at('type')
  const word = type.text()
  if (word === 'url' || word === 'file') {
    throw type.wrong(`must not be \`${word}\`: nothing is fetched from elsewhere, send the bytes`)
  }
  return type.oneOf(...types)
}

function searchResult(field: Field): Shown {
  const texts = field
    .at('content')
    .items(MAX_BLOCKS)
    .map((block) => textOf(block))
  return {
    type: 'text',
    text: [field.at('title').text(), field.at('source').text(), ...texts].join('\n'),
  }
}

/** Agents take texts and images from their tools. Another document comes right after the result that it belongs to. */
function toolResult(field: Field): Blocks {
  const id = field.at('tool_use_id')
  const given = resultBlocks(field.at('content'))
  const block: Block = {
    type: 'tool_result',
    toolUseId: id.filled(),
    content: given.map((one) => (one.type === 'document' ? { type: 'text', text: FOLLOWS } : one)),
    isError: field.at('is_error').flag(),
  }
  const documents = given.filter((one) => one.type === 'document')
  return [{ block, path: id.path }, ...documents.map((one) => ({ block: one, path: field.path }))]
}

const FOLLOWS = '(a document, see below)'

function resultBlocks(content: Field): Shown[] {
  if (!content.given) return []
  if (typeof content.value === 'string') return [{ type: 'text', text: content.value }]
  return content.items(MAX_BLOCKS).flatMap((field) => {
    const type = field.at('type').oneOf('text', 'image', 'document', 'search_result')
    return shownBlocks(field, type).map(asText)
  })
}

/** A document that is a text, as its text. */
function asText(block: Shown): Shown {
  if (block.type !== 'document' || block.mediaType === 'application/pdf') return block
  return { type: 'text', text: Buffer.from(block.data, 'base64').toString() }
}
