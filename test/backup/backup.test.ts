import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { connect, type NativeClient } from '../../src/client/client.ts'
import { SCHEMA_VERSION } from '../../src/store/schema.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { until } from '../support/wait.ts'
import { corral, type Outcome } from '../cli/support.ts'

const SESSIONS = 20

let daemon: TestDaemon
let client: NativeClient
let file: string

before(async () => {
  daemon = await startDaemon({ env: { CORRAL_AGENTS_MAX_WARM: '0' } })
  client = await connect(daemon.socket)
  file = join(daemon.home, 'kept.tgz')
})
after(async () => {
  client.close()
  await daemon.stop()
})

async function ok(...args: string[]): Promise<Outcome> {
  const outcome = await corral(daemon.env, args)
  assert.equal(outcome.code, 0, outcome.stdout + outcome.stderr)
  return outcome
}

async function refused(why: RegExp, ...args: string[]): Promise<void> {
  const { code, stdout, stderr } = await corral(daemon.env, args)
  assert.notEqual(code, 0, stdout)
  assert.match(stderr, why)
  assert.doesNotMatch(stderr, /\n\s+at /)
}

const elsewhere = (name: string): string => join(daemon.home, name, '.corral')

interface TurnRow {
  input: string
  state: string
}

/** Of a log, read beside its daemon. */
function turnsOf(corralHome: string, sessionId: string): TurnRow[] {
  const db = new DatabaseSync(join(corralHome, 'corral.db'), { readOnly: true })
  try {
    const rows = db.prepare('SELECT input, state FROM turns WHERE session = ? ORDER BY seq').all(sessionId)
    return rows as unknown as TurnRow[]
  } finally {
    db.close()
  }
}

/** Every message that was acknowledged, by session. */
const sent = new Map<string, string[]>()

/** The session that talks until somebody stops it: however slow the machine, it is at work meanwhile. */
let tireless = ''

test('a backup is made while twenty sessions stream, and nobody waits for it', async () => {
  writeFileSync(join(daemon.corralHome, 'config.yaml'), 'queue: { max: 50 }\n')
  for (let number = 0; number < SESSIONS; number++) {
    const { id: sessionId } = await client.call('session.create', { agent: 'demo', cwd: daemon.project })
    tireless ||= sessionId
    const words = tireless === sessionId ? 1_000_000 : 100
    const texts = [`[[drip ${words} 40]] first of ${number}`, `second of ${number}`]
    for (const content of texts) await client.call('session.send', { sessionId, content })
    sent.set(sessionId, texts)
  }
  const head = async (): Promise<number> => (await client.call('daemon.status')).log.head
  const begun = await head()
  await until(async () => (await head()) > begun + 200, 'the sessions stream')
  const [made] = (await ok('backup', file, '--json')).json()
  assert.ok((await head()) > Number(made!['head']), 'the log went on')
  assert.equal(made!['sessions'], SESSIONS)
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.deepEqual(
    readdirSync(daemon.home).filter((name) => name.startsWith('.corral-backup')),
    [],
  )
  assert.match((await ok('backup', 'show', file)).stderr, /as it was written/)
})

test('the file is an ordinary archive, without secrets unless they are asked for', async () => {
  const { stdout: token } = await ok('token', 'show')
  const list = (path: string): string[] =>
    execFileSync('tar', ['tzf', path], { encoding: 'utf8' }).trim().split('\n')
  assert.deepEqual(list(file).slice(0, 3), ['manifest.json', 'corral.db', 'config.yaml'])
  assert.ok(!list(file).includes('token'))
  const all = join(daemon.home, 'all.tgz')
  await ok('backup', '--with-secrets', all)
  assert.ok(list(all).includes('token'))
  const read = (path: string, name: string): string =>
    execFileSync('tar', ['xzOf', path, name], { encoding: 'utf8' })
  assert.equal(read(all, 'token').trim(), token.trim())
  const { files } = JSON.parse(read(file, 'manifest.json')) as { files: { path: string; sha256: string }[] }
  const unpacked = join(daemon.home, 'unpacked')
  mkdirSync(unpacked)
  execFileSync('tar', ['xzf', file, '-C', unpacked])
  for (const { path, sha256 } of files) {
    const [found] = execFileSync('sha256sum', [join(unpacked, path)], { encoding: 'utf8' }).split(' ')
    assert.equal(found, sha256, path)
  }
  await refused(/exists already/, 'backup', file)
})

