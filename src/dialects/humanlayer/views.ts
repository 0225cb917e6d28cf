import { setImmediate } from 'node:timers/promises'
import type { Engine } from '../../core/api.ts'
import { modelInUse } from '../../core/model.ts'
import { FOR_EVER, type Rules } from '../../core/rule.ts'
import { openApprovals, type Session } from '../../core/session.ts'
import type { Turn } from '../../core/turn.ts'
import type { Usage } from '../../core/usage.ts'
import { runIdOf } from './ids.ts'
import type { SessionView } from './shapes.ts'
import { statusOf } from './status.ts'
import { cutTo, isoTime, summaryOf, textOfInput } from './text.ts'

/** Long texts are cut in lists. */
const LISTED_CHARS = 10_000
/** The original's constant: its clients show how much of it is used. */
const CONTEXT_LIMIT = 168_000
const AT_ONCE = 20
/** Turns that are looked at for the last one that is over. */
const LAST_TURNS = 3

/** Sessions as lists show them. A long list is made in pieces, so that nobody else has to wait for it. */
export async function sessionList(engine: Engine, sessions: Session[]): Promise<SessionView[]> {
  const list: SessionView[] = []
  for (const [index, session] of sessions.entries()) {
    if (index % AT_ONCE === AT_ONCE - 1) await setImmediate()
    const view = sessionView(engine, session)
    const { query, result } = view
    const short = result && { result: { ...result, result: cutTo(result.result, LISTED_CHARS) } }
    list.push({ ...view, query: cutTo(query, LISTED_CHARS), ...short })
  }
  return list
}

export function sessionView(engine: Engine, session: Session): SessionView {
  const { id, usage, lastError } = session
  const turns = engine.turns.list(id, LAST_TURNS)
  const query = queryOf(engine, id, turns)
  const last = turns.find((turn) => turn.endedAt !== null && turn.startedAt !== null)
  const status = statusOf(session)
  const over = status === 'completed' || status === 'failed'
  const endedAt = over ? isoTime(last?.endedAt ?? session.activeAt) : null
  const createdAt = isoTime(session.createdAt)
  const model = modelInUse(session)
  return {
    id,
    run_id: runIdOf(id),
    claude_session_id: session.nativeId ?? '',
    parent_session_id: session.parentId,
    status,
    ...(session.lastOutcome !== null && { outcome: session.lastOutcome }),
    start_time: createdAt,
    created_at: createdAt,
    last_activity_at: isoTime(session.activeAt),
    ...(endedAt !== null && { end_time: endedAt }),
    completed_at: endedAt,
    ...(lastError && { error: lastError.message }),
    error_message: lastError?.message ?? '',
    query,
    summary: summaryOf(query),
    title: session.title ?? '',
    ...(model !== null && { model }),
    ...(session.usedModel && { model_id: session.usedModel }),
    agent: session.agent,
    mode: session.mode,
    working_dir: session.cwd,
    archived: session.archived,
    ...permissions(session.rules, Date.now()),
    pending_approvals: openApprovals(session).length,
    turn_count: session.turnCount,
    cost_usd: usage.costUsd ?? 0,
    duration_ms: usage.durationMs || wallClock(last),
    ...tokens(usage),
    effective_context_tokens: last?.usage ? totalTokens(last.usage) : 0,
    context_limit: CONTEXT_LIMIT,
    ...(last && { result: resultOf(session, last) }),
  }
}

type Permissions = Pick<
  SessionView,
  'auto_accept_edits' | 'dangerously_skip_permissions' | 'dangerously_skip_permissions_expires_at'
>

/** What passes without a question. */
export function permissions(rules: Rules, now: number): Permissions {
  const { acceptEdits, skipUntil } = rules
  const skips = skipUntil !== null && skipUntil > now
  return {
    auto_accept_edits: acceptEdits,
    dangerously_skip_permissions: skips,
    ...(skips && skipUntil < FOR_EVER && { dangerously_skip_permissions_expires_at: isoTime(skipUntil) }),
  }
}

/** The words that it began with. Nearly every session is so short that they are among its last turns. */
function queryOf(engine: Engine, sessionId: string, turns: readonly Turn[]): string {
  const last = turns.at(-1)
  if (turns.length < LAST_TURNS) return last ? textOfInput(last.input) : ''
  const [first] = engine.events.read({ sessionId, after: 0, types: ['turn.started'], limit: 1 })
  return first?.event.turnId ? textOfInput(engine.turns.get(first.event.turnId).input) : ''
}

function tokens(usage: Usage) {
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    total_tokens: totalTokens(usage),
  }
}

function totalTokens({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Usage): number {
  return inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens
}

function wallClock(turn: Turn | undefined): number {
  return turn?.startedAt && turn.endedAt ? turn.endedAt - turn.startedAt : 0
}

/** How the last turn ended, as Claude itself would put it. */
function resultOf(session: Session, turn: Turn): SessionView['result'] & {} {
  const { usage, error, text } = turn
  return {
    type: 'result',
    subtype: 'session_completed',
    total_cost_usd: usage?.costUsd ?? 0,
    is_error: error !== null,
    duration_ms: usage?.durationMs || wallClock(turn),
    duration_api_ms: 0,
    num_turns: usage?.modelCalls ?? 0,
    result: text ?? '',
    session_id: session.nativeId ?? '',
    ...(error && { error: error.message }),
  }
}
