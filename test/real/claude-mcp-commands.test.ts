import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test, type TestContext } from 'node:test'
import { openQuestion } from '../dialects/mcp/support.ts'
import { allBlocks, commandsIn } from '../docs/extract.ts'
import { CLAUDE, claudeAbsent } from '../support/claude-env.ts'
import { MAIN } from '../support/program.ts'
import { exitOf } from '../support/wait.ts'
import { type Rig, startRig } from './rig.ts'

/** What the page about MCP has people type into a shell that begins with `claude`. */
const COMMANDS = allBlocks()
  .filter(({ page }) => page === 'docs/mcp.md')
  .flatMap(commandsIn)
  .map(({ text }) => text)
  .filter((text) => text.startsWith('claude '))

let rig: Rig

/** A shell of somebody who has Claude Code and Corral, and has never used the first. */
function newUser(t: TestContext) {
  const home = rig.directory()
  const bin = join(home, 'bin')
  const work = join(home, 'work')
  for (const path of [bin, work]) mkdirSync(path)
  symlinkSync(CLAUDE, join(bin, 'claude'))
  const program = `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`
  writeFileSync(join(bin, 'corral'), program, { mode: 0o755 })
  const { env } = rig.daemon
  const options = { cwd: work, env: { ...env, HOME: home, PATH: `${bin}:${env['PATH']}` } }

  async function types(command: string): Promise<string> {
    const child = spawn('sh', ['-c', command], { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
    t.after(() => child.kill('SIGKILL'))
    let said = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data: Buffer) => (said += data.toString()))
    assert.equal(await exitOf(child, () => `${command} ends; it says:\n${said}`), 0, said)
    return said
  }
  return { work, types }
}

describe('what docs/mcp.md has people type', { skip: claudeAbsent }, () => {
  before(async () => {
    rig = await startRig()
  })
  after(() => rig.close())

  const added = [...new Set(COMMANDS.filter((text) => text.startsWith('claude mcp add ')))]
  const asked = COMMANDS.filter((text) => text.startsWith('claude -p '))

  test('is all of this', () => {
    assert.deepEqual([added.length, asked.length], [2, 1])
    assert.ok(COMMANDS.every((text) => added.includes(text) || asked.includes(text)))
  })

  for (const command of added)
    test(command.split('\\')[0]!.trim(), async (t) => {
      const { types } = newUser(t)
      const here = rig.daemon.listeners['corral']!
      await types(command.replace('http://127.0.0.1:2677', here))
      assert.match(await types('claude mcp get corral'), /Status: .*Connected/)
    })

  for (const command of asked)
    test(command.split('\\')[0]!.trim(), async (t) => {
      const { types, work } = newUser(t)
      const answer = types(command.replace('Tidy up the build', '[[shell touch tidy.txt]]'))
      const { id } = await openQuestion(rig.client, 'tidy.txt')
      assert.equal(existsSync(join(work, 'tidy.txt')), false)
      await rig.client.call('approval.decide', { approvalId: id, behavior: 'allow' })
      await answer
      assert.ok(existsSync(join(work, 'tidy.txt')))
    })
})
