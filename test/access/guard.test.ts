import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { loopbackGuard, originGuard, tokenGuard } from '../../src/access/guard.ts'
import { hostOf, isLoopbackAddress, isLoopbackHost } from '../../src/access/loopback.ts'
import type { TokenVerdict } from '../../src/access/tokens.ts'

function request(headers: Record<string, string>, remoteAddress = '127.0.0.1'): IncomingMessage {
  return { headers, socket: { remoteAddress } } as unknown as IncomingMessage
}

function status(headers: Record<string, string>): number | null {
  return loopbackGuard()(request(headers))?.status ?? null
}

function tokenStatus(verdict: TokenVerdict, headers: Record<string, string>, peer: string): string | null {
  const refusal = tokenGuard({ check: () => verdict })(request(headers, peer))
  return refusal ? `${refusal.status} ${refusal.message}` : null
}

test('names and addresses of this machine pass, with any port', () => {
  for (const host of [
    'localhost',
    'LOCALHOST:9100',
    'localhost.:1',
    'a.localhost:80',
    '127.0.0.1:19100',
    '127.8.9.1',
    '[::1]:9100',
    '[::1]',
    '[::ffff:127.0.0.1]:1',
  ]) {
    assert.equal(status({ host }), null, host)
  }
})

test('foreign, missing and malformed hosts are refused', () => {
  for (const host of [
    'evil.example',
    'evil.example:9100',
    '10.0.0.1',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '[::2]:1',
    '',
    'localhost:9100:80',
    'user@localhost',
    'localhost/evil',
    '127.evil.example',
  ]) {
    assert.equal(status({ host }), 403, host)
  }
  assert.equal(status({}), 403)
})

test('a web page of another origin is refused, one of this machine is not', () => {
  const host = '127.0.0.1:9100'
  for (const origin of ['http://localhost:3000', 'https://127.0.0.1', 'http://[::1]:5173']) {
    assert.equal(status({ host, origin }), null, origin)
  }
  for (const origin of ['https://evil.example', 'null', '', 'file://', 'http://localhost.evil.example']) {
    assert.equal(status({ host, origin }), 403, origin)
  }
})

test('from elsewhere a token is needed, and the two refusals differ', () => {
  const headers = { host: 'box.example:9100' }
  assert.equal(tokenStatus('ok', headers, '192.0.2.7'), null)
  assert.equal(tokenStatus('missing', headers, '192.0.2.7'), '401 Missing Bearer token')
  assert.equal(tokenStatus('invalid', headers, '192.0.2.7'), '401 Invalid token')
})

test('a caller on this machine needs no token, behind the host check', () => {
  const local = { host: 'localhost:9100' }
  assert.equal(tokenStatus('missing', local, '127.0.0.1'), null)
  assert.equal(tokenStatus('missing', local, '::ffff:127.0.0.1'), null)
  assert.equal(tokenStatus('missing', local, '::1'), null)
  assert.match(tokenStatus('missing', { host: 'evil.example' }, '127.0.0.1') ?? '', /^403/)
  assert.match(
    tokenStatus('missing', { ...local, origin: 'https://evil.example' }, '127.0.0.1') ?? '',
    /^403/,
  )
})

test('a reverse proxy on this machine does not lend its address to those behind it', () => {
  const headers = { host: 'localhost:9100', 'x-forwarded-for': '192.0.2.7' }
  assert.equal(tokenStatus('missing', headers, '127.0.0.1'), '401 Missing Bearer token')
})

test('loopback is told from what looks like it', () => {
  assert.ok(isLoopbackAddress('::1') && isLoopbackAddress('127.0.0.5') && isLoopbackHost('Localhost'))
  assert.ok(
    !isLoopbackAddress('128.0.0.1') && !isLoopbackAddress(undefined) && !isLoopbackHost('127.0.0.1.x'),
  )
  assert.equal(hostOf('[::1]:80'), '::1')
  assert.equal(hostOf('a b'), null)
})

test('a listener that others reach has any name, but only its own pages', () => {
  const verdict = (headers: Record<string, string>): number | null =>
    originGuard()(request(headers, '192.0.2.7'))?.status ?? null
  assert.equal(verdict({ host: 'box.lan:4300' }), null)
  assert.equal(verdict({ host: 'box.lan:4300', origin: 'https://BOX.lan:4300' }), null)
  assert.equal(verdict({ host: 'box.lan:4300', origin: 'http://localhost:3000' }), null)
  assert.equal(verdict({ host: 'box.lan:4300', origin: 'https://evil.example' }), 403)
  assert.equal(verdict({ host: 'box.lan:4300', origin: 'https://box.lan' }), 403)
  assert.equal(verdict({ host: 'box.lan:4300', origin: 'null' }), 403)
  assert.equal(verdict({ origin: 'null' }), 403)
})
