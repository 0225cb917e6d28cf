import type { IncomingHttpHeaders } from 'node:http'
import { promisify } from 'node:util'
import { HttpError } from './http-message.ts'

type Coding = 'gzip' | 'deflate' | 'br' | 'zstd'
type Decode = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>

const CODINGS = 'gzip, deflate, br, zstd'

/** A body as it was before its client compressed it. Few bytes may stand for many: they are bounded like any other body. */
export async function decodeBody(
  bytes: Buffer,
  headers: IncomingHttpHeaders,
  limit: number,
): Promise<Buffer> {
  const coding = headers['content-encoding']?.trim().toLowerCase() || 'identity'
  if (coding === 'identity' || bytes.length === 0) return bytes
  const decode = decoderOf(coding)
  if (!decode) {
    const message = `The content-encoding ${coding.slice(0, 40)} is not known here; there are ${CODINGS}`
    throw new HttpError(415, message)
  }
  try {
    return await decode(bytes, { maxOutputLength: limit })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw new HttpError(413, `The request body is larger than ${limit} bytes`)
    }
    throw new HttpError(400, `The request body is not ${coding}`)
  }
}

function decoderOf(coding: string): Decode | null {
  // Loaded when a compressed body comes; most never are.
  const zlib = process.getBuiltinModule('node:zlib')
  const decoders: Record<Coding, Decode> = {
    gzip: promisify(zlib.gunzip),
    deflate: promisify(zlib.inflate),
    br: promisify(zlib.brotliDecompress),
    zstd: promisify(zlib.zstdDecompress),
  }
  const named = coding === 'x-gzip' ? 'gzip' : coding
  return Object.hasOwn(decoders, named) ? decoders[named as Coding] : null
}
