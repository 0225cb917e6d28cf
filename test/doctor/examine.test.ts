import assert from 'node:assert/strict'
import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { uuid } from '../../src/core/ids.ts'
import type { Check } from '../../src/doctor/check.ts'
import { examine } from '../../src/doctor/examine.ts'
import { judgeHome } from '../../src/doctor/home.ts'
import { judgeMachine } from '../../src/doctor/machine.ts'
import { openLog } from '../../src/store/log.ts'
import { SCHEMA_VERSION } from '../../src/store/schema.ts'

interface Patient {
  env: NodeJS.ProcessEnv
  corralHome: string
}

/** A user who has nothing yet, with the programs of the system on their PATH. */
function newUser(t: TestContext, env: NodeJS.ProcessEnv = {}): Patient {
  const home = mkdtempSync(join(tmpdir(), 'corral-doctor-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  return { env: { HOME: home, PATH: process.env['PATH'], ...env }, corralHome: join(home, '.corral') }
}

interface Examined {
  checks: Check[]
  /** `status: message` of the check of this name. */
  of(name: string): string
}

async function examined({ env, corralHome: home }: Patient): Promise<Examined> {
  const socket = env['CORRAL_SOCKET'] ?? join(home, 'corral.sock')
  return byName((await examine({ env, home, socket, thorough: true })).checks)
}

function byName(checks: Check[]): Examined {
  for (const { status, message, fix } of checks) {
    if (status === 'warn' || status === 'error') assert.ok(fix, `no way out of: ${message}`)
  }
  return {
    checks,
    of(name) {
      const check = checks.find((one) => one.name === name)
      return check ? `${check.status}: ${check.message}` : 'none'
    },
  }
}

/** A user whose log is there, complete in one file. */
async function userWithLog(t: TestContext): Promise<Patient & { path: string }> {
  const patient = newUser(t)
  mkdirSync(patient.corralHome, { mode: 0o700 })
  const path = join(patient.corralHome, 'corral.db')
  await openLog({ path, bootId: 'boot', newId: uuid, warn: assert.fail }).close(true)
  const db = new DatabaseSync(path)
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
  return { ...patient, path }
}

test('an empty PATH has nothing that agents need', async (t) => {
  const { of } = await examined(newUser(t, { PATH: '' }))
  assert.equal(of('programs'), 'error: not on the PATH: sh, mkfifo')
  assert.equal(of('git'), 'warn: not on the PATH')
})

test('a directory that others can look into is a warning', async (t) => {
  const user = newUser(t)
  mkdirSync(user.corralHome)
  chmodSync(user.corralHome, 0o755)
  for (const name of ['a.yaml', 'b', 'c', 'd']) {
    writeFileSync(join(user.corralHome, name), '')
    chmodSync(join(user.corralHome, name), 0o644)
  }
  const { of, checks } = await examined(user)
  assert.equal(of('rights'), 'warn: other users can look inside (0755), and read a.yaml, b, c and 1 more')
  assert.equal(checks.find(({ name }) => name === 'rights')?.fix, `chmod 700 ${user.corralHome}`)
  chmodSync(user.corralHome, 0o700)
  assert.equal((await examined(user)).of('rights'), 'ok: only you can look inside')
})

test('a file in the place of the directory is an error', async (t) => {
  const user = newUser(t)
  writeFileSync(user.corralHome, '')
  assert.match((await examined(user)).of('data_dir'), /^error: .* is not a directory/)
})

test('a log that cannot be looked at is an error, and all else is told', async (t) => {
  const user = newUser(t)
  mkdirSync(user.corralHome, { mode: 0o700 })
  // Rights keep nothing from root; a link to itself keeps it from everybody.
  symlinkSync('corral.db', join(user.corralHome, 'corral.db'))
  const { of } = await examined(user)
  assert.match(of('sqlite'), /^error: .*corral\.db cannot be read: ELOOP/)
  assert.match(of('config'), /^ok: no .*config\.yaml/)
})

test('a configuration that is wrong, and variables that nobody reads', async (t) => {
  const user = newUser(t, { CORRAL_MAXWARM: '3' })
  mkdirSync(user.corralHome, { mode: 0o700 })
  const file = join(user.corralHome, 'config.yaml')
  writeFileSync(file, 'agents: { maxWorm: 3 }\n')
  const unknown = await examined(user)
  assert.match(unknown.of('config'), /^error: .*agents\.maxWorm is not a setting; agents has maxWarm/)
  assert.match(unknown.of('environment'), /^warn: CORRAL_MAXWARM is not a setting/)
  writeFileSync(file, 'agents: [')
  assert.match((await examined(user)).of('config'), /^error: .*cannot be read/)
})

test('a socket whose path is too long is an error', async (t) => {
  const user = newUser(t, { CORRAL_SOCKET: `/tmp/${'x'.repeat(110)}` })
  assert.match((await examined(user)).of('socket'), /^error: .*too long/)
})

/** Every file of the directory with its bytes. */
function contents(directory: string): Record<string, string> {
  const names = readdirSync(directory)
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(directory, name), 'base64')]))
}

