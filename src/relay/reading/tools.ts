import type { ToolChoice, ToolDefinition } from '../ask.ts'
import type { Field } from './fields.ts'

export const MAX_TOOLS = 1_000
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/

export function toolName(field: Field): string {
  const name = field.text()
  if (!TOOL_NAME.test(name)) throw field.wrong('must be 1 to 128 letters, digits, `_` or `-`')
  return name
}

/** Reads each tool with `read`; two of one name could not be told apart. */
export function toolsOf(list: Field, read: (tool: Field) => ToolDefinition): ToolDefinition[] {
  if (!list.given) return []
  const names = new Set<string>()
  return list.items(MAX_TOOLS).map((field) => {
    const tool = read(field)
    if (names.has(tool.name)) throw field.wrong(`has the name of another tool: \`${tool.name}\``)
    names.add(tool.name)
    return tool
  })
}

/** A choice that the tools allow. */
export function checkChoice(field: Field, choice: ToolChoice, tools: readonly ToolDefinition[]): ToolChoice {
  if (choice.type === 'tool' && !tools.some(({ name }) => name === choice.name)) {
    throw field.wrong(`names a tool that is not in \`tools\`: \`${choice.name.slice(0, 128)}\``)
  }
  if (choice.type === 'any' && tools.length === 0)
    throw field.wrong('wants a tool, and there is none in `tools`')
  return choice
}
