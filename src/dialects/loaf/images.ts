import { readFile, stat } from 'node:fs/promises'
import { basename, extname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Content } from '../../core/content.ts'

const LIMIT = 8 * 1024 ** 2
/** Of a message, as it goes to the daemon, which takes 32 MiB: text, and images in base64. */
const MESSAGE_LIMIT = 30 * 1024 ** 2
const MAX_IMAGES = 99
const TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
}
const KINDS = 'png, jpg, jpeg, webp or gif'

export interface ImageInput {
  path: string | undefined
  dataUrl: string | undefined
  mimeType: string | undefined
}

export interface Image {
  path: string
  content: Extract<Content, { type: 'image' }>
}

/** Rows that name neither a file nor data are dropped, and what is no list is no images. */
export function imageInputs(rows: unknown): ImageInput[] {
  if (!Array.isArray(rows)) return []
  return rows
    .map((row: unknown): ImageInput => {
      const { path, data_url, dataUrl, mime_type, mimeType } = (row ?? {}) as Record<string, unknown>
      return {
        path: textOf(path),
        dataUrl: textOf(data_url) ?? textOf(dataUrl),
        mimeType: textOf(mime_type) ?? textOf(mimeType),
      }
    })
    .filter(({ path, dataUrl }) => path !== undefined || dataUrl !== undefined)
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined
}

export interface Around {
  cwd: string
  home: string
  now(): number
}

/** The images of a message with this text. Throws, with words for people, when they cannot be used. */
export async function loadImages(
  text: string,
  inputs: readonly ImageInput[],
  around: Around,
): Promise<Image[]> {
  if (inputs.length > MAX_IMAGES) throw new Error(`a message has at most ${MAX_IMAGES} images`)
  const images: Image[] = []
  let left = MESSAGE_LIMIT - Buffer.byteLength(JSON.stringify(text))
  // One by one, so that no more is read than can be sent.
  for (const input of inputs) {
    const image = await loadImage(input, around)
    left -= image.content.data.length
    if (left < 0) break
    images.push(image)
  }
  if (left < 0) throw new Error('the message is larger than 30 MiB')
  return images
}

async function loadImage(input: ImageInput, around: Around): Promise<Image> {
  return input.dataUrl === undefined
    ? fromFile(input.path ?? '', input.mimeType, around)
    : fromDataUrl(input.dataUrl, input, around)
}

function fromDataUrl(url: string, { path, mimeType }: ImageInput, { now }: Around): Image {
  const comma = url.indexOf(',')
  const [, type = mimeType] = /^data:([^;]+)?(?:;[^;]+)*;base64$/.exec(url.slice(0, comma)) ?? [null, null]
  const data = url.slice(comma + 1).replace(/\s/g, '')
  if (type === null || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) {
    throw new Error('the image is no data URL in base64')
  }
  const name = path ?? `rpc-image-${now()}.png`
  return imageOf(name, Buffer.from(data, 'base64'), typeNamed(type, name))
}

async function fromFile(path: string, mimeType: string | undefined, around: Around): Promise<Image> {
  const file = resolvePath(path, around)
  const type = typeNamed(mimeType, file)
  const found = await stat(file).catch(() => null)
  if (!found?.isFile()) throw new Error(`there is no image ${path}`)
  if (found.size > LIMIT) throw tooLarge(path)
  return imageOf(path, await readFile(file), type)
}

/** As a human may have typed or pasted it. */
export function resolvePath(path: string, { cwd, home }: Around): string {
  const bare = path.replace(/^(["'])(.*)\1$/, '$2')
  if (bare.startsWith('file://')) return fileURLToPath(bare)
  if (bare.startsWith('~/')) return resolve(home, bare.slice(2))
  return resolve(cwd, bare)
}

function typeNamed(type: string | undefined, path: string): string {
  const named = type?.toLowerCase().replace(/^image\//, '') ?? extname(path).slice(1).toLowerCase()
  const found = Object.hasOwn(TYPES, named) ? TYPES[named] : undefined
  if (found === undefined) throw new Error(`${basename(path)} is no image that can be sent: ${KINDS}`)
  return found
}

function imageOf(path: string, bytes: Buffer, mediaType: string): Image {
  if (bytes.length === 0) throw new Error(`the image ${basename(path)} is empty`)
  if (bytes.length > LIMIT) throw tooLarge(path)
  return { path, content: { type: 'image', mediaType, data: bytes.toString('base64') } }
}

function tooLarge(path: string): Error {
  return new Error(`the image ${basename(path)} is larger than 8 MiB`)
}

/** The text with a mark for each image, where it has none. */
export function withPlaceholders(text: string, count: number): string {
  const marks = Array.from({ length: count }, (_, at) => `[Image ${at + 1}]`)
  const missing = marks.filter((mark) => !text.includes(mark))
  return missing.length === 0 ? text : [...(text === '' ? [] : [text]), ...missing].join(' ')
}
