import { NativeError } from './link.ts'

const SCHEMES: Readonly<Record<string, string>> = {
  'ws:': 'ws:',
  'wss:': 'wss:',
  'http:': 'ws:',
  'https:': 'wss:',
}

/** Where the native API is: at the URL that was given, or at that of a dashboard, which is what people have at hand. */
export function nativeUrl(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : null
  const scheme = url && SCHEMES[url.protocol]
  if (!url || !scheme) {
    const message = `${given} is no address of a daemon; give one such as ws://127.0.0.1:2677/native`
    throw new NativeError({ code: -32602, message, data: { code: 'invalid', field: 'url' } })
  }
  url.protocol = scheme
  url.hash = ''
  if (url.pathname === '/') url.pathname = '/native'
  return url.href
}
