import type { Approval } from '../../core/approval.ts'
import { textOf } from '../../core/content.ts'
import type { Call, CallState, Message, UserMessage } from '../../core/conversation/item.ts'
import { modelInUse } from '../../core/model.ts'
import { tierOf, type Session } from '../../core/session.ts'
import { scopesOf } from './permissions.ts'
import { riskOf } from './risk.ts'
import { bothWays } from './spelling.ts'
import { modeName, statusOf } from './status.ts'

const NO_TITLE = 'New Session'

export function iso(at: number): string {
  return new Date(at).toISOString()
}

function moments(at: number): { createdAt: string; createdAtUnix: number } {
  return { createdAt: iso(at), createdAtUnix: Math.floor(at / 1000) }
}

export function sessionView(session: Session, messageCount: number) {
  const { id, agent, cwd, title, model: modelOverride, createdAt, activeAt, parentId, usage } = session
  const model = modelInUse(session)
  const permissions = scopesOf(session)
  return bothWays({
    id,
    provider: agent,
    repoPath: cwd,
    title: title ?? NO_TITLE,
    status: statusOf(session),
    ...moments(createdAt),
    updatedAt: iso(activeAt),
    messageCount,
    mode: modeName(session),
    tier: tierOf(session),
    queued: session.queue.length,
    pendingToolCalls: session.approvals.flatMap((one) => (one.decision === null ? [callIdOf(one)] : [])),
    ...(permissions && { permissions }),
    ...(model !== null && { model }),
    ...(modelOverride !== null && { modelOverride }),
    ...(parentId !== null && { parentId }),
    ...(session.lastError && { error: session.lastError.message }),
    usage: bothWays({
      inputTokens: usage.inputTokens,
      outputTokens: usage.outputTokens,
      costUsd: usage.costUsd,
    }),
  })
}

/** What clients call a question: the call that it is about, or itself where there is none. */
export function callIdOf({ callId, id }: Pick<Approval, 'callId' | 'id'>): string {
  return callId ?? id
}

/** `at`: when it took its place in the conversation. */
export function userView(sessionId: string, message: Pick<UserMessage, 'id' | 'content'>, at: number) {
  const content = textOf(message.content)
  return bothWays({ id: message.id, sessionId, role: 'user', content, status: 'done', ...moments(at) })
}

export function answerView(sessionId: string, { id, text, open, openedAt, aborted }: Message) {
  const status = open ? 'streaming' : 'done'
  const about = { id, sessionId, role: 'assistant', content: text, status, ...moments(openedAt) }
  return bothWays({ ...about, ...(aborted && { aborted }) })
}

/** A tool call as a message, which is in histories and in no push. */
export function callMessageView(sessionId: string, call: Call) {
  const { id, output, state, startedAt } = call
  const status = state === 'asked' || state === 'running' ? 'streaming' : 'done'
  const about = { id, sessionId, role: 'tool', content: output ?? '', status, ...moments(startedAt) }
  return bothWays({ ...about, toolCall: toolCallView(sessionId, call) })
}

export const CALL_STATUS = {
  asked: 'pending',
  running: 'running',
  refused: 'rejected',
  done: 'done',
  failed: 'error',
} as const satisfies Record<CallState, string>

export function toolCallView(sessionId: string, call: Call) {
  const { id, tool: name, input, state, output, parent, external, startedAt } = call
  return bothWays({
    id,
    sessionId,
    name,
    input,
    status: CALL_STATUS[state],
    output,
    riskLevel: riskOf(name),
    toolName: name,
    ...moments(startedAt),
    ...(parent !== null && { parentToolCallId: parent }),
    ...(external && { external }),
  })
}
