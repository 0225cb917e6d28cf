import type { Ask, ToolChoice, ToolDefinition } from '../ask.ts'
import { type Body, bodyOf, type Field } from '../fields.ts'
import { stopSequencesOf } from '../stops.ts'
import { joined, jsonWish } from '../structured.ts'
import { checkChoice, toolName, toolsOf } from '../tools.ts'
import { MAX_BLOCKS, MAX_MESSAGES, type Placed, turnsOf } from '../turns.ts'
import { assistantBlocks, textOf, userBlocks } from './blocks.ts'

/** The body of `POST /v1/messages`. What is not looked at here passes: it is for upstreams that understand it. */
export function readAnthropic(body: unknown): Ask {
  const fields = bodyOf(body)
  return { ...prompt(fields), maxTokens: fields.at('max_tokens').integer(1) }
}

/** The body of `POST /v1/messages/count_tokens`: nothing is going to be written, so there is no `max_tokens`. */
export function readForCounting(body: unknown): Ask {
  return { ...prompt(bodyOf(body)), maxTokens: 1 }
}

function prompt(fields: Body): Omit<Ask, 'maxTokens'> {
  checkKnobs(fields)
  const model = fields.at('model').filled()
  const list = fields.at('messages').items(MAX_MESSAGES)
  const tools = toolsOf(fields.at('tools'), readTool)
  return {
    model,
    stopSequences: stopSequencesOf(fields.at('stop_sequences')),
    system: joined([
      ...(fields.at('system').maybe(textsOf) ?? []),
      ...list.filter(isSystem).flatMap((message) => textsOf(message.at('content'))),
      ...wishesOf(fields.at('output_config').at('format')),
    ]),
    messages: turnsOf(list.filter((message) => !isSystem(message)).map(readMessage)),
    tools,
    toolChoice: choiceOf(fields.at('tool_choice'), tools),
    stream: fields.at('stream').flag(),
    thinking: thinkingOf(fields.at('thinking')),
    body: { shape: 'anthropic', json: fields.value },
  }
}

function checkKnobs(fields: Field): void {
  fields.at('temperature').maybe((field) => field.number(0, 1))
  fields.at('top_p').maybe((field) => field.number(0, 1))
  fields.at('top_k').maybe((field) => field.integer(0))
  fields.at('metadata').maybe((field) => field.object())
}

function textsOf(field: Field): string[] {
  if (typeof field.value === 'string') return [field.value]
  return field.items(MAX_BLOCKS).map((block) => {
    block.at('type').oneOf('text')
    return textOf(block)
  })
}

function wishesOf(format: Field): string[] {
  if (!format.given) return []
  format.at('type').oneOf('json_schema')
  return [jsonWish(format.at('schema').object())]
}

/** Said in the middle of a conversation, but to the model like the system prompt: that is where it goes. */
function isSystem(message: Field): boolean {
  return message.at('role').value === 'system'
}

function readMessage(message: Field): Placed {
  message.object()
  const role = message.at('role').oneOf('user', 'assistant')
  const content = message.at('content')
  const blocks =
    typeof content.value === 'string'
      ? [{ block: { type: 'text' as const, text: content.value }, path: content.path }]
      : content.items(MAX_BLOCKS).flatMap(role === 'user' ? userBlocks : assistantBlocks)
  const filled = blocks.filter(({ block }) => block.type !== 'text' || block.text !== '')
  if (filled.length === 0) throw content.wrong('must not be empty')
  return { role, path: message.path, blocks: filled }
}

function readTool(tool: Field): ToolDefinition {
  tool.object()
  const type = tool.at('type')
  if (type.given && type.text() !== 'custom') {
    throw type.wrong('must be `custom`: tools of a provider are not offered here')
  }
  const name = toolName(tool.at('name'))
  const schema = tool.at('input_schema')
  const inputSchema = schema.object()
  schema.at('type').oneOf('object')
  return { name, description: tool.at('description').maybe((field) => field.text()) ?? '', inputSchema }
}

function choiceOf(choice: Field, tools: readonly ToolDefinition[]): ToolChoice {
  if (!choice.given) return { type: 'auto' }
  choice.object()
  const type = choice.at('type').oneOf('auto', 'any', 'none', 'tool')
  return checkChoice(choice, type === 'tool' ? { type, name: choice.at('name').text() } : { type }, tools)
}

/** Also when the model thinks, what it thinks may be unwanted. */
function thinkingOf(thinking: Field): boolean {
  if (!thinking.given) return false
  thinking.object()
  const type = thinking.at('type').oneOf('enabled', 'disabled', 'adaptive', 'between_tools')
  if (type === 'enabled') thinking.at('budget_tokens').integer(1)
  return type !== 'disabled' && thinking.at('display').value !== 'omitted'
}
