import { PICTURE_TYPES } from '../../core/content.ts'
import type { Block } from '../ask.ts'
import type { Field } from './fields.ts'

type Image = Extract<Block, { type: 'image' }>
type Document = Extract<Block, { type: 'document' }>

const DOCUMENT_TYPES = ['application/pdf', 'text/plain', 'text/markdown'] as const
const DATA_URL = /^data:([^;,]*)(?:;[^;,]*)*?;base64,/i

/** An image whose media type and bytes stand in two fields. */
export function imageOf(mediaType: Field, data: Field): Image {
  return { type: 'image', mediaType: mediaType.oneOf(...PICTURE_TYPES), data: base64(data) }
}

export function documentOf(mediaType: Field, data: Field, title: string | null): Document {
  const type = mediaType.oneOf(...DOCUMENT_TYPES)
  const bytes = base64(data)
  if (type !== 'application/pdf' && !isUtf8(bytes)) throw data.wrong('must be text in UTF-8')
  return { type: 'document', mediaType: type, data: bytes, title }
}

export function textDocument(text: string, title: string | null): Document {
  return { type: 'document', mediaType: 'text/plain', data: Buffer.from(text).toString('base64'), title }
}

/** An image in a `data:` URL. */
export function imageOfUrl(url: Field): Image {
  const [mediaType, data] = partsOf(url)
  return imageOf(mediaType, data)
}

/** A document in a `data:` URL. */
export function documentOfUrl(url: Field, title: string | null): Document {
  const [mediaType, data] = partsOf(url)
  return documentOf(mediaType, data, title)
}

/** Anything but a `data:` URL would have the daemon fetch what a stranger names, from inside the user's network. */
function partsOf(url: Field): [mediaType: Field, data: Field] {
  const text = url.filled()
  const head = DATA_URL.exec(text.slice(0, 256))
  if (!head) throw url.wrong('must be a data: URL in base64, since nothing is fetched from elsewhere')
  const mediaType = head[1]!.toLowerCase()
  // Not a registered type, and still what many write.
  return [url.as(mediaType === 'image/jpg' ? 'image/jpeg' : mediaType), url.as(text.slice(head[0].length))]
}

/** Buffer would skip over what is not base64; a client whose bytes were cut should be told. */
function base64(data: Field): string {
  const text = data.filled()
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) throw data.wrong('must be base64')
  return text
}

function isUtf8(data: string): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(data, 'base64'))
    return true
  } catch {
    return false
  }
}
