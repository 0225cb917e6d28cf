import { relative } from 'node:path'
import { acpDriver } from '../../src/agents/acp/driver.ts'
import { gemini } from '../../src/agents/acp/gemini.ts'
import { opencode } from '../../src/agents/acp/opencode.ts'
import { purposeOf } from '../../src/agents/acp/rpc.ts'
import type { AgentDriver } from '../../src/agents/agent.ts'
import { claudeDriver } from '../../src/agents/claude/driver.ts'
import { codexDriver } from '../../src/agents/codex/driver.ts'
import { replyOf } from '../../src/agents/codex/rpc.ts'
import { asObject, asString } from '../../src/agents/json.ts'
import { NAMES as ACP, recorded as acpRecorded } from '../../test/agents/acp-recordings.ts'
import { NAMES as CLAUDE_NAMES, recorded as claudeRecorded } from '../../test/agents/claude-recordings.ts'
import { NAMES as CODEX_NAMES, recorded as codexRecorded } from '../../test/agents/codex-recordings.ts'
import { pinned } from '../../test/support/agent-home.ts'
import { CLAUDE, scriptedClaude } from '../../test/support/claude-env.ts'
import { CODEX, scriptedCodex } from '../../test/support/codex-env.ts'
import { GEMINI, scriptedGemini } from '../../test/support/gemini-env.ts'
import type { ScriptedModel } from '../../test/support/model/server.ts'
import { OPENCODE, scriptedOpencode } from '../../test/support/opencode-env.ts'

/** An agent whose drift is watched. */
export interface Watched {
  name: string
  driver: AgentDriver
  npmPackage: string
  /** Its program, from the `node_modules` that the package is installed in. */
  program: string
  /** The variable that names another program. */
  variable: string
  home(): Promise<{ env: NodeJS.ProcessEnv; model: ScriptedModel; close(): Promise<void> }>
  /** The name of a line's type of message. */
  typeOf(line: unknown): string
  /** What recorded processes of it wrote. */
  recordings(): unknown[][]
  /** Turns of its own, by their names: sub-agents, plans, looking around. */
  turns: Record<string, string>
  /** A model that it can be switched to. */
  model: string
  /** Types of messages that depend on the machine, and are not missed. */
  ofTheMachine?: readonly string[]
}

const FROM = pinned('')

export const WATCHED: readonly Watched[] = [
  {
    name: 'claude',
    driver: claudeDriver,
    npmPackage: '@anthropic-ai/claude-code',
    program: relative(FROM, CLAUDE),
    variable: 'CORRAL_CLAUDE_BIN',
    home: scriptedClaude,
    typeOf: claudeType,
    recordings: () => CLAUDE_NAMES.flatMap((name) => [1, 2].map((proc) => claudeRecorded(name, proc))),
    turns: {
      'sub-agent': call('Agent', {
        description: 'a part',
        prompt: '[[shell echo below]]',
        subagent_type: 'general-purpose',
      }),
      'failing sub-agent': call('Agent', { description: 'a part', prompt: 'x', subagent_type: 'nobody' }),
      'end of planning': call('ExitPlanMode', { plan: 'do it' }),
      reading: call('Read', { file_path: 'notes.txt' }),
      'no such tool': call('NoSuchTool', {}),
      compaction: '/compact',
    },
    model: 'claude-haiku-4-5',
  },
  {
    name: 'codex',
    driver: codexDriver,
    npmPackage: '@openai/codex',
    program: relative(FROM, CODEX),
    variable: 'CORRAL_CODEX_BIN',
    home: scriptedCodex,
    typeOf: codexType,
    recordings: () => CODEX_NAMES.flatMap((name) => [1, 2].map((proc) => codexRecorded(name, proc))),
    turns: {
      looking: call('view_image', { path: 'pixel.png' }),
      goal: call('get_goal', {}),
      'no such tool': call('no_such_tool', {}),
    },
    model: 'gpt-5.4',
    ofTheMachine: ['configWarning'],
  },
  {
    name: 'gemini',
    driver: acpDriver(gemini),
    npmPackage: '@google/gemini-cli',
    program: relative(FROM, GEMINI),
    variable: 'CORRAL_GEMINI_BIN',
    home: scriptedGemini,
    typeOf: acpType,
    recordings: () => acpRecordings('gemini'),
    turns: {
      'sub-agent': call('invoke_agent', { agent_name: 'generalist', prompt: '[[say from below]]' }),
      topic: call('update_topic', { title: 'one', summary: 'two', strategic_intent: 'three' }),
      plan: call('write_todos', { todos: [{ description: 'one', status: 'pending' }] }),
      reading: call('read_file', { file_path: 'notes.txt' }),
      listing: call('list_directory', { dir_path: '.' }),
      'no such tool': call('no_such_tool', {}),
    },
    model: 'gemini-2.5-flash',
  },
  {
    name: 'opencode',
    driver: acpDriver(opencode),
    npmPackage: `opencode-${process.platform}-${process.arch}`,
    program: relative(FROM, OPENCODE),
    variable: 'CORRAL_OPENCODE_BIN',
    home: scriptedOpencode,
    typeOf: acpType,
    recordings: () => acpRecordings('opencode'),
    turns: {
      plan: call('todowrite', {
        todos: [{ id: '1', content: 'one', status: 'pending', priority: 'high' }],
      }),
      reading: call('read', { filePath: 'notes.txt' }),
      listing: call('glob', { pattern: '*' }),
      'no such tool': call('no_such_tool', {}),
    },
    model: 'scripted/other',
  },
]

function call(tool: string, input: object): string {
  return `[[call ${tool} ${Buffer.from(JSON.stringify(input)).toString('base64')}]]`
}

function acpRecordings(prefix: string): unknown[][] {
  return ACP.filter((name) => name.startsWith(prefix)).map((name) => acpRecorded(name))
}

/** `system/init`, `stream_event/message_start`, `control_request/can_use_tool`. */
function claudeType(line: unknown): string {
  const { type, subtype, event, request, response } = asObject(line)
  const second =
    asString(subtype) ??
    asString(asObject(event).type) ??
    asString(asObject(request).subtype) ??
    asString(asObject(response).subtype)
  return [asString(type) ?? 'unknown', ...(second === null ? [] : [second])].join('/')
}

function codexType(line: unknown): string {
  const message = asObject(line)
  const answer = replyOf(message)
  if (answer) return answerType(answer.purpose, message)
  const item = asString(asObject(asObject(message.params).item).type)
  return rpcType(message, item)
}

function acpType(line: unknown): string {
  const message = asObject(line)
  if (message.method === undefined) return answerType(purposeOf(message.id)?.[0] ?? 'unknown', message)
  return rpcType(message, asString(asObject(asObject(message.params).update).sessionUpdate))
}

function answerType(purpose: string, { error }: { error?: unknown }): string {
  return `answer ${purpose}${error === undefined ? '' : ' error'}`
}

function rpcType({ id, method }: { id?: unknown; method?: unknown }, about: string | null): string {
  const name = `${id === undefined || id === null ? '' : 'request '}${asString(method) ?? 'unknown'}`
  return about === null ? name : `${name} ${about}`
}
