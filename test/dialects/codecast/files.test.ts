import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, beforeEach, test } from 'node:test'
import { expandPath, requireDirectory } from '../../../src/dialects/codecast/paths.ts'
import { removePortFile, writePortFile } from '../../../src/dialects/codecast/port-file.ts'
import { readCodecastSettings } from '../../../src/dialects/codecast/settings.ts'
import { syncSkills } from '../../../src/dialects/codecast/skills.ts'

const root = mkdtempSync(join(tmpdir(), 'corral-codecast-'))
after(() => rmSync(root, { recursive: true }))
let home = ''
let count = 0
beforeEach(() => {
  home = join(root, String(count++))
  mkdirSync(home)
})

function put(path: string, content = path): string {
  const full = join(home, path)
  mkdirSync(dirname(full), { recursive: true })
  writeFileSync(full, content)
  return full
}

test('paths: home, below home, absolute, bare', () => {
  const table: [string, string][] = [
    ['~', '/h'],
    ['~/a/b', '/h/a/b'],
    ['/x/y', '/x/y'],
    ['/x/./y/../z/', '/x/z'],
    ['name', '/h/Projects/name'],
    ['a/b', '/h/Projects/a/b'],
    ['./x', '/h/Projects/x'],
    ['~other', '~other'],
  ]
  for (const [given, expected] of table) assert.equal(expandPath(given, '/h'), expected, given)
})

test('a path must be a directory that exists', async () => {
  mkdirSync(join(home, 'Projects/it'), { recursive: true })
  put('file')
  assert.equal(await requireDirectory('it', home), join(home, 'Projects/it'))
  await assert.rejects(requireDirectory('gone', home), {
    code: 'path_not_found',
    message: `Path does not exist on remote machine: ${home}/Projects/gone (resolved from: gone)`,
  })
  await assert.rejects(requireDirectory('~/file', home), {
    code: 'path_not_found',
    message: /not a directory/,
  })
  for (const odd of ['~root', '/\0'])
    await assert.rejects(requireDirectory(odd, home), { code: 'path_not_found' })
})

async function sync(agent: string, project = join(home, 'project')): Promise<string[]> {
  const problems: string[] = []
  await syncSkills({
    source: join(home, '.codecast/skills'),
    project,
    agent,
    onProblem: (message) => problems.push(message),
  })
  return problems
}

test('each agent gets its instructions file, claude its skills too', async () => {
  mkdirSync(join(home, 'project'))
  for (const name of [
    'CLAUDE.md',
    'AGENTS.md',
    'GEMINI.md',
    '.claude/skills/a/SKILL.md',
    '.claude/skills/b/c/d.txt',
  ]) {
    put(`.codecast/skills/${name}`, name)
  }
  const table: [string, string[]][] = [
    ['demo', []],
    ['gemini', ['GEMINI.md']],
    ['codex', ['GEMINI.md', 'AGENTS.md']],
    [
      'claude',
      ['GEMINI.md', 'AGENTS.md', 'CLAUDE.md', '.claude/skills/a/SKILL.md', '.claude/skills/b/c/d.txt'],
    ],
  ]
  for (const [agent, expected] of table) {
    assert.deepEqual(await sync(agent), [])
    const there = table[3]![1].filter((name) => existsSync(join(home, 'project', name)))
    assert.deepEqual(there, expected, agent)
  }
})

test('what is there is never overwritten', async () => {
  put('project/CLAUDE.md', 'mine')
  put('project/.claude/skills/a.md', 'mine')
  put('.codecast/skills/CLAUDE.md', 'theirs')
  put('.codecast/skills/.claude/skills/a.md', 'theirs')
  assert.deepEqual(await sync('claude'), [])
  assert.equal(readFileSync(join(home, 'project/CLAUDE.md'), 'utf8'), 'mine')
  assert.equal(readFileSync(join(home, 'project/.claude/skills/a.md'), 'utf8'), 'mine')
})

