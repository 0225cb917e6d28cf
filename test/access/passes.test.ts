import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { createPasses, type PassParts, type Passes } from '../../src/access/passes.ts'
import type { Device } from '../../src/core/devices.ts'

const DAY = 24 * 60 * 60 * 1000
const HOST = '127.0.0.1:2677'
const PHONE: Device = {
  id: '0190-phone',
  name: 'Phone',
  platform: 'web',
  scopes: ['use'],
  pairedAt: 0,
  lastSeenAt: null,
}

const keyOf = (secret: string, purpose: string): Buffer =>
  createHash('sha256').update(`${secret} ${purpose}`).digest()

/** Passes with a clock, a token of the owner's and one of a phone's, all of which can be changed. */
function workshop() {
  const world = { now: 1000, token: 'owner', phone: 'phone' as string | null }
  const ended = new Set<string>()
  const parts: PassParts = {
    ownerKey: (purpose) => keyOf(world.token, purpose),
    deviceKey: (id, purpose) => (id === PHONE.id && world.phone ? keyOf(world.phone, purpose) : null),
    device: (id) => (id === PHONE.id && world.phone ? PHONE : null),
    ended: { has: (id) => ended.has(id), add: (id) => void ended.add(id) },
    now: () => world.now,
  }
  return { world, passes: createPasses(parts) }
}

interface Asked {
  cookie?: string
  host?: string
  origin?: string
  tls?: boolean
}

function request({ cookie, host = HOST, tls = false, origin }: Asked = {}): IncomingMessage {
  const own = `${tls ? 'https' : 'http'}://${host}`
  const headers = { host, origin: origin ?? own, ...(cookie !== undefined && { cookie }) }
  return { headers, socket: tls ? { encrypted: true } : {} } as unknown as IncomingMessage
}

const valueOf = (cookie: string): string => cookie.split(';', 1)[0]!

function issue(passes: Passes, device: Device | null = null): { cookie: string; key: string } {
  const { cookie, key } = passes.issue(request(), device)!
  return { cookie: valueOf(cookie), key }
}

test('a pass is good for thirty days, and is written anew while it is used', () => {
  const { world, passes } = workshop()
  const { cookie, key } = issue(passes)
  const find = (shown = cookie) => passes.find(request({ cookie: shown }), key)
  assert.equal(find()?.device, null)
  assert.equal(passes.renewed(request(), find()!), null, 'it is fresh')
  world.now += 2 * DAY
  const fresh = valueOf(passes.renewed(request(), find()!)!)
  assert.notEqual(fresh, cookie)
  world.now += 29 * DAY
  assert.equal(find(), null)
  assert.ok(find(fresh), 'the key stays the same: another tab may be about to show it')
  assert.equal(find(fresh)!.holds(), true)
  world.now += 2 * DAY
  assert.equal(find(fresh), null)
})

test('it ends with the token that it came from', () => {
  const { world, passes } = workshop()
  const [owner, phone] = [issue(passes), issue(passes, PHONE)]
  const find = ({ cookie, key }: typeof owner) => passes.find(request({ cookie }), key)
  const [first, second] = [find(owner)!, find(phone)!]
  assert.equal(second.device?.id, PHONE.id)
  world.token = 'another'
  assert.deepEqual([first.holds(), find(owner), second.holds()], [false, null, true])
  world.phone = 'new'
  assert.deepEqual([second.holds(), find(phone)], [false, null])
  world.phone = null
  assert.equal(passes.issue(request(), PHONE), null)
  assert.equal(find(phone), null)
})

test('who has signed out is out', () => {
  const { passes } = workshop()
  const { cookie, key } = issue(passes)
  const pass = passes.find(request({ cookie }), key)!
  assert.match(passes.end(request({ cookie }), pass), /^corral_2677=; .*Max-Age=0$/)
  assert.deepEqual([pass.holds(), passes.find(request({ cookie }), key)], [false, null])
})

test('only a page of our own brings one', () => {
  const { passes } = workshop()
  const { cookie, key } = issue(passes)
  for (const origin of ['http://127.0.0.1:3000', 'http://localhost:2677', 'null', 'https://127.0.0.1:2677']) {
    assert.equal(passes.find(request({ cookie, origin }), key), null, origin)
  }
  assert.ok(passes.find(request({ cookie: `other=1; ${cookie}; more=2` }), key))
})

test('a cookie has the port that the browser sees in its name; over TLS it is bound to the host', () => {
  const { passes } = workshop()
  const tunnel = passes.issue(request({ host: 'localhost:9999' }), null)!
  assert.match(tunnel.cookie, /^corral_9999=/)
  const secure = passes.issue(request({ host: '192.0.2.1:2677', tls: true }), null)!
  assert.match(
    secure.cookie,
    /^__Host-corral_2677=[^;]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+; Secure$/,
  )
  const bare = passes.issue(request({ host: 'corral.test', tls: true }), null)!
  assert.match(bare.cookie, /^__Host-corral_443=/)
})
