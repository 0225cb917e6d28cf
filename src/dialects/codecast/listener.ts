import { exposureOf } from '../../access/exposure.ts'
import { tokenGuard } from '../../access/guard.ts'
import { localGuard } from '../../access/same-user.ts'
import { createTokenFile } from '../../access/tokens.ts'
import type { HttpApp, HttpListener } from '../../transports/http.ts'
import { listenNear } from '../../transports/listen-near.ts'
import type { DialectLog } from '../dialect.ts'
import type { CodecastSettings } from './settings.ts'

/** Listens where Codecast's clients look. An address that others reach is served with TLS and tokens only. */
export async function openListener(
  app: HttpApp,
  settings: CodecastSettings,
  log: DialectLog,
  otherUsers: boolean,
): Promise<HttpListener> {
  const { bind, port, tokensFile, tlsCert: certPath, tlsKey: keyPath } = settings
  const { host, certificate } = await exposureOf(bind, { certPath, keyPath })
  const own = localGuard(otherUsers)
  if (!certificate) return listenNear(app, { host, port, guard: own })
  log.info({ fingerprint: certificate.fingerprint256, cert: certPath }, 'Codecast TLS certificate')
  const tokens = await createTokenFile({ path: tokensFile, onProblem: (problem) => log.warn({}, problem) })
  return listenNear(app, { host, port, tls: certificate, guard: tokenGuard(tokens, own) })
}
