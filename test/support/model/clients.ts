/** A conversation to send, in no API's form. */
export type Turn =
  | { by: 'user'; text: string; image?: Buffer }
  | { by: 'model'; text: string }
  | { by: 'call'; name: string }
  | { by: 'tool'; text: string }

export interface Asked {
  turns: Turn[]
  system?: string
  tools?: string[]
  stream?: boolean
}

/** What an API answered, in no API's form. */
export interface Given {
  text: string
  thinking: string
  pieces: string[]
  calls: { name: string; input: unknown }[]
  stop: string | undefined
  tokens: number | undefined
}

/** How a client of an API asks and listens. Frames are the data of server-sent events. */
export interface Client {
  name: string
  path(stream: boolean): string
  request(asked: Asked): object
  whole(body: unknown): Given
  streamed(frames: unknown[]): Given
}

const dataUrl = (image: Buffer) => `data:image/png;base64,${image.toString('base64')}`
const parsed = (text: string): unknown => JSON.parse(text)

interface ChatMessage {
  content?: string | null
  reasoning_content?: string | null
  tool_calls?: { index?: number; function: { name?: string; arguments: string } }[]
}

interface Chat {
  choices: { message?: ChatMessage; delta?: ChatMessage; finish_reason: string | null }[]
  usage?: { completion_tokens: number }
}

export const completions: Client = {
  name: 'chat completions',
  path: () => '/v1/chat/completions',
  request: ({ turns, system, tools, stream = false }) => ({
    model: 'm',
    stream,
    stream_options: { include_usage: true },
    messages: [...(system ? [{ role: 'system', content: system }] : []), ...turns.map(chatMessage)],
    ...(tools && { tools: tools.map((name) => ({ type: 'function', function: { name } })) }),
  }),
  whole: (body) => {
    const { choices, usage } = body as Chat
    const { message = {}, finish_reason } = choices[0]!
    const calls = (message.tool_calls ?? []).map((call) => call.function)
    return {
      text: message.content ?? '',
      thinking: message.reasoning_content ?? '',
      pieces: [],
      calls: calls.map((call) => ({ name: call.name ?? '', input: parsed(call.arguments) })),
      stop: finish_reason ?? undefined,
      tokens: usage?.completion_tokens,
    }
  },
  streamed: (frames) => {
    const chunks = frames as Chat[]
    const choices = chunks.flatMap((chunk) => chunk.choices ?? [])
    const deltas = choices.map((choice) => choice.delta ?? {})
    const pieces = deltas.flatMap((delta) => delta.content || [])
    const calls: { name: string; json: string }[] = []
    for (const call of deltas.flatMap((delta) => delta.tool_calls ?? [])) {
      const at = (calls[call.index ?? 0] ??= { name: call.function.name ?? '', json: '' })
      at.json += call.function.arguments
    }
    return {
      text: pieces.join(''),
      thinking: deltas.map((delta) => delta.reasoning_content ?? '').join(''),
      pieces,
      calls: calls.map(({ name, json }) => ({ name, input: parsed(json) })),
      stop: choices.at(-1)?.finish_reason ?? undefined,
      tokens: chunks.at(-1)?.usage?.completion_tokens,
    }
  },
}

function chatMessage(turn: Turn): object {
  switch (turn.by) {
    case 'user': {
      const image = turn.image && { type: 'image_url', image_url: { url: dataUrl(turn.image) } }
      return { role: 'user', content: [{ type: 'text', text: turn.text }, ...(image ? [image] : [])] }
    }
    case 'model':
      return { role: 'assistant', content: turn.text }
    case 'call': {
      const called = { id: 'call_1', type: 'function', function: { name: turn.name, arguments: '{}' } }
      return { role: 'assistant', content: null, tool_calls: [called] }
    }
    case 'tool':
      return { role: 'tool', tool_call_id: 'call_1', content: turn.text }
  }
}

interface Item {
  call_id?: string
  name?: string
  arguments?: string
  input?: string
  content?: { text: string }[]
  summary?: { text: string }[]
}

interface Response {
  status?: string
  output?: Item[]
  usage?: { output_tokens: number } | null
}

