import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gemini } from '../../src/agents/acp/gemini.ts'
import { opencode } from '../../src/agents/acp/opencode.ts'
import { asked } from '../../src/agents/acp/permission.ts'
import type { AcpProfile } from '../../src/agents/acp/profile.ts'
import { initialState } from '../../src/agents/acp/state.ts'
import { merged, newCall } from '../../src/agents/acp/tool.ts'
import { engineWith, say, sessionOf } from '../support/acp.ts'
import { aSession } from '../support/session.ts'
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

/** A question in the words of a real agent, and what it said of the call before: its name here, its class, and whether it edits. */
function understood(profile: AcpProfile, told: object, before: object = told): unknown[] {
  const toolCall = { toolCallId: 'call_1', kind: 'other', status: 'pending', locations: [], ...told }
  const known = merged(newCall(toolCall.toolCallId), { ...before })
  const state = { ...initialState(aSession()), turnId: 't', calls: [known] }
  const { outputs } = asked(profile, state, { id: 0, params: { toolCall, options: OPTIONS } })
  const { approval } = outputs.find((one) => one.type === 'approval.asked')!
  return [approval.tool, approval.about!.class, approval.edits]
}

test('a tool of an MCP server is one whatever Gemini CLI calls it', () => {
  const ask = (toolCallId: string, title: string) => understood(gemini, { toolCallId, title })
  assert.deepEqual(ask('mcp_files_read__fc_1', 'read (files MCP Server)'), ['mcp_files_read', 'mcp', false])
  for (const name of ['mcp_my-files_write', 'mcp_my.files_write', 'mcp_a__b_write', 'mcp_web_fetch'])
    assert.deepEqual(ask(`${name}__synth_1_2`, 'write (MCP Server)'), [name, 'mcp', false])
  assert.deepEqual(ask('save_memory__fc_1', 'remember'), ['save_memory', 'other', false])
})

test('OpenCode asks about a tool of a server by its name alone, and about its own tools in more words', () => {
  const server = (title: string, kind = 'other') => understood(opencode, { title, kind, rawInput: {} })
  for (const name of ['files_read', 'my-files_write', 'web_fetch', 'plan_make', 'context7_get_library_docs'])
    assert.deepEqual(server(name), [name, 'mcp', false])
  // It takes some for its own, by their names.
  assert.deepEqual(server('apply_patch', 'edit'), ['apply_patch', 'mcp', false])
  assert.deepEqual(server('context7_get_library_docs', 'search'), ['context7_get_library_docs', 'mcp', false])
  const own = (title: string, rawInput: object, kind?: string) =>
    understood(opencode, { title, rawInput }, { kind })
  assert.deepEqual(own('my_tool', { path: '/x' }), ['my_tool', 'other', false])
  assert.deepEqual(own('doom_loop', { tool: 'bash', input: {} }), ['doom_loop', 'other', false])
  assert.deepEqual(own('git_push', { query: 'git_push', provider: 'exa' }), ['WebSearch', 'search', false])
  const outside = { filepath: '/etc/hostname', parentDir: '/etc' }
  assert.deepEqual(own('/etc', outside, 'read'), ['ExternalDirectory', 'read', false])
  assert.deepEqual(own('/etc', outside, 'edit'), ['ExternalDirectory', 'edit', false])
  assert.deepEqual(server('todowrite'), ['todowrite', 'other', false])
})

test('a patch of OpenCode is about its files, not about the text that has them all', () => {
  const files = [{ filePath: '/w/a' }, { filePath: '/w/b', movePath: '/w/c' }]
  const rawInput = { filepath: 'w/a, w/b', diff: '', files }
  const toolCall = { toolCallId: 'c', kind: 'edit', status: 'pending', locations: [], rawInput }
  const state = { ...initialState(aSession()), turnId: 't', calls: [newCall('c')] }
  const { outputs } = asked(opencode, state, { id: 0, params: { toolCall, options: OPTIONS } })
  const { approval } = outputs.find((one) => one.type === 'approval.asked')!
  assert.deepEqual(approval.about, { class: 'edit', subjects: ['/w/a', '/w/b', '/w/c'] })
})
