import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { fitting, pick } from '../../src/cli/find-session.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { aPlace, type Place } from '../workspace/support.ts'
import { corral, newSession, type Outcome } from './support.ts'

let daemon: TestDaemon
let place: Place

before(async () => {
  daemon = await startDaemon()
  place = aPlace()
})

after(async () => {
  place.close()
  await daemon.stop()
})

async function ok(...args: string[]): Promise<Outcome> {
  const outcome = await corral(daemon.env, args)
  assert.equal(outcome.code, 0, outcome.stderr)
  return outcome
}

const ID = '0199f3a4-77aa-7bbb-8ccc-0123'
const some = [
  { id: `${ID}5acbbca2`, name: 'Fix the login test' },
  { id: `${ID}5acb0000`, name: 'Login' },
  { id: `${ID}77e0c1d4`, name: null },
]

test('a session is meant by a part of its id as it is shown, or of its title', () => {
  const found = (given: string): string[] => fitting(given, some).map(({ id }) => id.slice(-8))
  assert.deepEqual(found('5acbbca2'), ['5acbbca2'])
  assert.deepEqual(found('BBCA'), ['5acbbca2'])
  assert.deepEqual(found('e0c'), ['77e0c1d4'], 'in the middle')
  assert.deepEqual(found('5acb'), ['5acbbca2', '5acb0000'])
  assert.deepEqual(found('THE LOGIN'), ['5acbbca2'])
  assert.deepEqual(found('login'), ['5acb0000'], 'a whole title leaves no doubt')
  assert.deepEqual(found('logi'), ['5acbbca2', '5acb0000'])
  assert.deepEqual(found('in'), [], 'two letters of a title are too little')
  assert.deepEqual(found('d4'), ['77e0c1d4'], 'but may end an id')
})

test('what is not certain is listed with titles, and nothing means nothing', () => {
  const long = { id: `${ID}5acb1111`, name: 'Login \u001b[31mred' }
  assert.throws(
    () => pick('logi', [...some, long]),
    (error: Error) => {
      assert.match(error.message, /^logi fits 3 sessions; give more of the id or the title:\n/)
      assert.match(error.message, /^ {2}5acbbca2 {2}Fix the login test\n {2}5acb0000 {2}Login\n/m)
      assert.ok(!error.message.includes('\u001b'))
      return true
    },
  )
  assert.throws(() => pick('', some), /empty/)
  assert.throws(() => pick('zzz', some), /no session has zzz in its id or in its title; see corral ls/)
})

test('the first message is the title, without what is hidden in it', async () => {
  const { stdout } = await ok(
    'new',
    '--no-wait',
    '--agent',
    'demo',
    '--cwd',
    daemon.project,
    '\u001b]0;x\u0007Why does \u001b[31mnothing\u001b[0m work?\nSecond line',
  )
  const id = stdout.trim()
  const [session] = (await ok('session', 'show', id, '--json')).json<{ name: string; title: null }>()
  assert.deepEqual([session!.name, session!.title], ['Why does nothing work?', null])
  assert.match((await ok('ls')).stdout, new RegExp(`${id.slice(-8)} .*Why does nothing work\\?`))
  assert.match((await ok('history', 'nothing work')).stdout, /Second line/)
  await ok('session', 'rename', id, 'Another name')
  assert.match((await ok('session', 'show', 'another NAME')).stdout, /title +Another name/)
})

test('- is the session that was made or named last', async () => {
  const [one, two] = [await newSession(daemon, '--title', 'One'), await newSession(daemon, '--title', 'Two')]
  const shown = async (): Promise<unknown> => (await ok('session', 'show', '-', '--json')).json()[0]!['id']
  assert.equal(await shown(), two)
  await ok('send', one.slice(-8), '[[say hi]]')
  assert.equal(await shown(), one)
  await corral({ ...daemon.env, CORRAL_SESSION_ID: one }, ['session', 'show', two])
  assert.equal(await shown(), one, 'what an agent does changes nothing')
  assert.match((await ok('send', '-', '[[say again]]')).stdout, /again/)
  const fork = (await ok('fork', '-', '--json')).json()[0]!['id']
  assert.equal(await shown(), fork)
  const nobody = { ...daemon.env, CORRAL_SOCKET: daemon.socket, CORRAL_HOME: join(daemon.home, 'other') }
  const none = await corral(nobody, ['session', 'show', '-'])
  assert.match(none.stderr, /no session was made or named here yet/)
  assert.equal(none.code, 2)
})