interface ResponseEvent {
  type: string
  delta?: string
  item?: Item
  response?: Response
}

export const responses: Client = {
  name: 'responses',
  path: () => '/v1/responses',
  request: ({ turns, system, tools, stream = false }) => ({
    model: 'm',
    stream,
    ...(system && { instructions: system }),
    input: turns.map(responsesItem),
    ...(tools && {
      tools: tools.map((name) => ({ type: name === 'apply_patch' ? 'custom' : 'function', name })),
    }),
  }),
  whole: (body) => responseGiven(body as Response, []),
  streamed: (frames) => {
    const events = frames as ResponseEvent[]
    const of = (type: string) => events.filter((event) => event.type === `response.${type}`)
    const output = of('output_item.done').flatMap((event) => event.item ?? [])
    const pieces = of('output_text.delta').map((event) => event.delta ?? '')
    return responseGiven({ ...events.at(-1)?.response, output }, pieces)
  },
}

function responseGiven({ output = [], status, usage }: Response, pieces: string[]): Given {
  const calls = output.filter((item) => item.call_id !== undefined)
  const texts = (parts: ({ text: string }[] | undefined)[]) =>
    parts.flatMap((list) => (list ?? []).map((part) => part.text)).join('')
  return {
    text: texts(output.map((item) => item.content)),
    thinking: texts(output.map((item) => item.summary)),
    pieces,
    calls: calls.map(({ name = '', arguments: json, input }) => {
      return { name, input: json === undefined ? input : parsed(json) }
    }),
    stop: status,
    tokens: usage?.output_tokens,
  }
}

function responsesItem(turn: Turn): object {
  switch (turn.by) {
    case 'user': {
      const image = turn.image && { type: 'input_image', image_url: dataUrl(turn.image) }
      const content = [{ type: 'input_text', text: turn.text }, ...(image ? [image] : [])]
      return { type: 'message', role: 'user', content }
    }
    case 'model':
      return { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: turn.text }] }
    case 'call':
      return { type: 'function_call', call_id: 'call_1', name: turn.name, arguments: '{}' }
    case 'tool':
      return { type: 'function_call_output', call_id: 'call_1', output: turn.text }
  }
}

interface Content {
  candidates?: {
    content: { parts: { text?: string; thought?: boolean; functionCall?: { name: string; args: unknown } }[] }
    finishReason?: string
  }[]
  usageMetadata?: { candidatesTokenCount: number }
}

export const gemini: Client = {
  name: 'Gemini',
  path: (stream) => `/v1beta/models/m:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  request: ({ turns, system, tools }) => ({
    contents: turns.map(geminiContent),
    ...(system && { systemInstruction: { parts: [{ text: system }] } }),
    ...(tools && { tools: [{ functionDeclarations: tools.map((name) => ({ name })) }] }),
  }),
  whole: (body) => gemini.streamed([body]),
  streamed: (frames) => {
    const contents = frames as Content[]
    const parts = contents.flatMap((one) => one.candidates?.[0]?.content.parts ?? [])
    const texts = (thought: boolean) =>
      parts.flatMap((part) => (Boolean(part.thought) === thought && part.text) || [])
    return {
      text: texts(false).join(''),
      thinking: texts(true).join(''),
      pieces: texts(false),
      calls: parts
        .flatMap((part) => part.functionCall ?? [])
        .map(({ name, args }) => ({ name, input: args })),
      stop: contents.at(-1)?.candidates?.[0]?.finishReason,
      tokens: contents.at(-1)?.usageMetadata?.candidatesTokenCount,
    }
  },
}

function geminiContent(turn: Turn): object {
  switch (turn.by) {
    case 'user': {
      const data = turn.image?.toString('base64')
      const image = data === undefined ? [] : [{ inlineData: { mimeType: 'image/png', data } }]
      return { role: 'user', parts: [{ text: turn.text }, ...image] }
    }
    case 'model':
      return { role: 'model', parts: [{ text: turn.text }] }
    case 'call':
      return { role: 'model', parts: [{ functionCall: { name: turn.name, args: {} } }] }
    case 'tool':
      return { role: 'user', parts: [{ functionResponse: { name: 'any', response: { output: turn.text } } }] }
  }
}
