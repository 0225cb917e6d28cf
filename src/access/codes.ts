import { randomBytes } from 'node:crypto'
import type { Device } from '../core/devices.ts'
import { digest } from './tokens.ts'

export interface Code {
  code: string
  expiresAt: number
}

/** Codes that sign a browser in, once each, as whoever has asked for them. In memory only. */
export interface Codes {
  issue(device: Device | null): Code
  /** Uses one up; null: it is wrong, too old, or used. */
  redeem(code: string): { device: Device | null } | null
}

const LASTS_MS = 60_000
/** At most so many hold at a time: the oldest makes room. */
const MAX_LIVE = 16

interface Issued {
  device: Device | null
  expiresAt: number
}

export function createCodes({ now }: { now(): number }): Codes {
  // By their digests: how long it takes to look one up says nothing about any of them.
  const issued = new Map<string, Issued>()
  const nameOf = (code: string): string => digest(code).toString('base64')
  return {
    issue(device) {
      for (const [name, { expiresAt }] of issued) if (expiresAt <= now()) issued.delete(name)
      const [oldest] = issued.keys()
      if (issued.size >= MAX_LIVE && oldest !== undefined) issued.delete(oldest)
      const code = randomBytes(24).toString('base64url')
      const expiresAt = now() + LASTS_MS
      issued.set(nameOf(code), { device, expiresAt })
      return { code, expiresAt }
    },
    redeem(code) {
      const name = nameOf(code)
      const found = issued.get(name)
      issued.delete(name)
      return found && found.expiresAt > now() ? { device: found.device } : null
    },
  }
}
