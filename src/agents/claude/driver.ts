import { randomUUID } from 'node:crypto'
import { type Content, textOf } from '../../core/content.ts'
import type { Intent } from '../../core/ports.ts'
import type { Session } from '../../core/session.ts'
import type { Steer } from '../../core/turn.ts'
import type { AgentDriver, Translator } from '../agent.ts'
import { permission } from './approval.ts'
import { answerMcp, callResult, type McpRequest } from './client-tools.ts'
import { barrier, request, response } from './control.ts'
import { detect } from './detect.ts'
import { setEffort } from './effort.ts'
import { plan } from './launch.ts'
import { PERMISSION_MODES } from './mode.ts'
import { signedIn } from './signed-in.ts'
import type { ClaudeState } from './state.ts'
import { claim, claimable, sparePlan } from './spare.ts'
import { claudeTranslator } from './translator.ts'

export const claudeDriver = {
  name: 'claude',
  title: 'Claude Code',
  unasked: {
    shell: {
      what: 'commands that only look around in the session’s directory (`ls`, `cat`, `git status`)',
      such: ['ls', 'cat x', 'echo x', 'git status', 'pwd', 'whoami', 'sleep 1'],
    },
    read: { what: 'files in the session’s directory' },
    search: { what: 'searches in the session’s directory' },
    fetch: { what: 'the addresses of some documentation (`docs.python.org`)' },
    mcp: { what: 'resources of servers' },
    other: { what: 'its own lists, skills and sub-agents' },
  },
  capabilities: {
    streaming: true,
    thinking: true,
    approvals: true,
    images: true,
    documents: true,
    resume: true,
    relocate: true,
    fork: true,
    cost: true,
    setModel: true,
    effort: true,
    setMode: true,
    steer: true,
    editInput: true,
    denyComment: true,
    pause: true,
    survivesRestart: true,
    clientTools: true,
    bare: true,
    compact: true,
  },
  detect,
  signedIn,
  plan,
  translator: claudeTranslator as Translator<unknown>,
  encode,
  serve: () => ({ answer: (request, session) => answerMcp(request as McpRequest, session) }),
  interrupt: () => [request('interrupt', randomUUID(), { subtype: 'interrupt' })],
  barrier: (id) => [barrier(id)],
  farewell: () => [request('end', randomUUID(), { subtype: 'end_session' })],
  conversations: async () => (await import('./conversations.ts')).claudeConversations,
  spare: { plan: sparePlan, claimable, claim },
} satisfies AgentDriver

function encode(intent: Intent, _session?: Session, heard?: unknown): string[] {
  switch (intent.kind) {
    case 'prompt':
      return [prompt(intent.turnId, intent.input)]
    case 'steer':
      return steer(intent.steer, heard)
    case 'retract': {
      const body = { subtype: 'cancel_async_message', message_uuid: intent.steerId }
      return [request('retract', intent.steerId, body)]
    }
    case 'decision': {
      const answer = permission(intent.approval, intent.decision)
      return answer ? [response(intent.approval.requestId, answer)] : []
    }
    case 'result':
      return callResult(intent.call)
    case 'mode': {
      const mode = PERMISSION_MODES[intent.mode]
      return [request('mode', randomUUID(), { subtype: 'set_permission_mode', mode })]
    }
    case 'model':
      return [request('model', randomUUID(), { subtype: 'set_model', model: intent.model ?? 'default' })]
    case 'effort':
      return setEffort(randomUUID(), intent.effort)
  }
}

/** A version that does not say which messages it has would not say what became of a steer: that waits for the end of the turn. */
function steer({ id, input }: Steer, heard: unknown): string[] {
  return (heard as ClaudeState | undefined)?.tells === false ? [] : [prompt(id, input)]
}

/** The same message twice (after a crash) is run once: Claude knows it by its uuid. */
function prompt(turnId: string, input: Content[]): string {
  const content = input.every((part) => part.type === 'text') ? textOf(input) : input.map(block)
  return JSON.stringify({
    type: 'user',
    uuid: turnId,
    parent_tool_use_id: null,
    message: { role: 'user', content },
  })
}

function block(part: Content): object {
  if (part.type === 'text') return part
  return { type: part.type, source: { type: 'base64', media_type: part.mediaType, data: part.data } }
}
