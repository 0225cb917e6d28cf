import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

/*
 * Payloads between machines that share a key: whoever runs NATS sees subjects and sizes only. Each process has a key of its own, made of
 * that of the fleet and a salt that goes along, and counts its messages: no two are ever sealed with the same number. The subject is
 * sealed in, so a message cannot be put under another one.
 */

const FORMAT = 1
const SALT = 16
const NONCE = 12
const TAG = 16
/** What a sealed payload is larger by. */
export const SEAL_BYTES = 1 + SALT + NONCE + TAG
const MIN_SECRET = 32
const MAX_SENDERS = 20_000

/** Which message of which process it was; null: it was not sealed. */
export type Origin = { sender: string; count: number } | null

export interface Seal {
  seal(data: Uint8Array, subject: string): Uint8Array
  /** Null: it was not sealed with this key, or for this subject. */
  open(data: Uint8Array, subject: string): { data: Uint8Array; origin: Origin } | null
}

/** For a fleet that has no key. */
export const unsealed: Seal = {
  seal: (data) => data,
  open: (data) => ({ data, origin: null }),
}

/** `secret`: what is in the file of the key. */
export function sealWith(secret: string): Seal {
  const text = secret.trim()
  if (text.length < MIN_SECRET)
    throw new Error(`the key of the fleet is too short: it must have ${MIN_SECRET} characters or more`)
  const keys = new Map<string, Buffer>()
  const keyOf = (salt: Buffer): Buffer => {
    const name = salt.toString('base64')
    let key = keys.get(name)
    if (!key) {
      key = Buffer.from(hkdfSync('sha256', text, salt, 'corral fleet', 32))
      if (keys.size >= MAX_SENDERS) keys.clear()
      keys.set(name, key)
    }
    return key
  }
  const salt = randomBytes(SALT)
  let count = 0
  return {
    seal(data, subject) {
      const nonce = Buffer.alloc(NONCE)
      nonce.writeBigUInt64BE(BigInt(++count), NONCE - 8)
      const cipher = createCipheriv('aes-256-gcm', keyOf(salt), nonce)
      cipher.setAAD(Buffer.from(subject))
      const sealed = [cipher.update(data), cipher.final()]
      return Buffer.concat([Buffer.of(FORMAT), salt, nonce, ...sealed, cipher.getAuthTag()])
    },
    open(given, subject) {
      const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength)
      if (bytes.length < SEAL_BYTES || bytes[0] !== FORMAT) return null
      const from = bytes.subarray(1, 1 + SALT)
      const nonce = bytes.subarray(1 + SALT, 1 + SALT + NONCE)
      const decipher = createDecipheriv('aes-256-gcm', keyOf(from), nonce)
      decipher.setAAD(Buffer.from(subject))
      decipher.setAuthTag(bytes.subarray(-TAG))
      try {
        const data = Buffer.concat([
          decipher.update(bytes.subarray(1 + SALT + NONCE, -TAG)),
          decipher.final(),
        ])
        const origin = { sender: from.toString('base64'), count: Number(nonce.readBigUInt64BE(NONCE - 8)) }
        return { data, origin }
      } catch {
        return null
      }
    },
  }
}
