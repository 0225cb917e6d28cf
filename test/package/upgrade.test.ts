import assert from 'node:assert/strict'
import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { once } from 'node:events'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { signedText } from '../../src/system/release.ts'
import { HELD } from '../support/held.ts'
import { until } from '../support/wait.ts'
import { newUser, pack, run, succeed, type Ended, type NewUser } from './support.ts'

const NEWER = '99.1.0'
const keys = generateKeyPairSync('ed25519')
const strangers = generateKeyPairSync('ed25519')

let user: NewUser
let prefix: string
let corral: string
let options: { env: NodeJS.ProcessEnv; cwd: string }
let server: Server
/** What the server has, by path. */
const served = new Map<string, Buffer>()

before(async () => {
  user = newUser()
  options = { env: user.env, cwd: user.home }
  prefix = join(user.home, 'prefix')
  corral = join(prefix, 'bin/corral')
  const { path } = await pack(user, user.home)
  await succeed('npm', ['install', '--global', '--offline', '--prefix', prefix, path], options)
  served.set('/newer.tgz', await newerPackage(path))
  server = createServer((request, response) => {
    const found = served.get(request.url!)
    if (found) response.end(found)
    else response.writeHead(404).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  mkdirSync(join(user.home, '.corral'))
  const key = keys.publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64')
  const config = `updates: { feed: 'http://127.0.0.1:${port}/feed.json', publicKey: '${key}' }\n`
  writeFileSync(join(user.home, '.corral/config.yaml'), config)
})
after(async () => {
  await run(corral, ['stop', '--now'], options)
  server.closeAllConnections()
  server.close()
  user.remove()
})

/** The same program with another version, packed as `npm pack` does. */
async function newerPackage(path: string): Promise<Buffer> {
  const directory = join(user.home, 'newer')
  mkdirSync(directory)
  execFileSync('tar', ['xzf', path, '-C', directory])
  const manifest = join(directory, 'package/package.json')
  const text = readFileSync(manifest, 'utf8')
  writeFileSync(manifest, text.replace(/"version": "[^"]+"/, `"version": "${NEWER}"`))
  execFileSync('tar', ['czf', join(directory, 'newer.tgz'), '-C', directory, 'package'])
  return readFileSync(join(directory, 'newer.tgz'))
}

function announce(key = keys.privateKey): void {
  const sha256 = createHash('sha256').update(served.get('/newer.tgz')!).digest('hex')
  const facts = { version: NEWER, url: 'newer.tgz', sha256, notes: 'Better.' }
  const signature = sign(null, Buffer.from(signedText(facts)), key).toString('base64')
  served.set('/feed.json', Buffer.from(JSON.stringify({ ...facts, signature })))
}

async function statusOf(): Promise<{ pid: number; version: string }> {
  return JSON.parse(await succeed(corral, ['status', '--json'], options)) as { pid: number; version: string }
}

async function refused(why: RegExp): Promise<Ended> {
  const before = (await succeed(corral, ['--version'], options)).trim()
  const ended = await run(corral, ['upgrade'], options)
  assert.equal(ended.code, 1, ended.stdout)
  assert.match(ended.stderr, why)
  assert.equal((await succeed(corral, ['--version'], options)).trim(), before)
  return ended
}

test('what somebody else has signed, and what was changed on the way, is not installed', async () => {
  announce(strangers.privateKey)
  await refused(/signature/)
  announce()
  const honest = served.get('/newer.tgz')!
  served.set('/newer.tgz', Buffer.concat([honest, Buffer.from('x')]))
  await refused(/not the one that was signed/)
  served.set('/newer.tgz', honest)
})

test('the newer version is installed, the daemon restarted, and a running turn goes on', async () => {
  announce()
  await succeed(corral, ['start', '--detach'], options)
  const before = await statusOf()
  assert.match(await succeed(corral, ['upgrade', '--check'], options), new RegExp(`corral ${NEWER} is there`))
  assert.equal((await statusOf()).version, before.version)
  // A turn in the middle of which a question is open.
  const ask = ['--no-wait', HELD]
  const made = await succeed(corral, ['new', '--agent', 'demo', ...ask], options)
  const session = made.trim().split('\n')[0]!
  const open = (): Promise<string> => succeed(corral, ['approval', 'ls', '--quiet'], options)
  const approval = (await until(open, 'the agent asks')).trim()

  const installed = await succeed(corral, ['upgrade'], options)
  assert.match(installed, new RegExp(`corral ${NEWER} is installed, and the daemon`))
  const now = await statusOf()
  assert.equal(now.version, NEWER)
  assert.notEqual(now.pid, before.pid)
  assert.equal((await open()).trim(), approval)
  await succeed(corral, ['approve', approval, '--answer', '[[say gone on]]'], options)
  const history = (): Promise<string> => succeed(corral, ['history', session], options)
  await until(async () => (await history()).includes('gone on'), 'the turn is over')
  assert.match(await succeed(corral, ['upgrade'], options), new RegExp(`corral ${NEWER} is the newest`))
})
