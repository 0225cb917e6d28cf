import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after, before, test } from 'node:test'
import { isAlive } from '../../src/cli/process-end.ts'
import { connect, type NativeClient } from '../../src/client/client.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { until } from '../support/wait.ts'
import { aPlace, type Place } from '../workspace/support.ts'

/** Runs git, and then kills the daemon if this was the command that a file names. */
const GIT = (real: string, file: string): string => `#!/bin/sh
"${real}" "$@"
code=$?
[ -e "${file}" ] || exit $code
case " $* " in *" $(cat "${file}") "*) rm "${file}"; kill -9 $PPID ;; esac
exit $code
`

let place: Place
let daemon: TestDaemon
let client: NativeClient
let crashAt: string

before(async () => {
  place = aPlace()
  const home = mkdtempSync(join(tmpdir(), 'corral-'))
  const bin = join(home, 'bin')
  mkdirSync(bin)
  crashAt = join(home, 'crash-at')
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  writeFileSync(join(bin, 'git'), GIT(real, crashAt), { mode: 0o700 })
  const PATH = `${bin}${delimiter}${process.env['PATH']}`
  daemon = await startDaemon({
    home,
    env: { PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
  })
  client = await connect(daemon.socket, { reconnect: true })
})

after(async () => {
  client.close()
  await daemon.stop()
  place.close()
})

/** A new session in a worktree; the daemon dies after this command of git, and the client asks again. */
async function createOver(crash: string, cwd: string, more: { id?: string; key?: string }) {
  writeFileSync(crashAt, crash)
  const { pid } = daemon
  const created = client.call('session.create', { agent: 'demo', cwd, worktree: true, carry: true, ...more })
  await until(() => !isAlive(pid), 'the daemon has died')
  assert.ok(!existsSync(crashAt))
  await daemon.restart()
  return created
}

for (const crash of ['update-ref', 'worktree add', 'read-tree', 'reset'])
  for (const more of [{ key: `key ${crash}` }, { id: crypto.randomUUID() }])
    test(`a crash after git ${crash}, with ${Object.keys(more)[0]}: the next try leaves one worktree`, async () => {
      const repo = place.repo(`${crash} ${Object.keys(more)[0]}`)
      repo.write('a.txt', 'uncommitted\n')
      const { id, cwd } = await createOver(crash, repo.path, more)
      assert.equal(readFileSync(join(cwd, 'a.txt'), 'utf8'), 'uncommitted\n')
      assert.equal(repo.git('worktree', 'list', '--porcelain').match(/^worktree /gm)?.length, 2)
      assert.deepEqual(
        repo.git('branch', '--list', 'corral/*', '--format=%(refname:short)').trim(),
        `corral/${id}`,
      )
      const refs = repo.git('for-each-ref', '--format=%(refname)', 'refs/corral/').trim().split('\n')
      assert.deepEqual(
        refs.filter((ref) => !ref.includes(id)),
        [],
      )
    })

test('what somebody has worked in stays, and the session gets another worktree', async () => {
  const repo = place.repo('worked in')
  writeFileSync(crashAt, 'reset')
  const { pid } = daemon
  const wish = { agent: 'demo', cwd: repo.path, worktree: true, key: 'worked in' } as const
  const created = client.call('session.create', wish)
  await until(() => !isAlive(pid), 'the daemon has died')
  const [, path] = /^worktree (.*worktrees.*)$/m.exec(repo.git('worktree', 'list', '--porcelain'))!
  writeFileSync(join(path!, 'mine.txt'), 'mine\n')
  await daemon.restart()
  const { id, cwd } = await created
  assert.notEqual(cwd, path)
  assert.equal(readFileSync(join(path!, 'mine.txt'), 'utf8'), 'mine\n')
  assert.equal((await client.call('session.create', wish)).id, id)
})
