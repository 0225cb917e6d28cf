import { networkInterfaces, hostname } from 'node:os'
import { loopbackGuard, tokenGuard } from '../../access/guard.ts'
import { isLoopbackHost } from '../../access/loopback.ts'
import { ensureCertificate } from '../../access/tls.ts'
import { createTokenFile } from '../../access/tokens.ts'
import type { HttpApp, HttpListener, ListenOptions } from '../../transports/http.ts'
import type { DialectLog } from './log.ts'
import type { CodecastSettings } from './settings.ts'

const PORTS_TRIED = 100

/** Listens where Codecast's clients look. An address that others reach is served with TLS and tokens only. */
export async function openListener(
  app: HttpApp,
  settings: CodecastSettings,
  log: DialectLog,
): Promise<HttpListener> {
  const options = isLoopbackHost(settings.bind)
    ? { host: loopbackAddress(settings.bind), guard: loopbackGuard() }
    : await exposed(settings, log)
  return firstFree(app, options, settings.port)
}

/** `localhost` may mean either address; clients of this protocol use 127.0.0.1. */
function loopbackAddress(bind: string): string {
  return bind.includes(':') || /^[\d.]+$/.test(bind) ? bind : '127.0.0.1'
}

async function exposed(settings: CodecastSettings, log: DialectLog): Promise<Omit<ListenOptions, 'port'>> {
  const { bind, tokensFile, tlsCert, tlsKey } = settings
  const tls = await ensureCertificate({ certPath: tlsCert, keyPath: tlsKey, names: namesOf(bind) })
  log.info({ fingerprint: tls.fingerprint256, cert: tlsCert }, 'Codecast TLS certificate')
  const tokens = await createTokenFile({ path: tokensFile, onProblem: (problem) => log.warn({}, problem) })
  return { host: bind, tls: { cert: tls.cert, key: tls.key }, guard: tokenGuard(tokens) }
}

function namesOf(bind: string): string[] {
  if (bind !== '0.0.0.0' && bind !== '::') return [bind, hostname()]
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  return [
    hostname(),
    ...addresses.filter((a) => !a.internal && !a.address.startsWith('fe80')).map((a) => a.address),
  ]
}

async function firstFree(
  app: HttpApp,
  options: Omit<ListenOptions, 'port'>,
  port: number,
): Promise<HttpListener> {
  for (let tried = port; ; tried++) {
    try {
      return await app.listen({ ...options, port: tried })
    } catch (error) {
      const busy = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
      if (!busy || port === 0 || tried >= Math.min(port + PORTS_TRIED, 65_535)) throw error
    }
  }
}
