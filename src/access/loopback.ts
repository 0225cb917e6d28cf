import { isIP } from 'node:net'

/** Whether an address, as a socket or a header gives it, is this machine itself. */
export function isLoopbackAddress(address: string | undefined): boolean {
  if (address === undefined) return false
  const plain = address.toLowerCase().replace(/^::ffff:/, '')
  if (isIP(plain) === 4) return plain.startsWith('127.')
  return plain === '::1' || plain === '0:0:0:0:0:0:0:1'
}

/** Whether a host (no port, no brackets) names this machine only. */
export function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '')
  return name === 'localhost' || name.endsWith('.localhost') || isLoopbackAddress(name)
}

/** The host of `host`, `host:port`, `[v6]` or `[v6]:port`; null for anything else. */
export function hostOf(authority: string): string | null {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:/?#@[\]]+))(?::\d{1,5})?$/.exec(authority.trim())
  return match ? (match[1] ?? match[2] ?? null) : null
}
