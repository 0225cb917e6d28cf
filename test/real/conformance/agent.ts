import type { AgentDriver } from '../../../src/agents/agent.ts'
import type { ToolClass } from '../../../src/core/about.ts'
import type { AgentHome } from '../../support/agent-home.ts'
import type { SeenRequest } from '../../support/model/server.ts'

/** A real agent, and the little in which it differs from the others. */
export interface RealAgent {
  driver: AgentDriver
  /** Why it cannot be tested here, if so. */
  absent: string | false
  /** A home of its own, and a scripted model. */
  home(): Promise<AgentHome>
  /** Two models that it can be set to. */
  models: [string, string]
  /** How a request of a turn names its model; null for requests that are about something else. */
  usedModel(request: SeenRequest): string | null
  /** The status that it tells of a failure of the model; null where it tells only the words. */
  failures: Record<Failing, Failing | null>
  /** Notices about the machine that it may give whenever it starts. */
  mayNotice: string[]
  /** The tool that the model calls for a command. */
  shell(command: string): [tool: string, input: object]
  /** A tool that makes two files at once, where it has one. */
  patchTwo?: (one: string, other: string) => [tool: string, input: object]
  /** Calls of each class, and whether it asks about them. `near` is a file of the session's, `far` is not. */
  asks(near: string, far: string): [about: ToolClass, asked: boolean, tool: string, input: object][]
  /** What it has for MCP servers. */
  mcp: {
    /** Tells it of a server, as a user would. */
    add(at: AgentHome, name: string, server: { command: string; args: string[] }): void
    /** What the model calls a tool of a server, and what the question about it does. */
    names(server: string, tool: string): { called: string; asked: string }
    /** How the model reads a resource. */
    reads(server: string, uri: string): [tool: string, input: object]
    /** It does not ask about a tool of which the server says that it only looks. */
    believes: boolean
  }
  /** What a question about a command, and one about an edit, calls it. */
  tools: { command: string; edit: RegExp }
  /** When it hears a message in the middle of a turn. */
  steers: 'never' | 'at once' | 'between rounds'
  /** A call that was refused ends its turn; else the model hears of it and goes on. */
  denialEndsTurn: boolean
}

export const FAILING = [401, 429, 500, 529] as const
export type Failing = (typeof FAILING)[number]