test('settings that may have keys in them are left out as well', async () => {
  const config = join(daemon.corralHome, 'config.yaml')
  const text = readFileSync(config, 'utf8')
  writeFileSync(config, `${text}agents: { mine: { command: mine, env: { KEY: hush } } }\n`)
  const other = join(daemon.home, 'other.tgz')
  assert.match((await ok('backup', other)).stderr, /config\.yaml was left out/)
  const { files } = (await ok('backup', 'show', other, '--json')).json<{ files: { path: string }[] }>()[0]!
  assert.ok(!files.some(({ path }) => path === 'config.yaml'))
  writeFileSync(config, text)
})

test('restored elsewhere, every message that was acknowledged is there, and the log is another one', async (t) => {
  const home = join(daemon.home, 'new')
  mkdirSync(home)
  const target = elsewhere('new')
  await ok('restore', file, '--home', target)
  assert.ok(!existsSync(join(target, 'token')))
  assert.deepEqual(
    readdirSync(target).filter((name) => name.startsWith('.restore')),
    [],
  )
  const db = new DatabaseSync(join(target, 'corral.db'))
  assert.equal(db.prepare('PRAGMA integrity_check').get()!['integrity_check'], 'ok')
  // The processes of the other daemon have the same numbers on this machine; the restored log must not know them as its own.
  const runs = db.prepare('SELECT boot_id FROM runs').all()
  assert.ok(runs.length > 0)
  assert.deepEqual(new Set(runs.map((row) => row['boot_id'])), new Set(['restored from a backup']))
  db.close()

  const { log: old } = await client.call('daemon.status')
  const restored = await startDaemon({ home })
  t.after(() => restored.stop())
  const [running] = turnsOf(daemon.corralHome, tireless)
  assert.equal(running!.state, 'running', 'an agent of the other daemon was at work meanwhile')
  const there = await connect(restored.socket)
  t.after(() => there.close())
  const { log } = await there.call('daemon.status')
  assert.notEqual(log.id, old.id)
  assert.equal(readFileSync(join(target, 'config.yaml'), 'utf8'), 'queue: { max: 50 }\n')
  for (const [sessionId, texts] of sent) {
    const turns = turnsOf(target, sessionId)
    assert.equal(turns.length, 2)
    for (const [index, { input }] of turns.entries()) assert.ok(input.includes(texts[index]!), input)
  }
  // What ran there runs here no more, and the sessions go on.
  const [first] = sent.keys()
  const outcome = await corral(restored.env, ['send', first!, 'are you there?'])
  assert.match(outcome.stdout, /echo: are you there\?/, outcome.stderr)
  assert.equal((await client.call('daemon.status')).log.id, old.id)
})

test("the other daemon's agents were left alone: their turns end as they would have", async () => {
  await client.call('session.interrupt', { sessionId: tireless })
  for (const [sessionId] of sent) {
    const ends = [sessionId === tireless ? 'interrupted' : 'completed', 'completed'].join()
    const states = (): string[] => turnsOf(daemon.corralHome, sessionId).map(({ state }) => state)
    await until(
      () => states().join() === ends,
      () => `${sessionId}: ${ends}, not ${states().join()}`,
    )
  }
})

test('a daemon that runs is not restored over', async () => {
  await refused(/already uses this data directory; stop it first: corral stop/, 'restore', file)
  await refused(/already uses this data directory/, 'backup', 'restore', file, '--force')
})

