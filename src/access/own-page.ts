import type { IncomingMessage } from 'node:http'

/** Whether a request came over TLS. */
export function isSecure(req: IncomingMessage): boolean {
  return 'encrypted' in req.socket && req.socket.encrypted === true
}

/** The port that a browser thinks it talks to: a tunnel may have another one than this machine. */
export function ownPort(req: IncomingMessage): string {
  const port = /:(\d{1,5})$/.exec(req.headers.host ?? '')?.[1]
  return port ?? (isSecure(req) ? '443' : '80')
}

/**
 * Whether the browser says that one of our own pages asks. A page on another port of this machine is another's, though it is
 * the same *site* to a browser, which sends our cookies along.
 */
export function isOwnPage(req: IncomingMessage): boolean {
  const { origin, host } = req.headers
  if (origin === undefined) return req.headers['sec-fetch-site'] === 'same-origin'
  const own = `${isSecure(req) ? 'https' : 'http'}://${host}`
  return host !== undefined && origin.toLowerCase() === own.toLowerCase()
}
