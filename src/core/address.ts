import { fits, hasStar } from './pattern.ts'

/** An address without a path stands for all that is there. */
export const isHost = (address: string): boolean => /^[\w+.-]+:\/\/[^/?#]+$/.test(address)

/** As a browser would call it: without detours and names, the host in small letters; null: it is no address. */
export function plainAddress(text: string): string | null {
  if (!/^[\w+.-]+:\/\//.test(text) || !URL.canParse(text)) return null
  const url = new URL(text)
  url.username = url.password = ''
  url.hostname = url.hostname.replace(/\.$/, '')
  return isHost(text) ? url.href.replace(/\/$/, '') : url.href
}

/** Whether a pattern lets an address pass. What stands for a host in it stands for a host, and for no path: `https://*.a.b/*`. */
export function lets(pattern: string, text: string): boolean {
  if (!fits(pattern, text)) return false
  if (!hasStar(pattern) || !text.includes('://')) return true
  const plain = plainAddress(text)
  if (plain === null || !fits(pattern, plain)) return false
  const [, host = '*'] = /:\/\/([^/?#]*)/.exec(pattern) ?? []
  return fits(host, new URL(plain).host)
}
