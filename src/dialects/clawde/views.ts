import type { Engine } from '../../core/api.ts'
import type { EventType } from '../../core/event.ts'
import { modelInUse } from '../../core/model.ts'
import { tierOf, type Session } from '../../core/session.ts'
import { callIdOf, isShown, type Message, type ToolCall } from './conversation.ts'
import { scopesOf } from './permissions.ts'
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

export function messageView({ id, sessionId, role, content, status, at, aborted, call }: Message) {
  return bothWays({
    id,
    sessionId,
    role,
    content,
    status,
    ...moments(at),
    ...(aborted && { aborted }),
    ...(call && { toolCall: toolCallView(call) }),
  })
}

export function toolCallView({ at, parent, external, ...call }: ToolCall) {
  return bothWays({
    ...call,
    toolName: call.name,
    ...moments(at),
    ...(parent !== null && { parentToolCallId: parent }),
    ...(external && { external }),
  })
}

/** Counts the messages of sessions, each event once: what has been counted is remembered, up to a bound. */
export interface Counts {
  of(sessionId: string): number
}

const COUNTED: EventType[] = ['turn.queued', 'turn.steer_accepted', 'message.completed', 'tool.started']
const PAGE = 1000
const REMEMBERED = 20_000

export function createCounts(engine: Engine): Counts {
  const known = new Map<string, { after: number; count: number }>()
  return {
    of(sessionId) {
      let { after, count } = known.get(sessionId) ?? { after: 0, count: 0 }
      const { head } = engine
      if (after === head) return count
      for (;;) {
        const page = engine.events({ sessionId, after, types: COUNTED, whole: true, limit: PAGE })
        for (const { event } of page) {
          if (event.type !== 'message.completed' || (isShown(event) && event.text !== '')) count += 1
        }
        if (page.length < PAGE) break
        after = page.at(-1)!.seq
      }
      known.delete(sessionId)
      known.set(sessionId, { after: head, count })
      if (known.size > REMEMBERED) known.delete(known.keys().next().value!)
      return count
    },
  }
}
