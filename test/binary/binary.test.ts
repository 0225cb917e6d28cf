import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { newUser, ROOT, run, succeed, type NewUser } from '../package/support.ts'
import { until } from '../support/wait.ts'

let user: NewUser
let corral: string
let options: { env: NodeJS.ProcessEnv; cwd: string }

before(() => {
  user = newUser()
  corral = join(user.home, 'bin/corral')
  mkdirSync(join(user.home, 'bin'))
  // Far from the sources, and with no Node in sight.
  copyFileSync(join(ROOT, 'build/corral'), corral)
  for (const name of readdirSync('/usr/bin').filter((one) => !/^(node|npm|npx|corral)/.test(one)))
    symlinkSync(join('/usr/bin', name), join(user.home, 'bin', name))
  options = { env: { ...user.env, PATH: join(user.home, 'bin') }, cwd: user.home }
})
after(() => user.remove())

interface Status {
  pid: number
  listeners: { name: string; address: string }[]
}

async function status(): Promise<Status> {
  return JSON.parse(await succeed(corral, ['status', '--json'], options)) as Status
}

test('it knows its version and its commands', async () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
  assert.equal((await succeed(corral, ['--version'], options)).trim(), version)
  assert.match(await succeed(corral, ['--help'], options), /^  start +Start the daemon/m)
  const { code, stderr } = await run(corral, ['nothing'], options)
  assert.equal(code, 2)
  assert.match(stderr, /unknown command 'nothing'/)
})

test('the executable alone is the daemon, the demo agent, the writer thread and the dashboard', async () => {
  await succeed(corral, ['start', '--detach'], options)
  try {
    const before = await status()
    assert.equal(readlinkSync(`/proc/${before.pid}/exe`), corral)
    const said = await succeed(corral, ['new', '--agent', 'demo', 'hello from one file'], options)
    assert.match(said, /echo: hello from one file/)
    // So many events that a thread writes them.
    const long = await succeed(corral, ['new', '--agent', 'demo', '[[drip 5000 0]]'], options)
    assert.ok(long.length > 10_000)
    const log = readFileSync(join(user.home, '.corral/corral.log'), 'utf8')
    assert.doesNotMatch(log, /"level":"(warn|error)"/)
    await looksAtDashboard(before)
    await survivesRestart()
  } finally {
    await succeed(corral, ['stop', '--now'], options)
  }
})

async function looksAtDashboard({ listeners }: Status): Promise<void> {
  const { address } = listeners.find(({ name }) => name === 'corral')!
  const page = await (await fetch(address, { headers: { accept: 'text/html' } })).text()
  const [, script] = /<script type="module"[^>]* src="([^"]+)"/.exec(page) ?? assert.fail(page)
  for (const encoding of ['identity', 'gzip', 'br']) {
    const found = await fetch(new URL(script!, address), { headers: { 'accept-encoding': encoding } })
    assert.equal(found.headers.get('content-encoding'), encoding === 'identity' ? null : encoding)
    assert.ok((await found.text()).length > 1000)
  }
}

/** A turn goes on while one daemon ends and the next one begins. */
async function survivesRestart(): Promise<void> {
  const made = await succeed(corral, ['new', '--agent', 'demo', '--no-wait', '[[drip 100 40]]'], options)
  const session = made.trim().split('\n')[0]!
  await until(async () => (await history(session)).includes('drip'), 'the turn runs')
  const first = await status()
  await succeed(corral, ['restart'], options)
  assert.notEqual((await status()).pid, first.pid)
  await until(async () => (await history(session)).includes('w99 w100'), 'the turn is over')
}

function history(session: string): Promise<string> {
  return succeed(corral, ['history', session], options)
}
