import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { SessionView } from '../../src/dialects/native/wire.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { corral, daemonFor } from './support.ts'

/** A program that says which version of Codex it is, and does nothing else. */
function someCodex(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'corral-codex-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const path = join(directory, 'codex')
  mkdirSync(directory, { recursive: true })
  writeFileSync(path, '#!/bin/sh\necho codex-cli 0.150.0\n')
  chmodSync(path, 0o755)
  return path
}

async function daemonWith(t: TestContext, env: NodeJS.ProcessEnv): Promise<TestDaemon> {
  const daemon = await startDaemon({ env })
  t.after(() => daemon.stop())
  return daemon
}

async function made(daemon: TestDaemon, ...args: string[]): Promise<[SessionView, stderr: string]> {
  const { code, stdout, stderr } = await corral(daemon.env, ['new', ...args], { cwd: daemon.project })
  assert.equal(code, 0, stderr)
  const shown = await corral(daemon.env, ['session', 'show', stdout.trim(), '--json'])
  return [shown.json<SessionView>()[0]!, stderr]
}

test('a session begins in a mode that asks, and says so with its agent', async (t) => {
  const daemon = await daemonFor(t)
  const [session, said] = await made(daemon)
  assert.deepEqual([session.agent, session.mode], ['demo', 'ask'])
  assert.match(said, /^session [0-9a-f]{8}: demo, mode ask \(asks before it changes anything\)$/m)
  assert.match(said, /no real agent is installed here/)
  const [other, otherSaid] = await made(daemon, '--agent', 'demo', '--mode', 'auto')
  assert.equal(other.mode, 'auto')
  assert.match(otherSaid, /: demo, mode auto \(does everything without asking\)$/m)
  assert.doesNotMatch(otherSaid, /no real agent/)
})

test('where only Codex is installed, Codex it is', async (t) => {
  const daemon = await daemonWith(t, { CORRAL_CODEX_BIN: someCodex(t) })
  const [session, said] = await made(daemon)
  assert.equal(session.agent, 'codex')
  assert.match(said, /: codex, mode ask/)
})

test('settings choose the agent and the mode', async (t) => {
  const env = { CORRAL_CODEX_BIN: someCodex(t), CORRAL_DEFAULTS_AGENT: 'demo', CORRAL_DEFAULTS_MODE: 'code' }
  const daemon = await daemonWith(t, env)
  const [session, said] = await made(daemon)
  assert.deepEqual([session.agent, session.mode], ['demo', 'code'])
  assert.match(said, /: demo, mode code \(edits files, asks before it runs a command\)$/m)
})
