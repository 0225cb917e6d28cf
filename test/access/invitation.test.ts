import assert from 'node:assert/strict'
import { networkInterfaces } from 'node:os'
import { test } from 'node:test'
import { invitationTo } from '../../src/access/invitation.ts'

const about = { pin: '123456', name: 'Den', daemonId: 'd' }

test('a device is told where to go, in both spellings', () => {
  assert.deepEqual(invitationTo('wss://192.168.1.5:4300', about), {
    url: 'wss://192.168.1.5:4300',
    reachable: true,
    link: 'clawd://connect?host=192.168.1.5&port=4300&pin=123456',
    json: '{"host":"Den","url":"wss://192.168.1.5:4300","relay":"","daemonId":"d","pin":"123456"}',
  })
  const six = invitationTo('wss://[fd00::1]:4300', about)
  assert.deepEqual([six.url, six.link.includes('host=fd00%3A%3A1&')], ['wss://[fd00::1]:4300', true])
  assert.match(invitationTo('wss://example.test:443', about).link, /port=443&/)
})

test('loopback reaches nobody else', () => {
  for (const host of ['127.0.0.1', 'localhost', '[::1]'])
    assert.equal(invitationTo(`ws://${host}:1`, about).reachable, false, host)
})

test('every address of this machine is one that others can use, if there is one', () => {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  const others = all.filter(({ internal, family }) => !internal && family === 'IPv4')
  for (const host of ['0.0.0.0', '[::]']) {
    const { url, reachable } = invitationTo(`wss://${host}:4300`, about)
    assert.equal(reachable, others.length > 0)
    const expected = others.length > 0 ? others.map(({ address }) => address) : ['127.0.0.1']
    assert.ok(expected.includes(new URL(url).hostname), url)
  }
})
