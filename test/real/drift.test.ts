import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Report } from '../../scripts/drift/report.ts'
import { claudeAbsent } from '../support/claude-env.ts'
import { codexAbsent } from '../support/codex-env.ts'

const SCRIPT = join(import.meta.dirname, '../../scripts/agents-drift.ts')

for (const [agent, skip] of [
  ['claude', claudeAbsent],
  ['codex', codexAbsent],
] as const) {
  test(`the pinned ${agent} writes nothing that its baseline does not know`, { skip }, async () => {
    const { code, stdout } = await run('--pinned', '--json', agent)
    const reports = JSON.parse(stdout) as Report[]
    assert.deepEqual(
      reports.map(({ drift }) => drift),
      [{ newTypes: [], newFields: [], goneTypes: [], goneFields: [], turns: [] }],
    )
    assert.equal(code, 0)
  })
}

test('a program that is not there cannot be run', async () => {
  const { code, stdout } = await run('--bin', 'claude=/nowhere/claude')
  assert.equal(code, 2)
  assert.match(stdout, /^claude: could not run: /)
})

function run(...args: string[]): Promise<{ code: number; stdout: string }> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [SCRIPT, ...args], (_, stdout) => {
      resolve({ code: child.exitCode ?? -1, stdout })
    })
  })
}
