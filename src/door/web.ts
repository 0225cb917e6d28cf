import type { IncomingMessage, ServerResponse } from 'node:http'
import { HttpError } from '../transports/http.ts'
import { PAGE_HEADERS } from './headers.ts'
import { openWebFiles, type WebFile } from './web-files.ts'

const SUFFIX: Readonly<Record<string, string>> = { br: '.br', gzip: '.gz' }
const ONE_YEAR = 'public, max-age=31536000, immutable'

export interface Web {
  /** The one page. With 404 it says that there is none at this address. */
  page(req: IncomingMessage, res: ServerResponse, status?: 200 | 404): Promise<void>
  /** `path` is that of the request, and only looked up. */
  file(path: string, req: IncomingMessage, res: ServerResponse): Promise<void>
}

/** Serves the dashboard; loaded by the first browser. */
export function createWeb(onFault: (error: unknown) => void): Web {
  const files = openWebFiles()

  /** Why it is not there is for the log: it would tell strangers about this machine. */
  async function orMissing<T>(found: Promise<T>): Promise<T> {
    return found.catch((error: unknown) => {
      onFault(error)
      throw new HttpError(503, 'The dashboard could not be built; the log of the daemon says why')
    })
  }

  return {
    async page(req, res, status) {
      await send(await orMissing(files.page()), req, res, status)
    },
    async file(path, req, res) {
      const file = await orMissing(files.find(path))
      if (!file) throw new HttpError(404)
      await send(file, req, res)
    },
  }
}

async function send(file: WebFile, req: IncomingMessage, res: ServerResponse, status = 200): Promise<void> {
  const encoding = chosenEncoding(file.encodings, req.headers['accept-encoding'])
  // Each encoding is other bytes, and so has a tag of its own.
  const etag = `"${file.etag}${encoding === null ? '' : `-${encoding}`}"`
  const headers = {
    ...PAGE_HEADERS,
    'content-type': file.type,
    'cache-control': file.immutable ? ONE_YEAR : 'no-cache',
    etag,
    // At `/`, programs get JSON.
    vary: file.immutable ? 'accept-encoding' : 'accept-encoding, accept',
  }
  if (status === 200 && isKnown(req.headers['if-none-match'], etag))
    return void res.writeHead(304, headers).end()
  const body = await file.read(encoding === null ? '' : SUFFIX[encoding]!)
  const how = encoding === null ? {} : { 'content-encoding': encoding }
  res.writeHead(status, { ...headers, ...how, 'content-length': body.length })
  res.end(req.method === 'HEAD' ? undefined : body)
}

/** The first of ours that the client takes; null: the file as it is. */
function chosenEncoding(ours: readonly string[], accepted = ''): string | null {
  const taken = new Set(
    accepted
      .toLowerCase()
      .split(',')
      .filter((one) => !/;\s*q=0(?:\.0*)?\s*$/.test(one))
      .map((one) => one.split(';', 1)[0]!.trim()),
  )
  return ours.find((one) => taken.has(one)) ?? null
}

function isKnown(header: string | undefined, etag: string): boolean {
  const tags = header?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? []
  return tags.includes(etag) || tags.includes('*')
}
