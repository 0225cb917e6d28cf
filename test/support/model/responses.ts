import { type Answer, answer, type Block, type Called, type Spoken, type Wire } from './answer.ts'
import { type Route, shortId, sse } from './api.ts'
import { type Ask, attachmentIn, type Entry, listOf, understand } from './conversation.ts'
import { openaiError, openaiHeaders } from './openai-error.ts'

/** OpenAI's Responses API, as codex speaks it. */
export const responses: Route[] = [
  {
    method: 'POST',
    path: /^\/v1\/responses$/,
    answer: (exchange) => {
      const request = (exchange.body ?? {}) as Request
      const ask = readRequest(request)
      const custom = listOf<Tool>(request.tools).filter((tool) => tool.type === 'custom')
      return answer(ask, wireFor(ask, new Set(custom.map((tool) => tool.name ?? ''))), exchange)
    },
  },
]

interface Tool {
  type?: string
  name?: string
}

interface Request {
  model?: string
  stream?: boolean
  instructions?: string
  input?: unknown
  tools?: unknown
  reasoning?: { effort?: unknown }
}

interface Item {
  type?: string
  role?: string
  content?: unknown
  output?: unknown
}

interface Part {
  text?: string
  image_url?: string
  file_data?: string
}

function readRequest({ model, stream, instructions, input, tools, reasoning }: Request): Ask {
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : listOf<Item>(input)
  const entries: Entry[] = [{ by: 'system', text: instructions ?? '' }, ...items.flatMap(entriesOf)]
  return {
    ...understand(entries, reasoning?.effort),
    model: model ?? 'scripted',
    stream: stream === true,
    tools: listOf<Tool>(tools).map((tool) => tool.name ?? ''),
  }
}

function entriesOf({ type = 'message', role, content, output }: Item, message: number): Entry[] {
  if (type.endsWith('_output')) {
    const parts = partsOf(output)
    const text = parts.map((part) => part.text ?? '').join('\n')
    return [...parts.flatMap(attachmentsIn), { by: 'tool', text }]
  }
  if (role === 'assistant' || type === 'reasoning' || type.endsWith('_call')) return [{ by: 'model' }]
  return partsOf(content).flatMap((part): Entry[] => {
    const { text } = part
    if (text === undefined) return attachmentsIn(part)
    return [role === 'user' ? { by: 'user', text, message } : { by: 'system', text }]
  })
}

function attachmentsIn(part: Part): Entry[] {
  return attachmentIn(part.image_url ?? part.file_data)
}

function partsOf(content: unknown): Part[] {
  return typeof content === 'string' ? [{ text: content }] : listOf(content)
}

function wireFor({ model, tokens }: Ask, custom: ReadonlySet<string>): Wire {
  let sequence = 0
  const response = {
    id: `resp_${shortId()}`,
    object: 'response',
    created_at: Math.floor(Date.now() / 1000),
    model,
    error: null as object | null,
    output: [] as object[],
    usage: null as object | null,
  }
  const event = (type: string, data: object) => sse({ type, sequence_number: sequence++, ...data }, type)
  const itemOf = (block: Block) => (block.kind === 'call' ? calledItem(block, custom) : spokenItem(block))
  const completed = (given: Answer) => {
    const output = given.blocks.map(itemOf)
    return { ...response, status: 'completed', output, usage: usageOf(tokens, given.tokens) }
  }

  return {
    start: () => event('response.created', { response: { ...response, status: 'in_progress' } }),
    open: (block, output_index) => {
      const { at, part, added } = placeOf(block, output_index)
      const item = { ...spokenItem(block), status: 'in_progress', ...added }
      return event('response.output_item.added', { output_index, item }) + event(`${part}.added`, at)
    },
    delta: (block, delta, index) => {
      const { at, text } = placeOf(block, index)
      return event(`${text}.delta`, { ...at, part: undefined, delta })
    },
    close: (block, output_index) => {
      const { at, part, text } = placeOf(block, output_index)
      return (
        event(`${text}.done`, { ...at, part: undefined, text: block.text }) +
        event(`${part}.done`, at) +
        event('response.output_item.done', { output_index, item: spokenItem(block) })
      )
    },
    call: (block, output_index) => {
      const item = calledItem(block, custom)
      if (item.type === 'web_search_call')
        return (
          event('response.output_item.added', { output_index, item: { ...item, status: 'in_progress' } }) +
          event('response.output_item.done', { output_index, item })
        )
      const [field, name, whole] =
        item.type === 'function_call'
          ? (['arguments', 'function_call_arguments', item.arguments] as const)
          : (['input', 'custom_tool_call_input', item.input] as const)
      const at = { item_id: item.id, output_index }
      return (
        event('response.output_item.added', {
          output_index,
          item: { ...item, status: 'in_progress', [field]: '' },
        }) +
        event(`response.${name}.delta`, { ...at, delta: whole }) +
        event(`response.${name}.done`, { ...at, [field]: whole }) +
        event('response.output_item.done', { output_index, item })
      )
    },
    finish: (given) => event('response.completed', { response: completed(given) }),
    broken: (status) => {
      const { code, type, message } = openaiError(status).error
      return event('response.failed', {
        response: { ...response, status: 'failed', error: { code: code ?? type, message } },
      })
    },
    whole: completed,
    failure: openaiError,
    headers: openaiHeaders,
  }
}

/** Where the pieces of a block belong, and how the events about them are called. */
function placeOf(block: Spoken, output_index: number) {
  const { id: item_id } = spokenItem(block)
  const { text } = block
  return block.kind === 'text'
    ? {
        at: { item_id, output_index, content_index: 0, part: { type: 'output_text', text, annotations: [] } },
        part: 'response.content_part',
        text: 'response.output_text',
        added: { content: [] },
      }
    : {
        at: { item_id, output_index, summary_index: 0, part: { type: 'summary_text', text } },
        part: 'response.reasoning_summary_part',
        text: 'response.reasoning_summary_text',
        added: { summary: [] },
      }
}

function spokenItem({ kind, id, text }: Spoken) {
  if (kind === 'thinking')
    return { id: `rs_${id}`, type: 'reasoning', summary: [{ type: 'summary_text', text }] }
  const content = [{ type: 'output_text', text, annotations: [] }]
  return { id: `msg_${id}`, type: 'message', role: 'assistant', status: 'completed', content }
}

/** A custom tool takes text as it is, which the script gives as `input`. `agents::spawn`: a tool in a namespace. */
function calledItem({ id, name: full, input }: Called, custom: ReadonlySet<string>) {
  const [name, namespace] = full.split('::').toReversed() as [string, string?]
  const about = {
    call_id: `call_${id}`,
    name,
    ...(namespace !== undefined && { namespace }),
    status: 'completed',
  }
  // It is the API itself that searches; an agent only hears of it.
  if (name === 'web_search')
    return { id: `ws_${id}`, type: 'web_search_call' as const, status: 'completed', action: input }
  const text = input['input']
  if (custom.has(name) && typeof text === 'string')
    return { id: `ctc_${id}`, type: 'custom_tool_call' as const, ...about, input: text }
  return { id: `fc_${id}`, type: 'function_call' as const, ...about, arguments: JSON.stringify(input) }
}

function usageOf(input_tokens: number, output_tokens: number) {
  return {
    input_tokens,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input_tokens + output_tokens,
  }
}
