/** What lets somebody in: a token, a code of `corral open`, or a PIN of `corral pair`. */
export type Credential = { token: string } | { code: string } | { pin: string; name: string }

/** What stands behind an address of `corral open` (`#code=…`) or in a QR code (`#pin=…`); null: nothing of that kind. */
export function credentialIn(hash: string, name: string): Credential | null {
  const [, kind, value = ''] = /^#(code|pin)=([\w-]{1,100})$/.exec(hash) ?? []
  if (kind === 'code') return { code: value }
  return kind === 'pin' ? { pin: value, name } : null
}

/** What somebody has typed: six digits are a PIN, with or without a gap in them. */
export function typedCredential(text: string, name: string): Credential | null {
  const typed = text.trim()
  if (typed === '') return null
  return /^\d{3}\s?\d{3}$/.test(typed) ? { pin: typed.replace(/\s/, ''), name } : { token: typed }
}

const BROWSERS = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['SamsungBrowser/', 'Samsung Internet'],
  ['Firefox/', 'Firefox'],
  ['FxiOS/', 'Firefox'],
  ['CriOS/', 'Chrome'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const

const SYSTEMS = [
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Android', 'Android'],
  ['Mac OS X', 'Mac'],
  ['Windows', 'Windows'],
  ['CrOS', 'ChromeOS'],
  ['Linux', 'Linux'],
] as const

/** How a browser is called in the list of devices. */
export function deviceName(userAgent: string): string {
  const find = (known: readonly (readonly [string, string])[]): string | undefined =>
    known.find(([mark]) => userAgent.includes(mark))?.[1]
  return [find(BROWSERS) ?? 'Browser', find(SYSTEMS)].filter(Boolean).join(' on ')
}
