import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { corral, daemonFor, newSession, type Outcome } from './support.ts'

interface Listed {
  path: string
  bytes: number
  kept: string | null
}

interface Told {
  done: boolean
  daemon: number | null
  removed: Listed[]
  kept: Listed[]
}

/** Names below a directory, sockets and links too. */
function below(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' }).toSorted()
}

async function ok(outcome: Promise<Outcome>): Promise<Outcome> {
  const found = await outcome
  assert.equal(found.code, 0, found.stdout + found.stderr)
  return found
}

test('it says what it would remove, removes that, and nothing else', async (t) => {
  const daemon = await daemonFor(t)
  const { env, home, corralHome } = daemon
  await newSession(daemon, '--no-wait', 'hello')
  await ok(corral(env, ['stop', '--now']))
  await daemon.restart()
  // What is not Corral's, in its own directory and elsewhere.
  writeFileSync(join(corralHome, 'notes.txt'), 'mine')
  mkdirSync(join(corralHome, 'worktrees/a'), { recursive: true })
  writeFileSync(join(corralHome, 'worktrees/a/work.txt'), 'not merged')
  writeFileSync(join(home, 'project/file.txt'), 'kept')
  mkdirSync(join(corralHome, 'tours'), { recursive: true })
  symlinkSync(join(home, 'project'), join(corralHome, 'tours/link'))
  writeFileSync(join(home, '.bashrc'), 'source <(corral completion bash)\n')

  const before = below(home)
  const { stdout, stderr } = await ok(corral(env, ['uninstall']))
  assert.match(stdout, new RegExp(`would stop the daemon and its agents \\(pid ${daemon.pid}\\)`))
  assert.match(stdout, /corral\.db +[\d.]+ [KM]iB +the log/)
  assert.match(stdout, /left alone:[^]*worktrees[^]*\.bashrc/)
  assert.match(stderr, /nothing was changed/)
  assert.deepEqual(
    below(home).filter((name) => !before.includes(name) && !/cache|db-|resources/.test(name)),
    [],
  )

  const told = (await ok(corral(env, ['uninstall', '--json']))).json<Told>()[0]!
  assert.deepEqual([told.done, told.daemon], [false, daemon.pid])
  assert.ok(told.removed.some(({ path }) => path === join(home, '.codecast/daemon.port')))
  await ok(corral(env, ['uninstall', '--yes']))
  for (const { path } of told.removed) assert.ok(!existsSync(path), path)
  assert.deepEqual(readdirSync(corralHome).toSorted(), ['notes.txt', 'worktrees'])
  assert.equal(readFileSync(join(home, 'project/file.txt'), 'utf8'), 'kept')
  assert.equal(readFileSync(join(corralHome, 'worktrees/a/work.txt'), 'utf8'), 'not merged')
  assert.equal((await corral(env, ['status'])).code, 3)
})

test('a directory that has nothing else in it goes as well; a second time there is nothing to do', async (t) => {
  const daemon = await daemonFor(t)
  await ok(corral(daemon.env, ['uninstall', '--yes']))
  assert.ok(!existsSync(daemon.corralHome))
  for (const name of ['.codecast', '.humanlayer']) assert.ok(!existsSync(join(daemon.home, name)), name)
  const again = (await ok(corral(daemon.env, ['uninstall', '--yes', '--json']))).json<Told>()[0]!
  assert.deepEqual(again.removed, [])
})

test("files of others' daemons stay: a port that is not ours, and whatever the run file does not name", async (t) => {
  const daemon = await daemonFor(t)
  const port = join(daemon.home, '.codecast/daemon.port')
  await daemon.kill9()
  writeFileSync(port, '1')
  const { removed } = (await ok(corral(daemon.env, ['uninstall', '--json']))).json<Told>()[0]!
  assert.ok(!removed.some(({ path }) => path === port))
  assert.ok(removed.some(({ path }) => path === join(daemon.home, '.humanlayer/daemon.sock')))
  await ok(corral(daemon.env, ['uninstall', '--yes']))
  assert.equal(readFileSync(port, 'utf8'), '1')
  assert.ok(!existsSync(join(daemon.home, '.humanlayer')))
})
