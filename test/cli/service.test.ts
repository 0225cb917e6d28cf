import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { COMPILED } from '../support/daemon.ts'
import { HELD } from '../support/held.ts'
import { until } from '../support/wait.ts'
import { corral, type Outcome } from './support.ts'

/*
 * There is no systemd in the tests. What stands in for `systemctl` (manager.ts) is the thin edge only: it starts and stops what
 * the unit says as systemd would with KillMode=process. The unit, the daemon, its agents and the command line are real.
 */

interface Machine {
  env: NodeJS.ProcessEnv
  unit: string
  plist: string
  corral(...args: string[]): Promise<Outcome>
  calls(): string[]
}

function machine(t: TestContext): Machine {
  const home = mkdtempSync(join(tmpdir(), 'corral-service-'))
  const bin = join(home, 'bin')
  mkdirSync(bin)
  for (const name of ['systemctl', 'launchctl'])
    symlinkSync(join(import.meta.dirname, 'manager.ts'), join(bin, name))
  mkdirSync(join(home, '.corral'))
  const off = ['codecast', 'clawde', 'relay', 'humanlayer'].map((name) => `${name}: { enabled: false }`)
  writeFileSync(join(home, '.corral/config.yaml'), ['http: { port: 0 }', ...off, ''].join('\n'))
  const env = {
    PATH: `${bin}:${process.env['PATH']}`,
    LANG: 'C.UTF-8',
    HOME: home,
    ...COMPILED,
    MANAGER_STATE: home,
  }
  const run = (...args: string[]) => corral(env, args)
  t.after(async () => {
    await run('stop', '--now')
    rmSync(home, { recursive: true, force: true })
  })
  return {
    env,
    unit: join(home, '.config/systemd/user/corral.service'),
    plist: join(home, 'Library/LaunchAgents/dev.corral.daemon.plist'),
    corral: run,
    calls: () => readFileSync(join(home, 'calls'), 'utf8').trim().split('\n'),
  }
}

async function ok(outcome: Promise<Outcome>): Promise<Outcome> {
  const found = await outcome
  assert.equal(found.code, 0, found.stdout + found.stderr)
  return found
}

test('installed, the service runs the daemon; a turn goes on while it is restarted; uninstalled, nothing is left', async (t) => {
  const place = machine(t)
  assert.equal((await place.corral('service', 'status')).code, 3)
  assert.match((await ok(place.corral('service', 'install', '--print'))).stdout, /KillMode=process/)
  assert.equal(existsSync(place.unit), false)

  const said = await ok(place.corral('service', 'install'))
  assert.match(said.stdout, /corral\.service is installed/)
  assert.match(said.stderr, /enable-linger/)
  await until(async () => (await place.corral('status')).code === 0, 'the daemon answers')
  const [state] = (await ok(place.corral('service', 'status', '--json'))).json()
  const [daemon] = (await ok(place.corral('status', '--json'))).json()
  assert.equal(state!['pid'], daemon!['pid'])
  assert.deepEqual([state!['file'], state!['isRunning'], state!['isEnabled']], ['current', true, true])

  const made = await ok(
    place.corral('new', '--agent', 'demo', '--no-wait', '--cwd', place.env['HOME']!, HELD),
  )
  const session = made.stdout.trim().split('\n')[0]!
  const asked = async () => (await place.corral('approval', 'ls', '--quiet')).stdout.trim()
  const question = await until(asked, 'the turn runs')
  const restarted = await ok(place.corral('restart', '--json'))
  assert.notEqual(restarted.json()[0]!['pid'], daemon!['pid'])
  assert.ok(place.calls().includes('systemctl --user restart corral.service'))
  await ok(place.corral('approve', question, '--answer', '[[say gone on]]'))
  await until(
    async () => (await place.corral('history', session)).stdout.includes('gone on\n-- done'),
    'the turn is over',
  )

  await ok(place.corral('service', 'uninstall'))
  assert.equal(existsSync(place.unit), false)
  assert.equal((await place.corral('status')).code, 3)
  assert.match((await ok(place.corral('service', 'uninstall'))).stdout, /no service is installed/)
})

