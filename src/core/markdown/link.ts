const SAFE: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:'])

/** The address of a link that a person may follow; null: it leads nowhere, or runs something. */
export function safeHref(href: string): string | null {
  try {
    const url = new URL(href)
    return SAFE.has(url.protocol) ? url.href : null
  } catch {
    return null // a path, say: it means something to the agent, and nothing to a browser
  }
}

const NAMES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  copy: '©',
  reg: '®',
  trade: '™',
  hellip: '…',
  mdash: '—',
  ndash: '–',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  laquo: '«',
  raquo: '»',
  bull: '•',
  middot: '·',
  times: '×',
  rarr: '→',
  larr: '←',
  uarr: '↑',
  darr: '↓',
  ge: '≥',
  le: '≤',
  ne: '≠',
}

/** Character references as the characters that they stand for. What is unknown stays as it is. */
export function decoded(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(/&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-zA-Z]{2,8}));/g, (whole, dec, hex, name) => {
    if (name !== undefined) return NAMES[name as string] ?? whole
    const code = dec === undefined ? Number.parseInt(hex as string, 16) : Number(dec)
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd'
  })
}
