import assert from 'node:assert/strict'
import { createHash, X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync, unlinkSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ensureCertificate } from '../../src/access/tls.ts'
import { createHttpApp, sendText } from '../../src/transports/http.ts'

const dir = mkdtempSync(join(tmpdir(), 'corral-tls-'))
after(() => rmSync(dir, { recursive: true }))
const options = {
  certPath: join(dir, 'new', 'tls-cert.pem'),
  keyPath: join(dir, 'new', 'tls-key.pem'),
  names: ['box.example', '192.0.2.1'],
}

test('a pair is made once, for this machine and the names asked for, with a private key file', async () => {
  const made = await ensureCertificate(options)
  assert.equal(made.created, true)
  assert.equal(statSync(options.keyPath).mode & 0o777, 0o600)
  const parsed = new X509Certificate(readFileSync(options.certPath))
  for (const name of ['localhost', 'box.example']) assert.ok(parsed.checkHost(name), name)
  for (const ip of ['127.0.0.1', '::1', '192.0.2.1']) assert.ok(parsed.checkIP(ip), ip)
  const hex = createHash('sha256').update(parsed.raw).digest('hex').toUpperCase()
  assert.equal(made.fingerprint256, hex.match(/../g)?.join(':'))
  const again = await ensureCertificate(options)
  assert.deepEqual([again.created, again.cert], [false, made.cert])
})

test('a listener with it is spoken to over TLS by a client that trusts it', async () => {
  const { cert, key } = await ensureCertificate(options)
  const app = createHttpApp()
  app.route('GET', '/', ({ res }) => sendText(res, 200, 'secret hello'))
  const listener = await app.listen({ host: '127.0.0.1', port: 0, tls: { cert, key } })
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  request(listener.url, { ca: cert }, (res) => res.on('data', (part: Buffer) => resolve(part.toString())))
    .on('error', reject)
    .end()
  assert.equal(await promise, 'secret hello')
  await assert.rejects(fetch(listener.url.replace('https', 'http')))
  await app.close(0)
})

test('half a pair is not overwritten', async () => {
  unlinkSync(options.keyPath)
  await assert.rejects(ensureCertificate(options), /tls-key.pem is not/)
})