test('a daemon that runs makes room for the service', async (t) => {
  const place = machine(t)
  await ok(place.corral('start', '--detach'))
  const [before] = (await ok(place.corral('status', '--json'))).json()
  assert.match((await ok(place.corral('service', 'install'))).stderr, new RegExp(`pid ${before!['pid']}`))
  await until(async () => (await place.corral('status')).code === 0, 'the daemon answers')
  assert.notEqual((await ok(place.corral('status', '--json'))).json()[0]!['pid'], before!['pid'])
})

test('where the manager does not answer, nothing is left behind', async (t) => {
  const place = machine(t)
  const env = { ...place.env, MANAGER_REFUSES: 'Failed to connect to bus' }
  const outcome = await corral(env, ['service', 'install'])
  assert.equal(outcome.code, 1)
  assert.equal(
    outcome.stderr,
    'corral: systemctl --user daemon-reload: Failed to connect to bus; without a service: corral start --detach\n',
  )
  assert.equal(existsSync(join(place.env.HOME!, '.config')), false)

  // A folder that was there before stays, and so does one in which somebody else has something.
  const other = join(place.unit, '../../environment.d')
  mkdirSync(other, { recursive: true })
  assert.equal((await corral(env, ['service', 'install'])).code, 1)
  assert.deepEqual(readdirSync(join(place.unit, '../..')), ['environment.d'])
})

test('a daemon that runs goes on, or is started again, when the manager refuses', async (t) => {
  const place = machine(t)
  await ok(place.corral('start', '--detach'))
  const pid = async () => (await ok(place.corral('status', '--json'))).json()[0]!['pid']
  const before = await pid()
  const away = { ...place.env, MANAGER_REFUSES: 'Failed to connect to bus' }
  assert.equal((await corral(away, ['service', 'install'])).code, 1)
  assert.equal(await pid(), before)

  const late = { ...place.env, MANAGER_REFUSES: 'Unit is masked', MANAGER_REFUSES_TO: 'enable' }
  const outcome = await corral(late, ['service', 'install'])
  assert.equal(outcome.code, 1)
  assert.match(outcome.stderr, /the daemon runs again, without a service/)
  assert.notEqual(await pid(), before)

  mkdirSync(join(place.unit, '..'), { recursive: true })
  writeFileSync(place.unit, '[Service]\nExecStart=/bin/true\n')
  const now = await pid()
  assert.equal((await place.corral('service', 'install')).code, 1)
  assert.equal(await pid(), now)
})

test('a unit of somebody else is left alone', async (t) => {
  const place = machine(t)
  mkdirSync(join(place.unit, '..'), { recursive: true })
  writeFileSync(place.unit, '[Service]\nExecStart=/bin/true\n')
  for (const verb of ['install', 'uninstall']) {
    assert.match((await place.corral('service', verb)).stderr, /not written by Corral/)
  }
  assert.match(readFileSync(place.unit, 'utf8'), /\/bin\/true/)
})

test('launchd is asked in its own words', async (t) => {
  const place = machine(t)
  await ok(place.corral('service', 'install', '--manager', 'launchd'))
  const domain = `gui/${process.getuid!()}`
  assert.ok(place.calls().includes(`launchctl bootstrap ${domain} ${place.plist}`))
  assert.match(readFileSync(place.plist, 'utf8'), /<plist/)
  await ok(place.corral('service', 'uninstall', '--manager', 'launchd'))
  assert.ok(place.calls().includes(`launchctl bootout ${domain}/dev.corral.daemon`))
  assert.equal(existsSync(place.plist), false)
  assert.equal((await place.corral('service', 'status', '--manager', 'upstart')).code, 2)
})
