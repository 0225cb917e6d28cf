import { execFile } from 'node:child_process'
import { open } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, resolve } from 'node:path'
import { promisify } from 'node:util'
import { clean } from '../format.ts'
import type { Image } from './state.ts'

/** Of one picture; agents refuse larger ones. */
const MAX_BYTES = 4_500_000

const run = promisify(execFile)

/** The picture at a path. Throws what is wrong with it, for the person. */
export async function pictureAt(path: string): Promise<Image> {
  const whole = resolve(path.replace(/^~(?=\/|$)/, homedir()))
  const name = clean(basename(whole)).replace(/[[\]\s]+/g, ' ')
  const file = await open(whole, 'r').catch(() => null)
  if (!file) throw new Error(`${name} cannot be read`)
  try {
    const stat = await file.stat()
    if (!stat.isFile()) throw new Error(`${name} is no file`)
    if (stat.size > MAX_BYTES) throw tooLarge(name)
    return pictureOf(name, await file.readFile())
  } finally {
    await file.close()
  }
}

function pictureOf(name: string, data: Buffer): Image {
  const mediaType = typeOf(data)
  if (mediaType === null)
    throw new Error(`${name} is no picture that an agent can see (PNG, JPEG, GIF or WebP)`)
  return { name, mediaType, data: data.toString('base64') }
}

function tooLarge(name: string): Error {
  return new Error(`${name} is too large: a picture may have ${MAX_BYTES / 1e6} MB`)
}

/** By its first bytes: names say anything. */
function typeOf(data: Buffer): string | null {
  if (data.subarray(0, 8).equals(Buffer.from('\u0089PNG\r\n\u001a\n', 'latin1'))) return 'image/png'
  if (data.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff]))) return 'image/jpeg'
  if (/^GIF8[79]a/.test(data.toString('latin1', 0, 6))) return 'image/gif'
  return data.toString('latin1', 0, 4) === 'RIFF' && data.toString('latin1', 8, 12) === 'WEBP'
    ? 'image/webp'
    : null
}

/** Programs that print the picture in the clipboard. */
const CLIPBOARDS: readonly (readonly [program: string, ...args: string[]])[] = [
  ['wl-paste', '--no-newline', '--type', 'image/png'],
  ['xclip', '-selection', 'clipboard', '-target', 'image/png', '-o'],
  ['pngpaste', '-'],
]

/** The picture in the clipboard; null: there is none, or nobody can tell. */
export async function pictureInClipboard(): Promise<Image | null> {
  for (const [program, ...args] of CLIPBOARDS) {
    const options = { encoding: 'buffer', maxBuffer: MAX_BYTES, timeout: 3000 } as const
    const { stdout } = await run(program, args, options).catch(() => ({ stdout: Buffer.alloc(0) }))
    if (stdout.length > 0 && typeOf(stdout) !== null) return pictureOf('clipboard.png', stdout)
  }
  return null
}