test('the project directory is never made, and no source is no problem', async () => {
  mkdirSync(join(home, 'project'))
  assert.deepEqual(await sync('claude'), [])
  put('.codecast/skills/.claude/skills/a.md')
  await sync('claude', join(home, 'gone'))
  assert.ok(!existsSync(join(home, 'gone')))
})

test('links that leave the source are left alone, links inside it are copied, circles end', async () => {
  mkdirSync(join(home, 'project'))
  put('secret/key', 'secret')
  put('.codecast/skills/.claude/skills/real.md', 'real')
  const skills = join(home, '.codecast/skills/.claude/skills')
  symlinkSync(join(home, 'secret/key'), join(skills, 'out.md'))
  symlinkSync(join(home, 'secret'), join(skills, 'outdir'))
  symlinkSync(join(skills, 'real.md'), join(skills, 'in.md'))
  symlinkSync(skills, join(skills, 'circle'))
  assert.deepEqual(await sync('claude'), [])
  const target = join(home, 'project/.claude/skills')
  assert.equal(readFileSync(join(target, 'in.md'), 'utf8'), 'real')
  for (const name of ['out.md', 'outdir', 'circle']) assert.ok(!existsSync(join(target, name)), name)
})

test('a project whose .claude is a link to elsewhere gets nothing there', async () => {
  mkdirSync(join(home, 'project'))
  mkdirSync(join(home, 'elsewhere'))
  symlinkSync(join(home, 'elsewhere'), join(home, 'project/.claude'))
  put('.codecast/skills/.claude/skills/a.md')
  await sync('claude')
  assert.ok(!existsSync(join(home, 'elsewhere/skills')))
})

test('settings: defaults, file, environment, our own environment, each over the one before', async () => {
  const defaults = await readCodecastSettings({}, home)
  assert.deepEqual(defaults, {
    port: 9100,
    bind: '127.0.0.1',
    tokensFile: join(home, '.codecast/tokens.yaml'),
    tlsCert: join(home, '.codecast/tls-cert.pem'),
    tlsKey: join(home, '.codecast/tls-key.pem'),
    warnings: [],
  })
  put(
    '.codecast/daemon.yaml',
    'port: 9200\nbind: localhost\ntokens_file: ~/t.yaml\ntls_cert: /c.pem\nother: 1\n',
  )
  const file = await readCodecastSettings({}, home)
  assert.deepEqual(
    [file.port, file.bind, file.tokensFile, file.tlsCert],
    [9200, 'localhost', join(home, 't.yaml'), '/c.pem'],
  )
  const env = { DAEMON_PORT: '9300', DAEMON_BIND: '::1' }
  assert.deepEqual(
    [(await readCodecastSettings(env, home)).port, (await readCodecastSettings(env, home)).bind],
    [9300, '::1'],
  )
  assert.equal((await readCodecastSettings({ ...env, CORRAL_CODECAST_PORT: '0' }, home)).port, 0)
})

test('settings that make no sense are named and ignored', async () => {
  put('.codecast/daemon.yaml', 'port: [\n')
  const broken = await readCodecastSettings({ DAEMON_PORT: '99999' }, home)
  assert.equal(broken.port, 9100)
  assert.equal(broken.warnings.length, 2)
  put('.codecast/daemon.yaml', 'port: lots\nbind: 5\n')
  assert.equal((await readCodecastSettings({}, home)).warnings.length, 2)
  put('.codecast/daemon.yaml', '')
  assert.deepEqual((await readCodecastSettings({}, home)).warnings, [])
})

test('the port file is bare decimal text and is removed by its owner only', async () => {
  const path = join(home, '.codecast/daemon.port')
  await writePortFile(path, 9123)
  assert.equal(readFileSync(path, 'utf8'), '9123')
  await removePortFile(path, 9124)
  assert.ok(existsSync(path))
  await removePortFile(path, 9123)
  assert.ok(!existsSync(path))
})
