import type { IncomingMessage } from 'node:http'
import { type Guard, HttpError } from '../transports/http.ts'
import { hostOf, isLoopbackAddress, isLoopbackHost } from './loopback.ts'
import type { TokenCheck } from './tokens.ts'

const FOREIGN_PAGE = 'Forbidden: requests from web pages are not allowed'

/**
 * For listeners that only this machine reaches. A foreign name in `Host` is a web page whose name was rebound to
 * 127.0.0.1; a foreign `Origin` is a web page that posts here: both are refused.
 */
export function loopbackGuard(): Guard {
  return (req) => {
    if (!hasLoopbackHost(req)) return new HttpError(403, 'Forbidden: the Host header must name this machine')
    return hasLoopbackOrigin(req) ? null : new HttpError(403, FOREIGN_PAGE)
  }
}

/**
 * For listeners that others reach and that ask for a token later on: by any name of this machine, but from no web page
 * other than its own.
 */
export function originGuard(): Guard {
  return (req) => {
    const { origin, host } = req.headers
    const page = authorityOf(origin ?? '')
    const isOwn = page !== null && page.toLowerCase() === host?.toLowerCase()
    return isOwn || hasLoopbackOrigin(req) ? null : new HttpError(403, FOREIGN_PAGE)
  }
}

/**
 * Where a token is required. Direct callers on this machine need none, behind the guard for them; a local reverse proxy,
 * which speaks for others, is no such caller. Whoever shows a token must show a valid one.
 */
export function tokenGuard(tokens: TokenCheck, local: Guard = loopbackGuard()): Guard {
  const guard: Guard = (req) => {
    const verdict = tokens.check(req.headers.authorization)
    if (verdict === 'ok') return null
    if (verdict === 'missing' && isLocalCaller(req)) return local(req)
    const text = verdict === 'missing' ? 'Missing Bearer token' : 'Invalid token'
    return new HttpError(401, text, { 'www-authenticate': 'Bearer' })
  }
  if (local.meet) guard.meet = local.meet
  return guard
}

function isLocalCaller(req: IncomingMessage): boolean {
  const { headers } = req
  const proxied = headers.forwarded ?? headers['x-forwarded-for'] ?? headers['x-real-ip'] ?? headers.via
  return proxied === undefined && isLoopbackAddress(req.socket.remoteAddress)
}

function hasLoopbackHost(req: IncomingMessage): boolean {
  const host = hostOf(req.headers.host ?? '')
  return host !== null && isLoopbackHost(host)
}

function hasLoopbackOrigin(req: IncomingMessage): boolean {
  const { origin } = req.headers
  if (origin === undefined) return true
  const host = hostOf(authorityOf(origin) ?? '')
  return host !== null && isLoopbackHost(host)
}

function authorityOf(origin: string): string | null {
  return /^https?:\/\/(.+)$/i.exec(origin)?.[1] ?? null
}
