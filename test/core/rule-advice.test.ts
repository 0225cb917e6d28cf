import assert from 'node:assert/strict'
import { test } from 'node:test'
import { driversWith } from '../../src/agents/drivers.ts'
import { adviceOn } from '../../src/core/rule-advice.ts'

const AGENTS = driversWith({ mine: { command: 'mine', title: 'Mine' } })
const about = (deny: string): string[] => adviceOn({ deny: [deny] }, AGENTS).map(({ message }) => message)

test('a refusal of what is not asked about is warned of, for each agent that does not ask', () => {
  const said = about('read(/etc/*)')
  assert.equal(said.length, 5)
  assert.match(said.join('\n'), /^Claude Code does not ask about files in the session’s directory: these/)
  assert.match(said.join('\n'), /^Gemini CLI does not ask about files in its directories;/m)
  assert.deepEqual(
    about('shell(git push*)'),
    [about('shell(x)')[0]],
    'only of an agent of whom nothing is known',
  )
  assert.match(about('Bash(cat *)').join('\n'), /Claude Code does not ask about commands that only look/)
  assert.match(about('shell').join('\n'), /Gemini CLI does not ask about commands that only look/)
  assert.match(about('shell(cat *)').join('\n'), /Codex does not ask about commands in `plan`/)
  assert.match(about('mcp').join('\n'), /Codex does not ask about tools of servers that say .* only look/)
  assert.deepEqual(about('mcp__files__*'), about('mcp'))
  assert.deepEqual(about('Read*'), about('read'), 'some tools of a class')
  for (const one of ['shell', 'read', 'search', 'other'])
    for (const message of about(one)) assert.ok(about('*').includes(message), message)
  assert.deepEqual(about('mine_*'), [])
  assert.deepEqual(adviceOn({ allow: ['read'] }, AGENTS), [], 'what passes anyway may be allowed')
})

test('names that fit nothing, and permissions for more than one command, are warned of', () => {
  assert.match(about('Shel(x)').join(), /called exactly Shel; classes of tools are shell, edit/)
  for (const name of ['*', 'mcp__files__read', 'Terminal*', 'run_shell_command(rm *)']) {
    assert.ok(!about(name).join().includes('exactly'), name)
  }
  for (const name of ['git push*', '*/.env', '.env', 'src/*'])
    assert.match(about(name).join(), /^names no tool: write shell\(.*edit\(/, name)
  assert.match(about('edit(secrets/)').join(), /write edit\(secrets\/\*\)/)
  for (const rule of ['edit(".env")', "shell('git push*')"])
    assert.match(about(rule).join(), /quotes belong to the pattern/, rule)
  for (const rule of ['edit(/)', 'edit(a/*)', 'fetch(https://a.b/)', 'shell("a" b)', '*'])
    assert.ok(!/never fits|names no tool/.test(about(rule).join()), rule)
  const [warning] = adviceOn({ allow: ['shell(cd * && npm test)', 'shell(cd x && npm test)'] }, [])
  assert.equal(warning?.rule, 'shell(cd * && npm test)')
})
