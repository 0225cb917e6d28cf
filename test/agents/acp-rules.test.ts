import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aboutCall } from '../../src/agents/acp/about.ts'
import { gemini } from '../../src/agents/acp/gemini.ts'
import { opencode } from '../../src/agents/acp/opencode.ts'
import type { AcpProfile } from '../../src/agents/acp/profile.ts'
import { merged, newCall } from '../../src/agents/acp/tool.ts'
import { engineWith, say, sessionOf } from '../support/acp.ts'
import { HARMLESS, PUSHES } from '../support/spellings.ts'

const OPTIONS = [
  { optionId: 'yes', kind: 'allow_once', name: 'Yes' },
  { optionId: 'no', kind: 'reject_once', name: 'No' },
]
const rules = (...deny: string[]) => ({ allow: [], deny, acceptEdits: false, skipUntil: null })

function asking(toolCall: object): [string, object] {
  return ['session/request_permission', { toolCall: { toolCallId: 'c', ...toolCall }, options: OPTIONS }]
}

test('a custom agent is stopped however it spells a command, whether it runs it itself or not', async (t) => {
  const engine = await engineWith(t)
  const sessionId = await sessionOf(engine, { mode: 'auto', rules: rules('Bash(git push*)') })
  for (const command of PUSHES) {
    const itself = asking({ kind: 'execute', rawInput: { command } })
    assert.match(await say(engine, sessionId, itself), /"no"/, command)
    // Some tell the command for people only, some say nothing of its kind.
    assert.match(await say(engine, sessionId, asking({ kind: 'execute', title: command })), /"no"/, command)
    assert.match(await say(engine, sessionId, asking({ rawInput: { command } })), /"no"/, command)
    // Some say that it only looks.
    assert.match(
      await say(engine, sessionId, asking({ kind: 'read', rawInput: { command: ['bash', '-c', command] } })),
      /"no"/,
      command,
    )
    const ours: [string, object] = ['terminal/create', { command: 'bash', args: ['-c', command] }]
    assert.match(await say(engine, sessionId, ours), /refused.*rule Bash/, command)
  }
  for (const command of HARMLESS) {
    const itself = asking({ kind: 'execute', rawInput: { command } })
    assert.match(await say(engine, sessionId, itself), /"yes"/, command)
  }
})

test('every file that it names counts, wherever it names it', async (t) => {
  const engine = await engineWith(t)
  const sessionId = await sessionOf(engine, { mode: 'auto', rules: rules('edit(*secret*)', 'read(/etc/*)') })
  const [fine, secret] = [`${engine.cwd}/fine`, `${engine.cwd}/secret`]
  const diff = (path: string) => ({ type: 'diff', path, oldText: '', newText: 'x' })
  const refused = [
    { kind: 'edit', locations: [{ path: fine }, { path: secret }] },
    { kind: 'edit', locations: [{ path: fine }], content: [diff(fine), diff(secret)] },
    { kind: 'edit', rawInput: { filePath: secret } },
    { kind: 'delete', locations: [{ path: secret }] },
    { kind: 'move', locations: [{ path: fine }, { path: secret }] },
    { kind: 'edit', title: 'some files' },
    { kind: 'read', locations: [{ path: '/etc/shadow' }] },
  ]
  for (const one of refused)
    assert.match(await say(engine, sessionId, asking(one)), /"no"/, JSON.stringify(one))
  const passing = [
    { kind: 'edit', locations: [{ path: fine }], content: [diff(fine)] },
    { kind: 'read', locations: [{ path: secret }] },
  ]
  for (const one of passing)
    assert.match(await say(engine, sessionId, asking(one)), /"yes"/, JSON.stringify(one))
})

test('a tool of an MCP server is one whatever the agent calls it', () => {
  const classOf = (profile: AcpProfile, id: string, title: string, rawInput = {}): string =>
    aboutCall(profile, merged(newCall(id), { title, kind: 'other' }), rawInput).class
  assert.equal(classOf(gemini, 'mcp_files_read__fc_1', 'read'), 'mcp')
  assert.equal(classOf(gemini, 'save_memory__fc_1', 'remember'), 'other')
  assert.equal(classOf(opencode, 'call_1', 'files_read'), 'mcp')
  assert.equal(classOf(opencode, 'call_1', 'doom_loop'), 'other')
  assert.equal(classOf(opencode, 'call_1', 'todowrite'), 'other')
})
