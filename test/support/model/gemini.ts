import { type Answer, answer, type Block, type Wire } from './answer.ts'
import { type Route, sendJson, shortId, sse } from './api.ts'
import { type Ask, attachmentOf, type Entry, listOf, understand } from './conversation.ts'

/** The Gemini API, as gemini speaks it. */
export const gemini: Route[] = [
  {
    method: 'POST',
    path: /^\/v1beta\/models\/[^/]+:(?:streamGenerateContent|generateContent)$/,
    answer: (exchange) => {
      const ask = readRequest(exchange.path, exchange.body)
      return answer(ask, wireFor(ask), exchange)
    },
  },
  {
    method: 'POST',
    path: /^\/v1beta\/models\/[^/]+:countTokens$/,
    answer: ({ path, body, response }) => {
      sendJson(response, 200, { totalTokens: readRequest(path, body).tokens })
    },
  },
]

interface Part {
  text?: string
  inlineData?: { mimeType?: string; data?: string }
  functionResponse?: { response?: { output?: unknown; error?: unknown }; parts?: unknown }
}

function readRequest(path: string, body: unknown): Ask {
  const request = (body ?? {}) as Record<string, unknown>
  const [, model, method] = /([^/:]+):(\w+)$/.exec(path) ?? []
  const contents = listOf<{ role?: string; parts?: unknown }>(request['contents'])
  const offered = listOf<{ functionDeclarations?: { name?: string }[] }>(request['tools'])
  const entries = [
    ...systemEntries(request['systemInstruction']),
    ...contents.flatMap(({ role, parts }): Entry[] =>
      role === 'model' ? [{ by: 'model' }] : listOf<Part>(parts).flatMap(entriesOf),
    ),
  ]
  return {
    ...understand(entries),
    model: model ?? 'scripted',
    stream: method === 'streamGenerateContent',
    tools: offered.flatMap((tool) => (tool.functionDeclarations ?? []).map((one) => one.name ?? '')),
  }
}

function systemEntries(instruction: unknown): Entry[] {
  const parts = listOf<Part>((instruction as { parts?: unknown } | undefined)?.parts)
  return parts.map((part) => ({ by: 'system', text: part.text ?? '' }))
}

function entriesOf(part: Part): Entry[] {
  const { inlineData, functionResponse } = part
  if (inlineData) return [attachmentOf(inlineData.mimeType ?? 'unknown', inlineData.data ?? '')]
  if (!functionResponse) return part.text === undefined ? [] : [{ by: 'user', text: part.text }]
  const { output, error } = functionResponse.response ?? {}
  const said = output ?? error ?? functionResponse.response ?? ''
  const text = typeof said === 'string' ? said : JSON.stringify(said)
  return [...listOf<Part>(functionResponse.parts).flatMap(entriesOf), { by: 'tool', text }]
}

function wireFor({ model, tokens }: Ask): Wire {
  const about = { modelVersion: model, responseId: shortId() }
  const candidate = (parts: object[], rest: object = {}) => {
    return { candidates: [{ content: { role: 'model', parts }, index: 0, ...rest }], ...about }
  }
  const ended = (given: Answer, parts: object[]) => {
    const usageMetadata = {
      promptTokenCount: tokens,
      candidatesTokenCount: given.tokens,
      totalTokenCount: tokens + given.tokens,
    }
    return { ...candidate(parts, { finishReason: 'STOP' }), usageMetadata }
  }

  return {
    start: () => '',
    open: () => '',
    // Every thought part is a thought of its own, so a thought is told when it is complete.
    delta: (block, text) => (block.kind === 'text' ? sse(candidate([{ text }])) : ''),
    close: (block) => (block.kind === 'text' ? '' : sse(candidate([partOf(block)]))),
    call: (block) => sse(candidate([partOf(block)])),
    finish: (given) => sse(ended(given, [{ text: '' }])),
    broken: (status) => sse(failure(status)),
    whole: (given) => ended(given, given.blocks.map(partOf)),
    failure,
    headers: () => ({}),
  }
}

function partOf(block: Block) {
  if (block.kind === 'call') return { functionCall: { id: block.id, name: block.name, args: block.input } }
  return { text: block.text, ...(block.kind === 'thinking' && { thought: true }) }
}

const STATUSES: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}

function failure(code: number) {
  return { error: { code, message: `scripted ${code}`, status: STATUSES[code] ?? 'UNKNOWN' } }
}
