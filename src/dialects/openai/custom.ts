import type { Ask, JsonObject, ToolDefinition } from '../../relay/ask.ts'
import type { Field } from '../../relay/reading/fields.ts'
import { toolName } from '../../relay/reading/tools.ts'

/*
 * OpenAI's custom tools take a text and not an object. To whoever answers they are tools with one field, `input`; only
 * their caller sees the difference.
 */

export function readCustomTool(tool: Field): ToolDefinition {
  const described = tool.at('custom')
  described.object()
  const description = described.at('description').maybe((field) => field.text()) ?? ''
  const input = {
    type: 'string',
    description: `The whole input, as text.${grammarOf(described.at('format'))}`,
  }
  return {
    name: toolName(described.at('name')),
    description,
    inputSchema: { type: 'object', properties: { input }, required: ['input'], additionalProperties: false },
    custom: true,
  }
}

/** A grammar cannot be enforced, only told. */
function grammarOf(format: Field): string {
  if (!format.given || format.at('type').oneOf('text', 'grammar') === 'text') return ''
  const grammar = format.at('grammar')
  const syntax = grammar.at('syntax').oneOf('lark', 'regex')
  return ` It must follow this ${syntax} grammar:\n${grammar.at('definition').text()}`
}

/** The names of the custom tools of a call, also of those that its session remembers. */
export function customTools({ tools }: Pick<Ask, 'tools'>): ReadonlySet<string> {
  return new Set(tools.filter(({ custom }) => custom).map(({ name }) => name))
}

export function customInput(text: string): JsonObject {
  return { input: text }
}

/** The text that a call of a custom tool has; a model that did not keep to the one field has written something all the same. */
export function customText(input: JsonObject): string {
  return typeof input['input'] === 'string' ? input['input'] : JSON.stringify(input)
}
