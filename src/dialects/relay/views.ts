import type { ModelEntry } from '../../relay/models.ts'
import type { CallRecord } from '../../relay/records/call-records.ts'

/** As `GET /v1/recent-calls` has it. */
export function recentCall(record: CallRecord) {
  return {
    id: record.id,
    session_id: record.sessionId,
    started_at: record.startedAt,
    completed_at: record.completedAt,
    model: record.model,
    input_tokens: record.inputTokens,
    output_tokens: record.outputTokens,
    status: record.status,
    error: record.error,
    seq: record.seq,
    provider: record.provider,
    stop_reason: record.stopReason,
    cost_avoided_usd: record.costAvoidedUsd,
  }
}

/** One model, in the words of both APIs. */
interface ModelView {
  id: string
  type: 'model'
  object: 'model'
  display_name: string
  created_at: string
  created: number
  owned_by: string
  max_input_tokens?: number
}

/** The body of `GET /v1/models`, read by the clients of both APIs. There is only ever one page. */
export function modelList(models: readonly ModelEntry[]) {
  return {
    object: 'list',
    data: models.map(modelView),
    has_more: false,
    first_id: models[0]?.id ?? null,
    last_id: models.at(-1)?.id ?? null,
  }
}

/** When a model came out is not known here; the APIs say 1970 then. */
export function modelView({ id, name, ownedBy, contextWindow }: ModelEntry): ModelView {
  return {
    id,
    type: 'model',
    object: 'model',
    display_name: name,
    created_at: '1970-01-01T00:00:00Z',
    created: 0,
    owned_by: ownedBy,
    ...(contextWindow !== null && { max_input_tokens: contextWindow }),
  }
}
