import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { test } from 'node:test'
import { arrival } from '../support/wait.ts'
import { signIn } from './browser.ts'
import { daemonFor, doorOf, nativeFor, tokenOf } from './support.ts'

test('over TLS the cookie is sent over TLS only, and to this host only', async (t) => {
  const daemon = await daemonFor(t, { CORRAL_HTTP_BIND: '0.0.0.0' })
  const { port } = new URL(doorOf(daemon))
  const ca = readFileSync(join(daemon.corralHome, 'tls-cert.pem'))
  const send = (origin: string): Promise<{ status: number; cookie: string }> =>
    new Promise((resolve, reject) => {
      const headers = { host: `127.0.0.1:${port}`, origin, 'content-type': 'application/json' }
      const options = { hostname: '127.0.0.1', port, path: '/signin', method: 'POST', headers, ca }
      const req = request({ ...options, checkServerIdentity: () => undefined }, (res) => {
        res.resume()
        res.on('end', () =>
          resolve({ status: res.statusCode!, cookie: res.headers['set-cookie']?.[0] ?? '' }),
        )
      })
      req.on('error', reject).end(JSON.stringify({ token: tokenOf(daemon) }))
    })
  const { status, cookie } = await send(`https://127.0.0.1:${port}`)
  assert.equal(status, 200)
  assert.match(cookie, new RegExp(`^__Host-corral_${port}=.*; Secure$`))
  assert.equal((await send(`http://127.0.0.1:${port}`)).status, 403)
})

/** Node becomes the other user only once it runs: where it is may be open to nobody but its owner. */
const AS_NOBODY = `
  process.setgroups([]); process.setgid(65534); process.setuid(65534)
  const [url, body, times] = process.argv.slice(1)
  const headers = { origin: url, 'content-type': 'application/json' }
  const { request } = require('node:http')
  const ask = (left) => left > 0 && request(url + '/signin', { method: 'POST', headers }, (res) => {
    console.log(res.statusCode)
    res.resume().on('end', () => ask(left - 1))
  }).end(body)
  ask(Number(times))`

async function asNobody(url: string, credential: object, times = 1): Promise<string> {
  const child = spawn(process.execPath, ['-e', AS_NOBODY, url, JSON.stringify(credential), String(times)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = child.stdout.setEncoding('utf8').toArray()
  return (await arrival(lines, 'the other user has an answer')).join('').trim()
}

const root = process.getuid?.() === 0 && process.platform === 'linux'
test(
  'a code that another user of the machine has seen is of no use to them',
  { skip: !root && 'takes root, on Linux' },
  async (t) => {
    const daemon = await daemonFor(t)
    const client = await nativeFor(t, daemon)
    const { code } = await client.call('door.code')
    assert.equal(await asNobody(doorOf(daemon), { code }), '403')
    assert.equal(
      await asNobody(doorOf(daemon), { token: tokenOf(daemon) }),
      '200',
      'a token is shown by its holder',
    )
    const open = await daemonFor(t, { CORRAL_HTTP_OTHER_USERS: 'true' })
    const other = await (await nativeFor(t, open)).call('door.code')
    assert.equal(await asNobody(doorOf(open), { code: other.code }), '200')
  },
)

test(
  'another user who is wrong too often does not keep the owner out',
  { skip: !root && 'takes root, on Linux' },
  async (t) => {
    const daemon = await daemonFor(t)
    const answers = await asNobody(doorOf(daemon), { token: 'wrong' }, 11)
    assert.deepEqual(answers.split('\n').toSorted(), [...Array<string>(10).fill('401'), '429'])
    assert.equal((await signIn(daemon, { token: tokenOf(daemon) })).status, 200)
  },
)
