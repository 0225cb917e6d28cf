import { isPictureType, type Picture } from '../core/content.ts'
import { asObject, asString } from './json.ts'

const MAX_IMAGES = 8
/** Characters of base64, of all images of a result. */
const MAX_DATA = 1024 ** 2

/**
 * The images of a tool's result, as Anthropic's API (`source`) and MCP (`mimeType`) write them. One that would be too much for the log is
 * left out; the text of the result says that it was there.
 */
export function imagesIn(blocks: readonly unknown[]): { images?: Picture[] } {
  const images: Picture[] = []
  let size = 0
  for (const block of blocks) {
    const image = imageOf(block)
    if (!image || images.length >= MAX_IMAGES || size + image.data.length > MAX_DATA) continue
    size += image.data.length
    images.push(image)
  }
  return images.length === 0 ? {} : { images }
}

function imageOf(block: unknown): Picture | null {
  const { type, source, data: ownData, mimeType } = asObject(block)
  if (type !== 'image') return null
  const { data = ownData, media_type: mediaType = mimeType } = asObject(source)
  const isShown = isPictureType(asString(mediaType) ?? '') && isBase64(data)
  return isShown ? { type: 'image', mediaType: String(mediaType), data: String(data) } : null
}

function isBase64(data: unknown): boolean {
  return typeof data === 'string' && data !== '' && /^[A-Za-z0-9+/]+={0,2}$/.test(data)
}