test('completion shows titles, and puts the id into the line', async (t) => {
  if (spawnSync('bash', ['--version']).error) return t.skip('needs bash')
  const id = (await newSession(daemon, '--title', 'Complete me')).slice(-8)
  assert.ok((await ok('ls', '--titles')).stdout.includes(`${id}\tComplete me\n`))
  const script = (await ok('completion', 'bash')).stdout
  const offered = (word: string): string[] => {
    const sessions = `corral() { printf '%s\\t%s\\n' aa11 'One of two' ab22 'The other'; }`
    const line = `COMP_WORDS=(corral send "${word}"); COMP_CWORD=2; _corral`
    const said = spawnSync('bash', [
      '-c',
      `${script}\n${sessions}\n${line}; printf '%s\\n' "\${COMPREPLY[@]}"`,
    ])
    return said.stdout.toString().trim().split('\n')
  }
  assert.deepEqual(offered('a'), ['aa11  One of two', 'ab22  The other'])
  assert.deepEqual(offered('ab'), ['ab22'])
  assert.deepEqual(offered('--no'), ['--no-wait'])
})

interface InWorktree {
  branch: string
  path: string
  sessionId: string
}

async function inWorktree(repo: string, ...args: string[]): Promise<InWorktree> {
  const usual = ['--agent', 'demo', '--mode', 'auto', '--cwd', repo, '--worktree', '--json']
  const made = (await ok('new', ...usual, ...args)).json()[0]!['id']
  const all = (await ok('worktree', 'ls', '--json')).json<InWorktree>()
  return all.find(({ sessionId }) => sessionId === made)!
}

test('branches and commits of worktrees carry the title', async () => {
  const repo = place.repo('named')
  const one = await inWorktree(repo.path, '[[say Tidy up]] the tests!')
  assert.equal(one.branch, 'corral/say-tidy-up-the-tests')
  const two = await inWorktree(repo.path, '[[say Tidy up]] the tests!')
  assert.equal(two.branch, 'corral/say-tidy-up-the-tests-2')
  const titled = await inWorktree(repo.path, '--title', 'Better words', 'something else')
  assert.equal(titled.branch, 'corral/better-words')
  const own = await inWorktree(repo.path, '--branch', 'me/wanted', 'x')
  assert.equal(own.branch, 'me/wanted')
  for (const [branch, says] of [
    ['me/wanted', /There is a branch me\/wanted already/],
    ['a..b', /a\.\.b is no name for a branch/],
    ['-x', /is no name for a branch/],
  ] as const) {
    const refused = await corral(daemon.env, [
      'new',
      '--agent',
      'demo',
      '--cwd',
      repo.path,
      '--worktree',
      `--branch=${branch}`,
    ])
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, says)
  }
  assert.equal((await corral(daemon.env, ['new', '--branch', 'x', 'y'])).code, 2)
  writeFileSync(join(titled.path, 'new.txt'), 'new\n')
  await ok('worktree', 'merge', 'better words')
  assert.equal(repo.git('log', '-1', '--format=%s').trim(), 'Better words')
  for (const { sessionId } of [one, two, titled, own]) await ok('worktree', 'rm', sessionId, '--force')
  assert.equal(repo.git('branch', '--list', 'corral/*', 'me/*'), '')
  assert.equal(repo.git('for-each-ref', 'refs/corral').includes('/branch/'), false)
})

