import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { DRIVERS } from '../../src/agents/drivers.ts'
import { versionOf } from '../../src/agents/find.ts'

function program(t: TestContext, script: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'corral-find-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const path = join(directory, 'agent')
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o755)
  return path
}

/** Reads its input to the end before it says anything, and says how much there was. */
const READS_FIRST = 'bytes=$(wc -c); echo "1.2.3 after $bytes bytes" | tr -s " "'

test('a program that reads its input to the end first finds it empty and over', async (t) => {
  const path = program(t, READS_FIRST)
  assert.deepEqual(await versionOf(path, process.env), { version: '1.2.3', problem: null })
  const told = program(t, '[ "$(wc -c)" -eq 0 ] && echo 1.2.3 || echo "somebody else’s input" >&2')
  assert.deepEqual(await versionOf(told, process.env), { version: '1.2.3', problem: null })
})

test('so is every agent found', async (t) => {
  const path = program(t, READS_FIRST)
  for (const name of ['CLAUDE', 'CODEX', 'GEMINI', 'OPENCODE']) {
    const driver = DRIVERS.find((one) => one.name === name.toLowerCase())!
    const found = await driver.detect({ ...process.env, [`CORRAL_${name}_BIN`]: path })
    assert.deepEqual([found.installed, found.version, found.problem], [true, '1.2.3', null], name)
  }
})

test('a program that does not run, or names no version, is said so in its own words', async (t) => {
  const refuses = await versionOf(program(t, 'echo "needs a newer system" >&2; exit 4'), process.env)
  assert.deepEqual(refuses, { version: null, problem: 'needs a newer system' })
  const fails = await versionOf(program(t, 'exit 4'), process.env)
  assert.deepEqual(fails, { version: null, problem: '--version ended with 4' })
  const mute = await versionOf(program(t, 'exit 0'), process.env)
  assert.deepEqual(mute, { version: null, problem: 'it names no version' })
  const gone = await versionOf('/nonexistent/agent', process.env)
  assert.deepEqual(gone, { version: null, problem: '--version ended with ENOENT' })
})
