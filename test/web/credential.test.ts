import assert from 'node:assert/strict'
import { test } from 'node:test'
import { credentialIn, deviceName, typedCredential } from '../../web/client/credential.ts'

test('a code or a PIN stands behind the address', () => {
  assert.deepEqual(credentialIn('#code=Ab-_9', 'x'), { code: 'Ab-_9' })
  assert.deepEqual(credentialIn('#pin=123456', 'Phone'), { pin: '123456', name: 'Phone' })
  for (const hash of ['', '#', '#main', '#code=', '#code=a b', '#token=abc', '#x=1&code=abc']) {
    assert.equal(credentialIn(hash, 'x'), null, hash)
  }
})

test('six digits are a PIN, anything else is a token', () => {
  assert.deepEqual(typedCredential(' 123 456 ', 'Phone'), { pin: '123456', name: 'Phone' })
  assert.deepEqual(typedCredential('123456', 'Phone'), { pin: '123456', name: 'Phone' })
  assert.deepEqual(typedCredential('0123456789abcdef', 'x'), { token: '0123456789abcdef' })
  assert.equal(typedCredential('  ', 'x'), null)
})

test('a browser is called what its user would call it', () => {
  const names = [
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 Version/19.0 Mobile/15E148 Safari/604.1',
    'Mozilla/5.0 (Android 16; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0',
    'Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/150.0.0.0 Safari/537.36 Edg/150.0.0.0',
    'curl/8',
  ].map(deviceName)
  assert.deepEqual(names, [
    'Chrome on Linux',
    'Safari on iPhone',
    'Firefox on Android',
    'Edge on Windows',
    'Browser',
  ])
})
