import { createPublicKey, verify, type KeyObject } from 'node:crypto'
import { VERSION } from './version.ts'

/** What a release feed says about the newest version. */
export interface Release {
  version: string
  /** The package, as `npm pack` makes it. Relative to the feed or whole. */
  url: string
  /** Of the package, in lower-case hex. */
  sha256: string
  notes: string
  /** Ed25519 over `signedText`, in base64. */
  signature: string
}

/** What is signed: every line but the last has no line break in it, so no two releases have the same text. */
export function signedText({ version, url, sha256, notes }: Omit<Release, 'signature'>): string {
  return ['corral release 1', version, url, sha256, notes].join('\n')
}

/** A key as people keep it: PEM, or the base64 of its 32 bytes. */
export function readPublicKey(text: string): KeyObject {
  const key = text.includes('BEGIN') ? createPublicKey(text) : rawKey(text)
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('updates.publicKey is not an Ed25519 key')
  return key
}

const SPKI_HEAD = Buffer.from('302a300506032b6570032100', 'hex')

function rawKey(text: string): KeyObject {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length !== 32) throw new Error('updates.publicKey is neither PEM nor 32 bytes in base64')
  return createPublicKey({ key: Buffer.concat([SPKI_HEAD, bytes]), format: 'der', type: 'spki' })
}

/** The release that this text describes and the key has signed; throws otherwise. */
export function verifiedRelease(text: string, key: KeyObject): Release {
  const release = parseRelease(text)
  const signature = Buffer.from(release.signature, 'base64')
  if (!verify(null, Buffer.from(signedText(release)), key, signature)) {
    throw new Error('the release feed has a signature that is not by updates.publicKey')
  }
  return release
}

const PATTERNS = {
  version: VERSION,
  url: /^[\x21-\x7e]{1,2000}$/,
  sha256: /^[0-9a-f]{64}$/,
  notes: /^[^]{0,20000}$/,
  signature: /^[A-Za-z0-9+/]{86}==$/,
} as const

function parseRelease(text: string): Release {
  const value = parseJson(text)
  if (typeof value !== 'object' || value === null) throw new Error('the release feed is not a JSON object')
  const entries = Object.entries(PATTERNS).map(([name, pattern]) => {
    const field = (value as Record<string, unknown>)[name] ?? (name === 'notes' ? '' : undefined)
    if (typeof field !== 'string' || !pattern.test(field)) {
      throw new Error(`the release feed has no proper ${name}`)
    }
    return [name, field]
  })
  return Object.fromEntries(entries) as Release
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('the release feed is not JSON')
  }
}
