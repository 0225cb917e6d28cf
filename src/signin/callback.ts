import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { finished } from 'node:stream/promises'
import { reasonOf } from './reason.ts'

// Not imported: that would also evaluate a whole HTTP client.
const { createServer } = process.getBuiltinModule('node:http')

export interface CallbackOptions {
  host: 'localhost' | '127.0.0.1'
  port: number
  path: string
  /** Takes the first redirect; the page tells the person what became of it. */
  take(callback: URL): Promise<void>
}

export interface Callback {
  redirectUri: string
  close(): void
}

/** Waits on this machine for the browser to come back from the issuer (RFC 8252, 7.3). */
export async function listenForCallback(options: CallbackOptions): Promise<Callback> {
  const { host, path, take } = options
  let used = false
  let port = 0

  const server = createServer((request, response) => {
    answer(request)
      .then(([status, title, text]) => sendPage(response, status, title, text))
      .catch(() => response.destroy())
  })

  async function answer({ method, headers, url = '/' }: IncomingMessage): Promise<Page> {
    // A foreign name for this address is how a page somewhere else would get at it.
    if (![`127.0.0.1:${port}`, `localhost:${port}`].includes(headers.host ?? '')) return REFUSED
    const callback = URL.parse(url, `http://${host}:${port}`)
    if (callback?.pathname !== path) return NOT_FOUND
    if (method !== 'GET') return ONLY_GET
    // A page elsewhere that loads this address as an image or the like could end a sign-in unseen.
    if ((headers['sec-fetch-dest'] ?? 'document') !== 'document') return REFUSED
    if (used) return USED
    used = true
    try {
      await take(callback)
      return DONE
    } catch (error) {
      return [400, 'Not signed in', `${sentence(reasonOf(error))} You can close this window and start again.`]
    }
  }

  await listen(server, options.port)
  port = (server.address() as AddressInfo).port
  return {
    redirectUri: `http://${host}:${port}${path}`,
    close() {
      server.close()
      server.closeIdleConnections()
      setTimeout(() => server.closeAllConnections(), LINGER_MS).unref()
    },
  }
}

/** The page of the answer may still be on its way. */
const LINGER_MS = 1000

type Page = readonly [status: number, title: string, text: string]

const DONE: Page = [200, 'Signed in', 'You can close this window and go back to what you were doing.']
const USED: Page = [410, 'Too late', 'This sign-in was answered already. You can close this window.']
const REFUSED: Page = [403, 'Refused', 'This address is only for signing in on this machine.']
const NOT_FOUND: Page = [404, 'Nothing here', 'This address is only for signing in.']
const ONLY_GET: Page = [405, 'Refused', 'Only a browser that comes back from signing in is answered.']

/** The wanted port if it can be had, else any. */
async function listen(server: Server, port: number): Promise<void> {
  try {
    await listenOn(server, port)
  } catch (error) {
    if (port === 0) throw error
    await listenOn(server, 0)
  }
}

function listenOn(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject)
      resolve()
    })
  })
}

async function sendPage(
  response: ServerResponse,
  status: number,
  title: string,
  text: string,
): Promise<void> {
  const [heading, body] = [escaped(title), escaped(text)]
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    connection: 'close',
  })
  response.end(
    `<!doctype html><html lang="en"><head><title>${heading} – Corral</title></head>` +
      `<body><h1>${heading}</h1><p>${body}</p></body></html>\n`,
  )
  await finished(response)
}

function sentence(text: string): string {
  return `${text[0]!.toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
