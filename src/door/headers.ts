import type { OutgoingHttpHeaders } from 'node:http'

/** The dashboard runs its own files, talks to its own daemon, and nothing else; no text becomes HTML or a script unseen. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "require-trusted-types-for 'script'",
  'trusted-types corral',
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

/** For everything that a browser gets from here. */
export const PRIVATE_HEADERS: OutgoingHttpHeaders = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

/** For pages and the scripts of workers, which have a policy of their own. */
export const PAGE_HEADERS: OutgoingHttpHeaders = {
  ...PRIVATE_HEADERS,
  'content-security-policy': POLICY,
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
}
