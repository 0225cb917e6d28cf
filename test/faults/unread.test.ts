import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { isAlive } from '../../src/cli/process-end.ts'
import type { RunFile } from '../../src/system/run-file.ts'
import { startDaemon } from '../support/daemon.ts'
import { MAIN } from '../support/program.ts'
import { exitOf, until } from '../support/wait.ts'

const TERMINAL = join(import.meta.dirname, '../support/in-terminal.py')

/** The files of a daemon that has stopped, to start another program there. */
async function readyHome() {
  const daemon = await startDaemon()
  assert.equal(await daemon.terminate(), 0)
  const { env, corralHome, socket, stop } = daemon
  const runFile = join(corralHome, 'run.json')
  return {
    env,
    stop,
    async started(child: ChildProcess): Promise<number> {
      await until(() => existsSync(runFile) || child.exitCode !== null, 'the daemon has started')
      return (JSON.parse(readFileSync(runFile, 'utf8')) as RunFile).pid
    },
    left: () => [runFile, socket].filter((path) => existsSync(path)),
  }
}

test('a daemon whose output nobody reads stops in order', async () => {
  const home = await readyHome()
  try {
    const child = spawn(process.execPath, [MAIN, 'start'], {
      env: home.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const ended = exitOf(child, 'the daemon has ended')
    await home.started(child)
    child.stdout.destroy()
    child.stderr.destroy()
    child.kill('SIGTERM')
    assert.equal(await ended, 0)
    assert.deepEqual(home.left(), [])
  } finally {
    await home.stop()
  }
})

test('a daemon whose terminal is closed stops in order', async () => {
  const home = await readyHome()
  const terminal = spawn('python3', [TERMINAL, '80', '24', process.execPath, MAIN, 'start'], {
    env: home.env,
    stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
  })
  try {
    const pid = await home.started(terminal)
    const closed = exitOf(terminal, 'the terminal is closed')
    terminal.kill('SIGKILL')
    await closed
    await until(() => !isAlive(pid), 'the daemon has ended')
    assert.deepEqual(home.left(), [])
  } finally {
    terminal.kill('SIGKILL')
    await home.stop()
  }
})
