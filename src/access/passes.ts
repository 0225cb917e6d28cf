import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Device } from '../core/devices.ts'
import { isOwnPage, isSecure, ownPort } from './own-page.ts'

/*
 * How a browser stays signed in. A pass has two halves: a cookie that no script can read, and a key that the page keeps.
 * Browsers send the cookies of 127.0.0.1 to every port of it, so whoever serves another port there gets to see the cookie;
 * the key is kept for this port alone. Neither half is worth anything without the other.
 *
 * Both are signed with what the owner's token, or the device's, becomes when it is hashed: they end when that token does.
 */

const PURPOSE = 'corral: passes of browsers'
const LASTS_MS = 30 * 24 * 60 * 60 * 1000
/** One that is used is written anew this often, so that it never runs out while it is. */
const RENEWED_AFTER_MS = 24 * 60 * 60 * 1000
/** What a cookie says instead of a device's id. */
const OWNER = 'owner'

export interface PassParts {
  /** A key that changes with the owner's token; null: no token is valid. */
  ownerKey(purpose: string): Buffer | null
  /** The same for a device; null: there is no such device, or none any more. */
  deviceKey(deviceId: string, purpose: string): Buffer | null
  device(id: string): Device | null
  /** Passes that somebody has signed out with. */
  ended: { has(id: string): boolean; add(id: string, until: number): void }
  now(): number
}

/** A pass that was shown, and is good. */
export interface Pass {
  id: string
  /** Null: the owner. */
  device: Device | null
  issuedAt: number
  holds(): boolean
}

export interface Passes {
  /** The two halves of a new one; null when there is nothing any more that it could be signed with. */
  issue(req: IncomingMessage, device: Device | null): { cookie: string; key: string } | null
  /** Whose pass a request of one of our own pages brings. */
  find(req: IncomingMessage, key: string): Pass | null
  /** The cookie written anew; null: it is fresh enough. */
  renewed(req: IncomingMessage, pass: Pass): string | null
  /** It holds no longer. Returns the cookie that takes it from the browser. */
  end(req: IncomingMessage, pass: Pass | null): string
}

interface Claim {
  id: string
  who: string
  issuedAt: number
}

export function createPasses(parts: PassParts): Passes {
  const { ended, now } = parts

  const signingKey = (who: string): Buffer | null =>
    who === OWNER ? parts.ownerKey(PURPOSE) : parts.deviceKey(who, PURPOSE)

  function sign(use: string, { id, who }: Claim, issuedAt: number | ''): string | null {
    const key = signingKey(who)
    return key && createHmac('sha256', key).update(`${use} ${id} ${who} ${issuedAt}`).digest('base64url')
  }

  function holds(claim: Claim, signature: string): boolean {
    if (claim.issuedAt + LASTS_MS < now() || ended.has(claim.id)) return false
    return isSame(sign('cookie', claim, claim.issuedAt), signature)
  }

  function valueOf(claim: Claim): string | null {
    const signature = sign('cookie', claim, claim.issuedAt)
    return signature && [claim.id, claim.who, claim.issuedAt.toString(36), signature].join('.')
  }

  return {
    issue(req, device) {
      const claim = { id: randomBytes(16).toString('base64url'), who: device?.id ?? OWNER, issuedAt: now() }
      const [value, key] = [valueOf(claim), sign('key', claim, '')]
      return value && key ? { cookie: cookieOf(req, value, LASTS_MS), key } : null
    },
    find(req, key) {
      const shown = isOwnPage(req) ? parsed(cookieIn(req)) : null
      if (!shown || !holds(shown, shown.signature)) return null
      // Whoever renews a pass keeps its key: another tab may be about to show it.
      if (!isSame(sign('key', shown, ''), key)) return null
      const device = shown.who === OWNER ? null : parts.device(shown.who)
      if (shown.who !== OWNER && !device) return null
      const { id, issuedAt, signature } = shown
      return { id, device, issuedAt, holds: () => holds(shown, signature) }
    },
    renewed(req, { id, device, issuedAt }) {
      if (issuedAt + RENEWED_AFTER_MS > now()) return null
      const value = valueOf({ id, who: device?.id ?? OWNER, issuedAt: now() })
      return value && cookieOf(req, value, LASTS_MS)
    },
    end(req, pass) {
      if (pass) ended.add(pass.id, now() + LASTS_MS)
      return cookieOf(req, '', 0)
    },
  }
}

function isSame(wanted: string | null, given: string): boolean {
  if (wanted === null) return false
  const [a, b] = [Buffer.from(wanted), Buffer.from(given)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/** Ports share their cookies; each has a name of its own, or one daemon would sign the other's user out. */
function nameOf(req: IncomingMessage): string {
  return `${isSecure(req) ? '__Host-' : ''}corral_${ownPort(req)}`
}

function cookieOf(req: IncomingMessage, value: string, lastsMs: number): string {
  const secure = isSecure(req) ? '; Secure' : ''
  return `${nameOf(req)}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${lastsMs / 1000}${secure}`
}

function cookieIn(req: IncomingMessage): string {
  const start = `${nameOf(req)}=`
  const cookies = req.headers.cookie?.split(';').map((one) => one.trim()) ?? []
  return cookies.find((one) => one.startsWith(start))?.slice(start.length) ?? ''
}

const SHAPE = /^([\w-]{22})\.([\w-]{1,64})\.([0-9a-z]{1,12})\.([\w-]{43})$/

function parsed(value: string): (Claim & { signature: string }) | null {
  const found = SHAPE.exec(value)
  if (!found) return null
  const [, id, who, issuedAt, signature] = found as unknown as [string, string, string, string, string]
  return { id, who, issuedAt: Number.parseInt(issuedAt, 36), signature }
}
