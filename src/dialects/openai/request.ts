import type { Ask, JsonObject, JsonWish, ToolChoice, ToolDefinition } from '../../relay/ask.ts'
import { effortOf } from '../../relay/reading/effort.ts'
import { bodyOf, type Field, isObject } from '../../relay/reading/fields.ts'
import { stopSequencesOf } from '../../relay/reading/stops.ts'
import { joined } from '../../relay/json/structured.ts'
import { checkChoice, MAX_TOOLS, toolName, toolsOf } from '../../relay/reading/tools.ts'
import { MAX_MESSAGES, MAX_MODEL, turnsOf } from '../../relay/reading/turns.ts'
import { readCustomTool } from './custom.ts'
import { placedOf, textsOf } from './messages.ts'

/** As much as the models behind both APIs write at once; programs of this shape seldom say. */
const DEFAULT_MAX_TOKENS = 32_000

/** Asked for and not given, these would change what a program gets; the rest passes. */
const UNSUPPORTED = ['functions', 'function_call', 'audio', 'top_logprobs'] as const

/** The body of `POST /v1/chat/completions`. */
export function readOpenAi(body: unknown, named = false): Ask {
  const fields = bodyOf(body)
  refuseUnsupported(fields)
  const model = fields.at('model').filled(MAX_MODEL)
  const list = fields.at('messages').items(MAX_MESSAGES)
  const choice = fields.at('tool_choice')
  const tools = allowed(choice, toolsOf(fields.at('tools'), readTool))
  return {
    model,
    maxTokens: maxTokensOf(fields),
    stopSequences: stopsOf(fields.at('stop')),
    system: joined(list.filter(isSystem).flatMap((message) => textsOf(message.at('content')))),
    messages: turnsOf(list.filter((message) => !isSystem(message)).map(placedOf), named),
    tools,
    toolChoice: choiceOf(choice, tools),
    stream: fields.at('stream').flag(),
    // This shape has no place for it.
    thinking: false,
    ...effortIn(fields),
    json: wishOf(fields.at('response_format')),
    body: { shape: 'openai', json: fields.value },
  }
}

/** Whether the stream ends with a chunk about usage. */
export function wantsUsage({ body }: Pick<Ask, 'body'>): boolean {
  const options = body.json['stream_options']
  return isObject(options) && options['include_usage'] === true
}

function refuseUnsupported(fields: Field): void {
  for (const name of UNSUPPORTED) {
    const field = fields.at(name)
    if (field.given) throw field.wrong('is not supported')
  }
  const n = fields.at('n')
  if ((n.maybe((field) => field.integer(1)) ?? 1) > 1)
    throw n.wrong('must be 1: there is one answer to a request')
  const logprobs = fields.at('logprobs')
  if (logprobs.flag()) throw logprobs.wrong('is not supported')
  fields.at('modalities').maybe((list) => list.items(10).map((modality) => modality.oneOf('text')))
  fields.at('temperature').maybe((field) => field.number(0, 2))
  fields.at('top_p').maybe((field) => field.number(0, 1))
  fields.at('stream_options').maybe((field) => field.object())
}

function isSystem(message: Field): boolean {
  const role = message.at('role').value
  return role === 'system' || role === 'developer'
}

/** Of the two places that programs write it to, the one of this API comes first. */
function effortIn(fields: Field): Pick<Ask, 'effort'> {
  const nested = effortOf(fields.at('reasoning').at('effort'))
  const effort = effortOf(fields.at('reasoning_effort')) ?? nested
  return effort ? { effort } : {}
}

function maxTokensOf(fields: Field): number {
  const given = [fields.at('max_completion_tokens'), fields.at('max_tokens')].find((field) => field.given)
  return given?.integer(1) ?? DEFAULT_MAX_TOKENS
}

function stopsOf(stop: Field): string[] {
  return typeof stop.value === 'string' ? [stop.filled()] : stopSequencesOf(stop)
}

function wishOf(format: Field): JsonWish | null {
  if (!format.given) return null
  format.object()
  switch (format.at('type').oneOf('text', 'json_object', 'json_schema')) {
    case 'text':
      return null
    case 'json_object':
      return { schema: null }
    case 'json_schema': {
      const described = format.at('json_schema')
      described.object()
      return { schema: described.at('schema').maybe((schema) => schema.object()) ?? null }
    }
  }
}

function readTool(tool: Field): ToolDefinition {
  tool.object()
  if (tool.at('type').oneOf('function', 'custom') === 'custom') return readCustomTool(tool)
  const described = tool.at('function')
  described.object()
  return {
    name: toolName(described.at('name')),
    description: described.at('description').maybe((field) => field.text()) ?? '',
    inputSchema: schemaOf(described.at('parameters')),
  }
}

/** A function without parameters takes none. */
function schemaOf(parameters: Field): JsonObject {
  if (!parameters.given) return { type: 'object', properties: {} }
  const schema = parameters.object()
  const type = parameters.at('type')
  if (!type.given) return { ...schema, type: 'object' }
  type.oneOf('object')
  return schema
}

const CHOICES = { auto: 'auto', none: 'none', required: 'any' } as const

function choiceOf(choice: Field, tools: readonly ToolDefinition[]): ToolChoice {
  if (!choice.given) return { type: 'auto' }
  if (typeof choice.value === 'string') {
    const type = CHOICES[choice.oneOf('auto', 'none', 'required')]
    return checkChoice(choice, { type }, tools)
  }
  choice.object()
  const type = choice.at('type').oneOf('function', 'custom', 'allowed_tools')
  if (type !== 'allowed_tools') return checkChoice(choice, { type: 'tool', name: namedIn(choice) }, tools)
  const mode = choice.at('allowed_tools').at('mode').oneOf('auto', 'required')
  return checkChoice(choice, { type: CHOICES[mode] }, tools)
}

function namedIn(tool: Field): string {
  return tool.at(tool.at('type').oneOf('function', 'custom')).at('name').text()
}

/** A choice may leave only some of the tools. */
function allowed(choice: Field, tools: ToolDefinition[]): ToolDefinition[] {
  if (choice.at('type').value !== 'allowed_tools') return tools
  const names = choice.at('allowed_tools').at('tools').items(MAX_TOOLS).map(namedIn)
  return tools.filter(({ name }) => names.includes(name))
}
