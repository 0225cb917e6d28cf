export type Risk = 'low' | 'medium' | 'high'

const HIGH = ['bash', 'shell', 'exec', 'run', 'delete', 'remove', 'kill', 'command', 'terminal']
const MEDIUM = ['write', 'edit', 'create', 'patch', 'move', 'rename', 'update', 'notebook']

/** How much a tool can break, going by its name. */
export function riskOf(tool: string): Risk {
  const name = tool.toLowerCase()
  if (HIGH.some((word) => name.includes(word))) return 'high'
  return MEDIUM.some((word) => name.includes(word)) ? 'medium' : 'low'
}
