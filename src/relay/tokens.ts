import type { Ask, Block, Piece } from './ask.ts'

/*
 * An estimate, for when nobody has counted: four bytes to a token. What is not text is worth about what the models' makers
 * charge for it.
 */

export const BYTES_PER_TOKEN = 4
const IMAGE_BYTES = 1_600 * BYTES_PER_TOKEN
/** A page of 50 KB costs about 2,000 tokens. */
const PDF_SHRINKS = 6

/** All that the model is given: system prompt, messages, tools. */
export function inputTokens({ system, messages, tools }: Pick<Ask, 'system' | 'messages' | 'tools'>): number {
  const said = sum(messages.flatMap(({ content }) => content.map(blockBytes)))
  const offered = sum(
    tools.map(
      ({ name, description, inputSchema }) => bytes(name) + bytes(description) + jsonBytes(inputSchema),
    ),
  )
  return tokens(bytes(system ?? '') + said + offered)
}

/** The bytes of a part of an answer. */
export function pieceBytes(piece: Exclude<Piece, { type: 'end' }>): number {
  return piece.type === 'tool_use' ? blockBytes(piece) : bytes(piece.text)
}

export function tokens(count: number): number {
  return Math.ceil(count / BYTES_PER_TOKEN)
}

function blockBytes(block: Block): number {
  switch (block.type) {
    case 'text':
      return bytes(block.text)
    case 'image':
      return IMAGE_BYTES
    case 'document':
      return documentBytes(block)
    case 'tool_use':
      return bytes(block.name) + jsonBytes(block.input)
    case 'tool_result':
      return sum(block.content.map(blockBytes))
    case 'thinking':
      return 0
  }
}

function documentBytes({ mediaType, data, title }: Extract<Block, { type: 'document' }>): number {
  const size = Buffer.byteLength(data, 'base64')
  return bytes(title ?? '') + (mediaType === 'application/pdf' ? Math.ceil(size / PDF_SHRINKS) : size)
}

function jsonBytes(value: object): number {
  return bytes(JSON.stringify(value))
}

function bytes(text: string): number {
  return Buffer.byteLength(text)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
