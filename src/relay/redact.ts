const BULLETS = '•'.repeat(8)

/** Below this the last four characters would be too much of a key. */
const SHORT = 12

/** A key as people may see it: enough to know which one it is. */
export function redacted(key: string): string {
  return key.length < SHORT ? BULLETS : `${BULLETS}${key.slice(-4)}`
}

/**
 * What keys and tokens of well-known services look like, wherever they stand. Each pattern takes time in proportion to the
 * text, whatever the text is.
 */
const LOOKS_SECRET = [
  /\b(?:sk|pk|rk|ir|xai|gsk|hf|glpat|npm)[-_][A-Za-z0-9_-]{12,}/g,
  /\bgh[opsur]_[A-Za-z0-9]{16,}|\bgithub_pat_[A-Za-z0-9_]{16,}/g,
  /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/g,
  /\bA(?:KIA|SIA)[A-Z0-9]{16}\b/g,
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  /\beyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[^]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
]
const AUTHORIZATION = /\b(bearer|basic)\s+[A-Za-z0-9+/_.~=-]{6,}/gi
const CREDENTIALS_IN_URL = /(\b[a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/@:]*:[^\s/@]+@/gi
const NAMED =
  /((?:api[_-]?key|license[_-]?key|secret|password|passwd|token|access[_-]?key)["']?\s*[=:]\s*["']?)[^\s"',;&}]{4,}/gi

/** The text without the given secrets, and without anything that looks like one. */
export function scrub(text: string, secrets: readonly string[] = []): string {
  let clean = text
  for (const secret of longestFirst(secrets)) clean = clean.replaceAll(secret, BULLETS)
  for (const pattern of LOOKS_SECRET) clean = clean.replace(pattern, BULLETS)
  return clean
    .replace(AUTHORIZATION, `$1 ${BULLETS}`)
    .replace(CREDENTIALS_IN_URL, `$1${BULLETS}@`)
    .replace(NAMED, `$1${BULLETS}`)
}

/** A secret may be part of another one. The shortest texts are no secrets, and would take every text apart. */
function longestFirst(secrets: readonly string[]): string[] {
  return secrets.filter((secret) => secret.length >= 4).sort((a, b) => b.length - a.length)
}

const SECRET_NAME = /(?:key|token|secret|password|passwd|authorization|cookie|credential)s?$/i

/** The same for whole structures: texts are scrubbed, and what is named like a secret is shown by its last four. */
export function scrubAll(value: unknown, secrets: readonly string[] = []): unknown {
  if (typeof value === 'string') return scrub(value, secrets)
  if (Array.isArray(value)) return value.map((item) => scrubAll(item, secrets))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      scrub(name, secrets),
      typeof item === 'string' && SECRET_NAME.test(name) ? hidden(item) : scrubAll(item, secrets),
    ]),
  )
}

function hidden(text: string): string {
  return text === '' || text.startsWith(BULLETS) ? text : redacted(text)
}
