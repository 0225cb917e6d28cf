/** One model, in the words of both APIs. */
export interface ModelView {
  id: string
  type: 'model'
  object: 'model'
  display_name: string
  created_at: string
  created: number
  owned_by: string
}

/** The body of `GET /v1/models`, read by the clients of both APIs. There is only ever one page. */
export function modelList(ids: readonly string[]) {
  return {
    object: 'list',
    data: ids.map(modelView),
    has_more: false,
    first_id: ids[0] ?? null,
    last_id: ids.at(-1) ?? null,
  }
}

/** When a model came out is not known here; the APIs say 1970 then. */
export function modelView(id: string): ModelView {
  return {
    id,
    type: 'model',
    object: 'model',
    display_name: id,
    created_at: '1970-01-01T00:00:00Z',
    created: 0,
    owned_by: ownerOf(id),
  }
}

function ownerOf(id: string): string {
  if (id.startsWith('claude')) return 'anthropic'
  return /^(gpt|chatgpt|o\d)/.test(id) ? 'openai' : 'local'
}
