import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { until } from '../support/wait.ts'
import { open } from '../transports/websocket-support.ts'
import { corral } from '../cli/support.ts'
import { headersOf, ownPage, send, signIn, whoami, type Jar } from './browser.ts'
import { daemonFor, doorOf, nativeFor, tokenOf, webSocketOf } from './support.ts'

/** Of the tests that leave its token alone, and are not wrong too often. */
let daemon: TestDaemon

before(async () => {
  daemon = await startDaemon()
})
after(() => daemon.stop())

/** A WebSocket of a page that has this jar; what it is told first, and the code that it is closed with. */
async function visit(t: TestContext, own: TestDaemon, jar: Jar, origin = doorOf(own)) {
  const client = await open(t, webSocketOf(own), { headers: { cookie: jar.cookie, origin } })
  const say = (id: number, method: string, params: object): void =>
    client.ws.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
  say(1, 'daemon.auth', { key: jar.key })
  const [answer] = await client.got(1)
  const { result } = JSON.parse(answer!) as { result?: { authenticated: boolean } }
  return { ...client, say, isIn: result?.authenticated === true }
}

test('a token lets a browser in, and the cookie is for this port and no script', async (t) => {
  const { status, headers, jar } = await signIn(daemon, { token: tokenOf(daemon) })
  assert.equal(status, 200)
  const [cookie] = headers['set-cookie'] as string[]
  const { port } = new URL(doorOf(daemon))
  assert.match(
    cookie!,
    new RegExp(`^corral_${port}=[\\w.-]+; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000$`),
  )
  assert.equal(headers['cache-control'], 'no-store')
  assert.ok(!cookie!.includes(tokenOf(daemon)) && !jar.key.includes(tokenOf(daemon)))
  const { version, ...who } = await whoami(daemon, jar)
  assert.deepEqual(who, { signedIn: true, device: null })
  assert.match(version!, /^\d+\.\d+\.\d+/)
  const visitor = await visit(t, daemon, jar)
  visitor.say(2, 'daemon.status', {})
  const [, answer] = await visitor.got(2)
  assert.equal((JSON.parse(answer!) as { result: { pid: number } }).result.pid, daemon.pid)
})

test('nobody is signed in without both halves, as they were', async (t) => {
  const { jar } = await signIn(daemon, { token: tokenOf(daemon) })
  const other = await signIn(daemon, { token: tokenOf(daemon) })
  const [name, value] = jar.cookie.split('=') as [string, string]
  const parts = value.split('.')
  const later = [...parts.slice(0, 2), (Date.now() + 1e6).toString(36), parts[3]].join('.')
  const forged: Jar[] = [
    { cookie: '', key: '' },
    { ...jar, key: '' },
    { ...jar, cookie: '' },
    { ...jar, key: other.jar.key },
    { ...jar, key: jar.key.slice(1) },
    { ...jar, cookie: `${name}=${value.slice(0, -1)}` },
    { ...jar, cookie: `${name}=${later}` },
    { ...jar, cookie: `${name}=${value.replace('.owner.', '.other.')}` },
    { ...jar, cookie: `corral_1=${value}` },
    { ...jar, cookie: `${name}=${tokenOf(daemon)}`, key: tokenOf(daemon) },
  ]
  for (const jar of forged) {
    const { signedIn, version } = await whoami(daemon, jar)
    assert.deepEqual([signedIn, version], [false, null], JSON.stringify(jar))
    const visitor = await visit(t, daemon, jar)
    assert.deepEqual([visitor.isIn, await visitor.closed], [false, 1008])
  }
})