for (const [what, version, expected] of [
  ['of today', SCHEMA_VERSION, /^ok: the log is healthy, schema \d+, /],
  ['of an older Corral', 1, /^ok: the log is healthy, schema 1; the next start brings it to \d+/],
  ['of a newer Corral', SCHEMA_VERSION + 1, /^error: .*written by a newer Corral/],
] as const) {
  test(`a log ${what} is looked at and not changed`, async (t) => {
    const user = await userWithLog(t)
    const db = new DatabaseSync(user.path)
    db.exec(`PRAGMA user_version = ${version}`)
    db.close()
    const before = contents(user.corralHome)
    assert.deepEqual(Object.keys(before), ['corral.db'])
    assert.match((await examined(user)).of('sqlite'), expected)
    assert.deepEqual(contents(user.corralHome), before)
  })
}

test('a log in use is looked at beside its user', async (t) => {
  const user = await userWithLog(t)
  const log = openLog({ path: user.path, bootId: 'boot', newId: uuid, warn: assert.fail })
  const { of } = await examined(user)
  await log.close(true)
  assert.match(of('sqlite'), /^ok: the log is healthy/)
})

test('a log that is damaged inside, cut short, or none at all', async (t) => {
  const user = await userWithLog(t)
  const { size } = statSync(user.path)
  const file = openSync(user.path, 'r+')
  writeSync(file, Buffer.alloc(size - 4096, 0xaa), 0, undefined, 4096)
  closeSync(file)
  assert.match((await examined(user)).of('sqlite'), /^error: .*corral\.db is damaged: /)
  writeFileSync(user.path, readFileSync(user.path).subarray(0, 4096))
  assert.match((await examined(user)).of('sqlite'), /^error: .*corral\.db is damaged: /)
  writeFileSync(user.path, 'this is no database, but long enough to be taken for one'.repeat(100))
  assert.match((await examined(user)).of('sqlite'), /is damaged: file is not a database/)
})

test('a machine that Corral cannot run on', () => {
  const machine = { platform: 'win32', arch: 'x64', node: '22.1.0', git: null, missing: [] }
  const { of } = byName(judgeMachine({ ...machine, platform: 'win32' }))
  assert.equal(of('node'), 'error: Node 22.1.0 is too old')
  assert.match(of('platform'), /^error: win32 x64/)
})

test('a disk that is full, nearly full, or of unknown size; a directory that is not ours', () => {
  const found = { directory: true, mode: 0o700, mine: true }
  const home = { path: '/h', found, nearest: '/h', writable: true, exposed: [], free: 2 * 1024 ** 3 }
  const judged = (patch: Partial<typeof home> | { free: null }) => byName(judgeHome({ ...home, ...patch }))
  assert.equal(judged({}).of('disk_space'), 'ok: 2.0 GiB free on the disk of /h')
  assert.equal(judged({ free: 500 * 1024 ** 2 }).of('disk_space'), 'warn: 500.0 MiB free on the disk of /h')
  assert.equal(judged({ free: 0 }).of('disk_space'), 'error: 0 KiB free on the disk of /h')
  assert.match(judged({ free: null }).of('disk_space'), /^skipped: /)
  assert.match(judged({ writable: false }).of('data_dir'), /^error: \/h cannot be written to/)
  assert.match(judged({ found: { ...found, mine: false } }).of('data_dir'), /^warn: \/h belongs to another/)
})
