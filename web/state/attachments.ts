import { isPictureType, type Content } from '../../src/core/content.ts'

/** A picture that goes with the next message. */
export interface Attachment {
  readonly id: number
  readonly name: string
  readonly mediaType: string
  /** Base64. */
  readonly data: string
}

const MAX_ATTACHMENTS = 10
/** Of all pictures of a message, in base64: with its text it has to fit into one request. */
const MAX_ALL = 14_000_000
/** Of one picture as it is sent; agents refuse larger ones. */
const MAX_BYTES = 4_500_000
/** Larger than this it is made smaller first, if it can be. */
const FINE_BYTES = 1_500_000
const MAX_SIDE = 2000

let last = 0

/** Reads a picture that somebody has pasted or dropped. Throws what is wrong with it, for the person. */
export async function attachmentOf(file: File): Promise<Attachment> {
  const name = file.name || 'picture'
  if (!isPictureType(file.type))
    throw new Error(`${name} is no picture that an agent can see (PNG, JPEG, GIF or WebP).`)
  const picture = file.size > FINE_BYTES && file.type !== 'image/gif' ? await smaller(file) : file
  if (picture.size > MAX_BYTES)
    throw new Error(`${name} is too large: a picture may have ${MAX_BYTES / 1e6} MB.`)
  return { id: ++last, name, mediaType: picture.type, data: await base64Of(picture) }
}

/** Why a picture cannot go with those that there are; null: it can. */
export function obstacleTo(one: Attachment, others: readonly Attachment[]): string | null {
  if (others.length >= MAX_ATTACHMENTS) return `A message may have ${MAX_ATTACHMENTS} pictures.`
  const size = [one, ...others].reduce((sum, { data }) => sum + data.length, 0)
  if (size <= MAX_ALL) return null
  return `${one.name} was left out: the pictures of a message may have ${(MAX_ALL * 0.75) / 1e6} MB together.`
}

export function contentOf(text: string, attachments: readonly Attachment[]): Content[] {
  const images = attachments.map(({ mediaType, data }): Content => ({ type: 'image', mediaType, data }))
  return text === '' ? images : [{ type: 'text', text }, ...images]
}

/** With fewer pixels; as it is where the browser cannot do that. */
async function smaller(file: File): Promise<Blob> {
  try {
    const bitmap = await createImageBitmap(file)
    const scale = Math.min(1, MAX_SIDE / Math.max(bitmap.width, bitmap.height))
    const canvas = document.createElement('canvas')
    canvas.width = Math.round(bitmap.width * scale)
    canvas.height = Math.round(bitmap.height * scale)
    canvas.getContext('2d')!.drawImage(bitmap, 0, 0, canvas.width, canvas.height)
    const made = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/jpeg', 0.85))
    return made && made.size < file.size ? made : file
  } catch {
    return file
  }
}

function base64Of(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener('load', () => resolve(String(reader.result).replace(/^[^,]*,/, '')))
    reader.addEventListener('error', () => reject(new Error('The picture could not be read.')))
    reader.readAsDataURL(blob)
  })
}
