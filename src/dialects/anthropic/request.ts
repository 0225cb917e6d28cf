import type { Ask, Block, JsonWish, ToolChoice, ToolDefinition } from '../../relay/ask.ts'
import { effortOf } from '../../relay/reading/effort.ts'
import { RelayFailure } from '../../relay/failure.ts'
import { type Body, bodyOf, type Field } from '../../relay/reading/fields.ts'
import { stopSequencesOf } from '../../relay/reading/stops.ts'
import { joined } from '../../relay/json/structured.ts'
import { checkChoice, toolName, toolsOf } from '../../relay/reading/tools.ts'
import { MAX_BLOCKS, MAX_MESSAGES, MAX_MODEL, type Placed, turnsOf } from '../../relay/reading/turns.ts'
import { assistantBlocks, textOf, userBlocks } from './blocks.ts'

/** The body of `POST /v1/messages`. What is not looked at here passes: it is for upstreams that understand it. */
export function readAnthropic(body: unknown, named = false): Ask {
  const fields = bodyOf(body)
  return { ...prompt(fields, named), maxTokens: fields.at('max_tokens').integer(1) }
}

/** The body of `POST /v1/messages/count_tokens`: nothing is going to be written, so there is no `max_tokens`. */
export function readForCounting(body: unknown): Ask {
  return { ...prompt(bodyOf(body)), maxTokens: 1 }
}

function prompt(fields: Body, named = false): Omit<Ask, 'maxTokens'> {
  checkKnobs(fields)
  refuseThread(fields.at('thread'))
  const model = fields.at('model').filled(MAX_MODEL)
  const [first, talk] = opening(fields.at('messages').items(MAX_MESSAGES))
  const tools = toolsOf(fields.at('tools'), readTool)
  return {
    model,
    stopSequences: stopSequencesOf(fields.at('stop_sequences')),
    system: joined([
      ...(fields.at('system').maybe(textsOf) ?? []),
      ...first.flatMap((message) => textsOf(message.at('content'))),
    ]),
    messages: turnsOf(talk.map(readMessage), named),
    tools,
    toolChoice: choiceOf(fields.at('tool_choice'), tools),
    stream: fields.at('stream').flag(),
    thinking: thinkingOf(fields.at('thinking')),
    ...effortIn(fields),
    json: wishOf(fields),
    body: { shape: 'anthropic', json: fields.value },
  }
}

function checkKnobs(fields: Field): void {
  fields.at('temperature').maybe((field) => field.number(0, 1))
  fields.at('top_p').maybe((field) => field.number(0, 1))
  fields.at('top_k').maybe((field) => field.integer(0))
  fields.at('metadata').maybe((field) => field.object())
}

/** A call has all of its conversation, or a session's name. By this code SDKs know that, and send the whole of it. */
function refuseThread(thread: Field): void {
  if (!thread.given) return
  const message = 'invalid request body: `thread` is not supported: send the whole conversation'
  const details = { error_code: 'thread_unsupported_request' }
  throw new RelayFailure(400, 'invalid_request_error', message, { field: 'thread', extra: { details } })
}

function textsOf(field: Field): string[] {
  if (typeof field.value === 'string') return [field.value]
  return field.items(MAX_BLOCKS).map((block) => {
    block.at('type').oneOf('text')
    return textOf(block)
  })
}

/** Two names for the same: the API had the second one first. */
function wishOf(fields: Field): JsonWish | null {
  const format = [fields.at('output_config').at('format'), fields.at('output_format')].find(
    ({ given }) => given,
  )
  if (!format) return null
  format.at('type').oneOf('json_schema')
  return { schema: format.at('schema').object() }
}

/** What is said to the model before anybody speaks belongs to the system prompt. */
function opening(list: readonly Field[]): [first: readonly Field[], talk: readonly Field[]] {
  const spoken = list.findIndex((message) => message.at('role').value !== 'system')
  return spoken === -1 ? [list, []] : [list.slice(0, spoken), list.slice(spoken)]
}

function readMessage(message: Field): Placed {
  message.object()
  const role = message.at('role').oneOf('user', 'assistant', 'system')
  const content = message.at('content')
  const filled = blocksOf(content, role).filter(({ block }) => block.type !== 'text' || block.text !== '')
  if (filled.length === 0) throw content.wrong('must not be empty')
  return { role: role === 'assistant' ? role : 'user', path: message.path, blocks: filled }
}

function blocksOf(content: Field, role: 'user' | 'assistant' | 'system'): Placed['blocks'] {
  if (role === 'system') return [{ block: reminder(textsOf(content)), path: content.path }]
  if (typeof content.value === 'string') {
    return [{ block: { type: 'text', text: content.value }, path: content.path }]
  }
  return content.items(MAX_BLOCKS).flatMap(role === 'user' ? userBlocks : assistantBlocks)
}

/** Later it stays where it was said, so that a conversation begins today as it began yesterday. */
function reminder(texts: readonly string[]): Block {
  return { type: 'text', text: `<system-reminder>\n${texts.join('\n')}\n</system-reminder>` }
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

/** Who turns thinking off means that, however much effort the answer is worth. */
function effortIn(fields: Field): Pick<Ask, 'effort'> {
  const effort = effortOf(fields.at('output_config').at('effort'))
  const isOff = fields.at('thinking').at('type').value === 'disabled'
  return isOff ? { effort: 'off' } : effort ? { effort } : {}
}

/** Also when the model thinks, what it thinks may be unwanted. */
function thinkingOf(thinking: Field): boolean {
  if (!thinking.given) return false
  thinking.object()
  const type = thinking.at('type').oneOf('enabled', 'disabled', 'adaptive', 'between_tools')
  if (type === 'enabled') thinking.at('budget_tokens').integer(1)
  return type !== 'disabled' && thinking.at('display').value !== 'omitted'
}