test('pages of others cannot sign anybody in or out, nor use the cookie that the browser sends along', async (t) => {
  const { jar } = await signIn(daemon, { token: tokenOf(daemon) })
  const { port } = new URL(doorOf(daemon))
  const token = tokenOf(daemon)
  const strangers: Record<string, string>[] = [
    {},
    { origin: 'http://127.0.0.1:1' },
    { origin: 'http://localhost:3000', 'sec-fetch-site': 'same-site' },
    { origin: `http://localhost:${port}` },
    { origin: `https://127.0.0.1:${port}` },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'none' },
    { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    { origin: 'null', 'sec-fetch-site': 'cross-site' },
  ]
  for (const page of strangers) {
    const login = await send(daemon, 'POST', '/signin', page, { token })
    assert.deepEqual([login.status, login.cookie], [403, ''], JSON.stringify(page))
    const logout = await send(daemon, 'POST', '/signout', { ...page, ...headersOf(jar) }, {})
    assert.equal(logout.status, 403)
    const who = await send(daemon, 'GET', '/whoami', { ...page, ...headersOf(jar) })
    assert.ok(who.status === 403 || !who.json<{ signedIn: boolean }>().signedIn)
  }
  for (const origin of ['http://127.0.0.1:1', `http://localhost:${port}`, `https://127.0.0.1:${port}`]) {
    assert.equal((await visit(t, daemon, jar, origin)).isIn, false, origin)
  }
  assert.equal((await whoami(daemon, jar)).signedIn, true, 'and still is')
})

test('a form cannot ask for it: only JSON counts', async () => {
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
    const headers = { ...ownPage(daemon), 'content-type': type }
    const body = JSON.stringify({ token: tokenOf(daemon) })
    assert.equal((await send(daemon, 'POST', '/signin', headers, body)).status, 415)
  }
  for (const body of ['', '[]', 'null', '{', '"x"']) {
    assert.equal((await send(daemon, 'POST', '/signin', ownPage(daemon), body)).status, 400, body)
  }
  const long = JSON.stringify({ token: 'x'.repeat(5000) })
  assert.equal((await send(daemon, 'POST', '/signin', ownPage(daemon), long)).status, 413)
})

test('a code lets one browser in, once', async (t) => {
  const client = await nativeFor(t, daemon)
  const { code, url, expiresAt } = await client.call('door.code')
  assert.equal(url, `${doorOf(daemon)}/signin#code=${code}`)
  assert.ok(expiresAt > Date.now() && expiresAt <= Date.now() + 60_000)
  const first = await signIn(daemon, { code })
  assert.deepEqual(await whoami(daemon, first.jar).then(({ signedIn }) => signedIn), true)
  const second = await signIn(daemon, { code })
  assert.deepEqual([second.status, second.cookie], [401, ''])
  assert.match(second.body, /corral open/)
})

test('a PIN makes a device of a browser, which is out at once when it is revoked', async (t) => {
  const client = await nativeFor(t, daemon)
  const { pin } = await client.call('device.pin')
  const { status, jar } = await signIn(daemon, { pin, name: 'Phone' })
  assert.equal(status, 200)
  const { device } = await whoami(daemon, jar)
  assert.equal(device?.name, 'Phone')
  const visitor = await visit(t, daemon, jar)
  visitor.say(2, 'door.code', {})
  const refusal = JSON.parse((await visitor.got(2))[1]!) as { error: { data: { code: string } } }
  assert.equal(refusal.error.data.code, 'forbidden', 'it manages nothing')
  const listed = (await client.call('device.list')).devices.find(({ id }) => id === device?.id)
  assert.deepEqual([listed?.platform, listed?.scopes], ['web', ['use']])
  await client.call('device.revoke', { deviceId: device!.id })
  assert.equal(await visitor.closed, 1008)
  assert.equal((await whoami(daemon, jar)).signedIn, false)
  assert.equal((await visit(t, daemon, jar)).isIn, false)
  const again = await signIn(daemon, { pin, name: 'Phone' })
  assert.equal(again.status, 401)
})

test('a code that a device has asked for signs in as that device, and not after it is put out', async (t) => {
  const client = await nativeFor(t, daemon)
  const { pin } = await client.call('device.pin', { scopes: ['use', 'manage'] })
  const { token, device } = await client.call('device.pair', { pin, name: 'Desk', platform: 'linux' })
  const remote = await nativeFor(t, daemon, token)
  const [first, second] = [await remote.call('door.code'), await remote.call('door.code')]
  const { jar } = await signIn(daemon, { code: first.code })
  assert.equal((await whoami(daemon, jar)).device?.id, device.id)
  await client.call('device.revoke', { deviceId: device.id })
  assert.equal((await signIn(daemon, { code: second.code })).status, 401)
  assert.equal((await whoami(daemon, jar)).signedIn, false)
})