test('data that is there is kept unless --force puts it aside', async () => {
  const target = elsewhere('again')
  await ok('restore', file, '--home', target)
  await refused(/has data already/, 'restore', file, '--home', target)
  const outcome = await ok('restore', file, '--home', target, '--force', '--json')
  const { aside } = outcome.json<{ aside: string }>()[0]!
  assert.deepEqual(
    readdirSync(aside).filter((name) => /\.(db|yaml)$/.test(name)),
    ['config.yaml', 'corral.db'],
  )
})

test('damage is found before anything is touched', async () => {
  const target = elsewhere('damaged')
  const bytes = readFileSync(file)
  const broken = join(daemon.home, 'broken.tgz')
  const flipped = Buffer.from(bytes)
  flipped[Math.floor(bytes.length / 2)]! ^= 0xff
  for (const content of [flipped, bytes.subarray(0, -2000), Buffer.from('no backup at all')]) {
    writeFileSync(broken, content)
    await refused(/damaged|no backup|ends too early/, 'restore', broken, '--home', target)
    assert.ok(!existsSync(join(target, 'config.yaml')))
    await refused(/damaged|no backup|ends too early/, 'backup', 'show', broken)
  }
  await refused(/no backup/, 'restore', join(daemon.home, 'nowhere.tgz'), '--home', target)
})

/** Packs a directory as `corral backup` does, but with what is given. */
function forged(
  name: string,
  change: (manifest: Record<string, unknown>, directory: string) => void,
): string {
  const directory = join(daemon.home, `forged-${name}`)
  mkdirSync(directory)
  execFileSync('tar', ['xzf', file, '-C', directory])
  const path = join(directory, 'manifest.json')
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>
  change(manifest, directory)
  writeFileSync(path, JSON.stringify(manifest))
  const target = join(daemon.home, `forged-${name}.tgz`)
  const names = (manifest['files'] as { path: string }[]).map((one) => one.path)
  execFileSync('tar', ['czf', target, '--format=ustar', '-P', '-C', directory, 'manifest.json', ...names])
  return target
}

test('a backup of a newer Corral, and one that wants to write elsewhere, are refused', async () => {
  const newer = forged('newer', (manifest, directory) => {
    const db = new DatabaseSync(join(directory, 'corral.db'))
    db.exec(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`)
    db.close()
    const [sha256] = execFileSync('sha256sum', [join(directory, 'corral.db')], { encoding: 'utf8' }).split(
      ' ',
    )
    const size = statSync(join(directory, 'corral.db')).size
    const files = manifest['files'] as { path: string }[]
    manifest['files'] = files.map((one) =>
      one.path === 'corral.db' ? { path: one.path, size, sha256 } : one,
    )
  })
  await refused(/newer Corral/, 'restore', newer, '--home', elsewhere('newer'))
  const escaping = forged('escaping', (manifest, directory) => {
    writeFileSync(join(directory, '../evil'), 'x')
    manifest['files'] = [
      ...(manifest['files'] as object[]),
      { path: '../evil', size: 1, sha256: 'a'.repeat(64) },
    ]
  })
  await refused(/no file \.\.\/evil/, 'restore', escaping, '--home', elsewhere('escaping'))
})

test('every session is exported, each into a file', async () => {
  const directory = join(daemon.home, 'talks')
  await ok('export', '--all', directory)
  const names = readdirSync(directory)
  assert.equal(names.length, SESSIONS)
  const [sessionId, texts] = [...sent][3]!
  const name = names.find((one) => one.includes(sessionId))!
  assert.ok(readFileSync(join(directory, name), 'utf8').includes(texts[1]!))
  await refused(/not empty/, 'export', '--all', directory)
  await refused(/is a file; give a directory/, 'export', '--all', join(directory, readdirSync(directory)[0]!))
  await refused(/name one session/, 'export')
})
