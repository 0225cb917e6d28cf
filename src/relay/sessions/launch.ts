import type { ClientTool } from '../../core/call.ts'
import type { CreateSession } from '../../core/command.ts'
import type { Effort } from '../../core/effort.ts'
import type { Mode } from '../../core/mode.ts'
import type { Ask, ToolDefinition } from '../ask.ts'
import { RelayFailure } from '../failure.ts'
import { joined, systemOf } from '../json/structured.ts'
import type { AgentAbilities } from '../ports.ts'

/** How the relay's settings want its sessions to be. */
export interface SessionSetup extends AgentAbilities {
  agent: string
  cwd: string
  /** False: the agent has no tools but the caller's. */
  ownTools: boolean
  mode: Mode
}

export const ORIGIN = 'relay'

/** Without a prompt of its own an agent would take itself for a coding assistant in a directory. */
const PLAIN = 'You are a helpful assistant that answers through an API.'

/** The tools that the agent gets to see. */
export function offered({ tools, toolChoice }: Ask): ToolDefinition[] {
  return toolChoice.type === 'none' ? [] : tools
}

export function sessionFor(ask: Ask, setup: SessionSetup, stickyId: string | null): CreateSession {
  const { agent, cwd, ownTools, takesTools, canBeBare } = setup
  const tools = offered(ask)
  if (tools.length > 0 && !takesTools) {
    throw new RelayFailure(
      400,
      'invalid_request_error',
      `${agent} cannot call tools that its caller carries out`,
      { field: 'tools', verdict: 'elsewhere' },
    )
  }
  return {
    agent,
    cwd,
    // What cannot be taken from it is at least not let loose.
    mode: canBeBare || ownTools ? setup.mode : 'plan',
    model: modelFor(agent, ask.model),
    effort: effortFor(ask, setup),
    title: stickyId === null ? 'relay' : `relay: ${stickyId}`,
    origin: ORIGIN,
    settings: {
      systemPrompt: joined([systemOf({ ...ask, system: ask.system ?? PLAIN })!, urging(ask)])!,
      ...(takesTools && { clientTools: tools.map(clientTool) }),
      ...(canBeBare && { ownTools }),
      // A caller of an API cannot be asked anything.
      questions: false,
    },
  }
}

function clientTool({ name, description, inputSchema }: ToolDefinition): ClientTool {
  return { name, description, inputSchema }
}

/** An agent cannot be forced to call a tool, only told to. */
function urging({ tools, toolChoice }: Ask): string {
  if (toolChoice.type === 'tool') return `Answer by calling the tool ${toolChoice.name}.`
  return toolChoice.type === 'any' && tools.length > 0 ? 'Answer by calling one of your tools.' : ''
}

/** Who cannot be told thinks as it likes. */
export function effortFor({ effort }: Ask, { takesEffort }: SessionSetup): Effort | null {
  return (takesEffort && effort) || null
}

const FAMILIES: Readonly<Record<string, RegExp>> = {
  claude: /claude|opus|sonnet|haiku|fable/,
  codex: /^(gpt|o\d|codex)/,
  gemini: /^gemini/,
}

/** A name that means nothing to the agent is the caller's habit: its own default answers then. */
export function modelFor(agent: string, model: string): string | null {
  const family = FAMILIES[agent]
  return family && !family.test(model) ? null : model
}
