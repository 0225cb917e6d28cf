import { createPrivateKey, X509Certificate } from 'node:crypto'
import { mkdir, open, readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { dirname } from 'node:path'

export interface Certificate {
  cert: string
  key: string
  /** SHA-256 of the DER form, as `openssl x509 -fingerprint -sha256` prints it. */
  fingerprint256: string
  created: boolean
}

export interface CertificateOptions {
  certPath: string
  keyPath: string
  /** Names and addresses it is made for, besides this machine's loopback ones. */
  names?: readonly string[]
}

const DAY_MS = 86_400_000
const VALID_DAYS = 3650

/** The certificate and key at these paths; a self-signed pair is made when neither is there. Never overwrites. */
export async function ensureCertificate(options: CertificateOptions): Promise<Certificate> {
  const [cert, key] = await Promise.all([readIfThere(options.certPath), readIfThere(options.keyPath)])
  if (cert !== null && key !== null) return checked(cert, key, options, false)
  if (cert !== null || key !== null) {
    const [there, missing] =
      cert !== null ? [options.certPath, options.keyPath] : [options.keyPath, options.certPath]
    throw new Error(
      `TLS: ${there} is there but ${missing} is not; add it, or remove both to have a pair made`,
    )
  }
  const made = await selfSigned(options.names ?? [])
  await writeNew(options.keyPath, made.key, 0o600)
  await writeNew(options.certPath, made.cert, 0o644)
  return checked(made.cert, made.key, options, true)
}

function checked(cert: string, key: string, options: CertificateOptions, created: boolean): Certificate {
  const parsed = new X509Certificate(cert)
  if (!parsed.checkPrivateKey(createPrivateKey(key))) {
    throw new Error(`TLS: ${options.keyPath} is not the key of ${options.certPath}`)
  }
  return { cert, key, fingerprint256: parsed.fingerprint256, created }
}

async function selfSigned(names: readonly string[]): Promise<{ cert: string; key: string }> {
  const { generate } = await import('selfsigned')
  const all = [...new Set(['localhost', '127.0.0.1', '::1', ...names])]
  const pems = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notBeforeDate: new Date(Date.now() - DAY_MS),
    notAfterDate: new Date(Date.now() + VALID_DAYS * DAY_MS),
    extensions: [
      { name: 'basicConstraints', cA: false },
      { name: 'keyUsage', digitalSignature: true, keyEncipherment: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: all.map((name) => (isIP(name) ? { type: 7, ip: name } : { type: 2, value: name })),
      },
    ],
  })
  return { cert: pems.cert, key: pems.private }
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

async function writeNew(path: string, content: string, mode: number): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const file = await open(path, 'wx', mode)
  try {
    await file.writeFile(content)
  } finally {
    await file.close()
  }
}