/** A program that writes down what it was asked. */
function someForge(t: TestContext, name: string): { env: NodeJS.ProcessEnv; asked: string } {
  const directory = join(place.root, `${name} ${t.name.length}`)
  mkdirSync(directory, { recursive: true })
  const [path, asked] = [join(directory, name), join(directory, 'asked')]
  writeFileSync(
    path,
    `#!/bin/sh\nprintf '%s\\n' "$@" > '${asked}'\ncat >> '${asked}'\necho https://forge.example/pull/7\n`,
  )
  chmodSync(path, 0o755)
  return { env: { ...daemon.env, PATH: `${directory}:${process.env['PATH']}` }, asked }
}

test('worktree pr commits, pushes and asks the forge, with the title and the last answer', async (t) => {
  const repo = place.repo('asked for')
  const bare = join(place.root, 'bare.git')
  repo.git('init', '--quiet', '--bare', bare)
  repo.git('remote', 'add', 'origin', bare)
  const { sessionId, path } = await inWorktree(
    repo.path,
    '--title',
    'Add retries',
    '[[say I have added retries.]]',
  )
  const { env, asked } = someForge(t, 'gh')
  const early = await corral(env, ['worktree', 'pr', sessionId])
  assert.match(early.stderr, /nothing new yet/)
  assert.ok(!existsSync(asked))
  writeFileSync(join(path, 'retry.txt'), 'three times\n')
  const { stdout, stderr, code } = await corral(env, ['worktree', 'pr', 'add retries', '--draft'])
  assert.equal(code, 0, stderr)
  assert.equal(stdout, 'https://forge.example/pull/7\n')
  assert.deepEqual(readFileSync(asked, 'utf8').split('\n'), [
    'pr',
    'create',
    '--head',
    'corral/add-retries',
    '--title',
    'Add retries',
    '--body-file',
    '-',
    '--draft',
    'I have added retries.',
  ])
  const pushed = repo.git('--git-dir', bare, 'log', '-1', '--format=%s', 'corral/add-retries')
  assert.equal(pushed.trim(), 'Add retries')
})

test('worktree pr asks GitLab in its own words, also where gh is installed as well', async (t) => {
  const repo = place.repo('asked of gitlab')
  const bare = join(place.root, 'gitlab.git')
  repo.git('init', '--quiet', '--bare', bare)
  repo.git('remote', 'add', 'origin', bare)
  const { sessionId, path } = await inWorktree(repo.path, '--title', 'Add a cache', '[[say It is cached.]]')
  writeFileSync(join(path, 'cache.txt'), 'warm\n')
  const { env, asked } = someForge(t, 'glab')
  const { env: both, asked: other } = someForge(t, 'gh')
  const { stdout, stderr, code } = await corral(
    { ...env, PATH: `${both['PATH']!.split(':')[0]}:${env['PATH']}` },
    ['worktree', 'pr', sessionId],
  )
  assert.equal(code, 0, stderr)
  assert.equal(stdout, 'https://forge.example/pull/7\n')
  assert.ok(!existsSync(other))
  assert.deepEqual(readFileSync(asked, 'utf8').trimEnd().split('\n'), [
    'mr',
    'create',
    '--yes',
    '--source-branch',
    'corral/add-a-cache',
    '--title',
    'Add a cache',
    '--description',
    'It is cached.',
  ])
})

test('worktree pr says what to do where it cannot ask', async () => {
  const repo = place.repo('alone')
  const { sessionId, path } = await inWorktree(repo.path, 'x')
  assert.match(
    (await corral(daemon.env, ['worktree', 'pr', sessionId])).stderr,
    /no remote to push to; add one/,
  )
  repo.git('remote', 'add', 'origin', join(place.root, 'nowhere.git'))
  const bin = join(place.root, 'only git')
  mkdirSync(bin)
  const git = spawnSync('sh', ['-c', 'command -v git']).stdout.toString().trim()
  writeFileSync(join(bin, 'git'), `#!/bin/sh\nexec ${git} "$@"\n`, { mode: 0o755 })
  const { code, stderr } = await corral({ ...daemon.env, PATH: bin }, ['worktree', 'pr', sessionId])
  assert.equal(code, 1)
  assert.ok(stderr.includes(`neither gh nor glab is installed`), stderr)
  assert.ok(stderr.includes(`git -C ${path} push -u origin corral/x`), stderr)
})