test('who signs out is out, in every tab, also after a restart', async (t) => {
  const own = await daemonFor(t)
  const { jar } = await signIn(own, { token: tokenOf(own) })
  const other = await signIn(own, { token: tokenOf(own) })
  const [tab, stranger] = [await visit(t, own, jar), await visit(t, own, other.jar)]
  const answer = await send(own, 'POST', '/signout', { ...ownPage(own), ...headersOf(jar) }, {})
  assert.equal(answer.status, 204)
  assert.match(String(answer.headers['set-cookie']), /=; Path=\/; HttpOnly; SameSite=Strict; Max-Age=0$/)
  assert.equal(await tab.closed, 1008)
  assert.equal((await whoami(own, jar)).signedIn, false)
  assert.equal(stranger.ws.readyState, stranger.ws.OPEN, 'another browser stays')
  const file = join(own.corralHome, 'signed-out.json')
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.ok(!readFileSync(file, 'utf8').includes(jar.key))
  await own.terminate()
  // Another port is another name for the cookie.
  await own.restart()
  const named = ({ cookie, key }: Jar): Jar => {
    return { cookie: cookie.replace(/^corral_\d+/, `corral_${new URL(doorOf(own)).port}`), key }
  }
  assert.equal((await whoami(own, named(jar))).signedIn, false)
  assert.equal((await whoami(own, named(other.jar))).signedIn, true)
})

test('a new token of the owner ends all that the old one has let in', async (t) => {
  const own = await daemonFor(t)
  const old = tokenOf(own)
  const { jar } = await signIn(own, { token: old })
  const visitor = await visit(t, own, jar)
  assert.equal((await corral(own.env, ['token', 'new'])).code, 0)
  assert.equal(await visitor.closed, 1008)
  assert.equal((await whoami(own, jar)).signedIn, false)
  assert.equal((await signIn(own, { token: old })).status, 401)
  assert.equal((await signIn(own, { token: tokenOf(own) })).status, 200)
})

test('who is wrong too often has to wait, and is told how long', async (t) => {
  const own = await daemonFor(t)
  for (let tries = 0; tries < 10; tries++) {
    const { status, body } = await signIn(own, tries % 2 ? { token: 'x' } : { code: 'y' })
    assert.equal(status, 401)
    assert.match(body, /corral (token show|open)/)
  }
  const { status, headers, body } = await signIn(own, { token: tokenOf(own) })
  assert.equal(status, 429)
  const seconds = Number(headers['retry-after'])
  assert.ok(seconds > 0 && seconds <= 60)
  assert.match(body, new RegExp(`Wait ${seconds} seconds`))
})

test('corral open --print shows an address that works once', async () => {
  const { stdout, stderr, code } = await corral(daemon.env, ['open', '--print'])
  assert.equal(code, 0)
  const [, found] = /^http:\/\/127\.0\.0\.1:\d+\/signin#code=([\w-]+)\n$/.exec(stdout) ?? []
  assert.match(stderr, /once/)
  assert.equal((await signIn(daemon, { code: found })).status, 200)
  const json = await corral(daemon.env, ['open', '--json'])
  assert.deepEqual(Object.keys(json.json()[0]!), ['url', 'expiresAt'])
})

test('corral open hands the address to the browser, and prints it where there is none', async (t) => {
  const own = await daemonFor(t)
  const script = join(own.home, 'browser')
  const seen = join(own.home, 'seen')
  writeFileSync(script, `#!/bin/sh\nprintf %s "$1" > '${seen}'\n`, { mode: 0o755 })
  const screen = { ...own.env, DISPLAY: ':9' }
  const opened = await corral({ ...screen, BROWSER: script }, ['open'])
  assert.deepEqual([opened.code, opened.stdout], [0, ''])
  assert.ok(!opened.stderr.includes('#code='))
  const address = await until(() => existsSync(seen) && readFileSync(seen, 'utf8'), 'the browser')
  assert.match(address, /\/signin#code=/)
  const failed = await corral({ ...screen, BROWSER: '/nonexistent' }, ['open'])
  assert.match(failed.stdout, /\/signin#code=/)
})

test('without a front door there is no dashboard, and people are told', async (t) => {
  const own = await daemonFor(t, { CORRAL_HTTP_ENABLED: 'false' })
  const { code, stderr } = await corral(own.env, ['open', '--print'])
  assert.equal(code, 1)
  assert.match(stderr, /http\.enabled/)
})
