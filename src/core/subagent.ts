/*
 * Sub-agents: what an agent runs by a call of its own. The call is all that is known of one, and what names it as its parent.
 */

const MAX_TITLE = 120

/** How agents call the tools that start another one, in small letters. */
const STARTING: ReadonlySet<string> = new Set(['task', 'agent', 'spawnagent', 'spawn_agent'])

export function startsAgent(tool: string): boolean {
  return STARTING.has(tool.toLowerCase())
}

interface NamedCall {
  tool: string
  input: unknown
}

/** A few words about what it does: the agent's own, or how its orders begin. */
export function titleOfCall({ tool, input }: NamedCall): string {
  const text = fieldOf(input, 'description') ?? fieldOf(input, 'prompt') ?? fieldOf(input, 'message') ?? tool
  const [line = ''] = text
    .trim()
    .slice(0, 4 * MAX_TITLE)
    .split('\n')
  const title = line.replaceAll(/\s+/g, ' ').trim()
  if (title === '') return tool
  return title.length > MAX_TITLE ? `${title.slice(0, MAX_TITLE - 1).toWellFormed()}…` : title
}

/** What kind it is, as far as the agent has one; else the name of the tool. */
export function kindOfAgent(tool: string | null, input: unknown): string {
  return fieldOf(input, 'subagent_type') ?? fieldOf(input, 'agent_type') ?? tool ?? 'sub-agent'
}

function fieldOf(value: unknown, name: string): string | null {
  const found = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : null
  return typeof found === 'string' && found.trim() !== '' ? found : null
}
