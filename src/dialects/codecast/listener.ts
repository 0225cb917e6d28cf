import { exposureOf } from '../../access/exposure.ts'
import { tokenGuard } from '../../access/guard.ts'
import { localGuard } from '../../access/same-user.ts'
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
  otherUsers: boolean,
): Promise<HttpListener> {
  const { bind, tokensFile, tlsCert: certPath, tlsKey: keyPath } = settings
  const { host, certificate } = await exposureOf(bind, { certPath, keyPath })
  if (!certificate) return firstFree(app, { host, guard: localGuard(otherUsers) }, settings.port)
  log.info({ fingerprint: certificate.fingerprint256, cert: certPath }, 'Codecast TLS certificate')
  const tokens = await createTokenFile({ path: tokensFile, onProblem: (problem) => log.warn({}, problem) })
  return firstFree(app, { host, tls: certificate, guard: tokenGuard(tokens) }, settings.port)
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
