/*
 * Conversations that began without Corral: agents keep them in stores of their own, which are read and never written.
 */

/** A conversation in the store of an agent. */
export interface KeptConversation {
  agent: string
  /** The agent's own; it resumes the conversation by it. */
  id: string
  cwd: string
  /** What the agent calls it, or a person did there. */
  title: string | null
  /** The beginning of the first message, one line. */
  opening: string | null
  updatedAt: number
}

/** A process of the agent that has a conversation open. */
export interface Holder {
  pid: number
  /** False: it works in the same directory, and does not say which conversation it has open. */
  certain: boolean
  /** The command that ends it, for one that goes on when its user has left; null: whoever uses it can end it. */
  endedBy: string | null
}

/** Why it cannot be adopted now, and what to do. `force` is how one says that it can all the same; empty: that is said elsewhere. */
export function heldWords(
  title: string,
  { pid, certain, endedBy }: Holder,
  cwd: string,
  force: string,
): string {
  if (!certain) {
    return `${title} runs in ${cwd} (pid ${pid}) and may have this conversation open; end it first${force && `, or use ${force} if it has another one open`}`
  }
  return endedBy === null
    ? `${title} has this conversation open (pid ${pid}); end it there, then adopt the conversation`
    : `${title} keeps this conversation open in the background (pid ${pid}); \`${endedBy}\` ends that, and all that runs there`
}

export interface FoundConversation extends KeptConversation {
  holder: Holder | null
}

export interface PastMessage {
  by: 'user' | 'agent'
  text: string
  /** Null: the agent has not written it down. */
  at: number | null
}

/** What was said in a conversation, in its order. */
export interface Past {
  messages: PastMessage[]
  /** There is more, before these. */
  isCut: boolean
}

export interface StoreQuery {
  /** All of them, if not given. */
  agent?: string
  /** Only those of this directory. */
  cwd?: string
  limit: number
  /** These are passed over, and not counted. */
  skip: (agent: string, id: string) => boolean
}

export interface StoreAnswer {
  /** The last used first. */
  conversations: FoundConversation[]
  /** How many were passed over. */
  skipped: number
  /** There are more than these. */
  truncated: boolean
  /** Where it was looked. `problem`: why that could not be read. */
  places: { agent: string; path: string; problem: string | null }[]
}

/** The stores of all agents that have one. */
export interface AgentStores {
  list(query: StoreQuery): Promise<StoreAnswer>
  find(agent: string, id: string): Promise<FoundConversation | null>
  /** What was said in it, from its end, within bounds. */
  past(agent: string, id: string): Promise<Past>
}
