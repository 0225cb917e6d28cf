import { hostname, networkInterfaces } from 'node:os'
import { isLoopbackHost } from './loopback.ts'
import { ensureCertificate, type Certificate } from './tls.ts'

/** Where to listen, and with which certificate if others reach it. */
export interface Exposure {
  host: string
  /** null: only this machine reaches it. */
  certificate: Certificate | null
}

export interface CertificateFiles {
  certPath: string
  keyPath: string
}

/** An address that others reach is served with TLS only. */
export async function exposureOf(bind: string, files: CertificateFiles): Promise<Exposure> {
  if (isLoopbackHost(bind)) return { host: loopbackAddress(bind), certificate: null }
  return { host: bind, certificate: await ensureCertificate({ ...files, names: namesOf(bind) }) }
}

/** `localhost` may mean either address; clients use 127.0.0.1. */
function loopbackAddress(bind: string): string {
  return bind.includes(':') || /^[\d.]+$/.test(bind) ? bind : '127.0.0.1'
}

function namesOf(bind: string): string[] {
  if (bind !== '0.0.0.0' && bind !== '::') return [bind, hostname()]
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  return [
    hostname(),
    ...addresses.filter((a) => !a.internal && !a.address.startsWith('fe80')).map((a) => a.address),
  ]
}
