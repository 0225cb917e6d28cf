import type { Holder, KeptConversation, Past } from '../core/adoption.ts'
import type { Processes } from './processes.ts'

/** A conversation in an agent's own store. */
export type Kept = Omit<KeptConversation, 'agent'>

/** What is looked for in a store. */
export interface Look {
  limit: number
  /** Only those of this directory, which has no links in it. */
  cwd?: string
  /** These are passed over. */
  skip(id: string): boolean
}

export interface Listing {
  /** The last used first. */
  found: Kept[]
  skipped: number
  truncated: boolean
}

/** Reads the conversations that an agent keeps for itself, and writes nothing. */
export interface ConversationStore {
  /** Where it looks. */
  place(env: NodeJS.ProcessEnv): string
  list(env: NodeJS.ProcessEnv, look: Look): Promise<Listing>
  find(env: NodeJS.ProcessEnv, id: string): Promise<Kept | null>
  past(env: NodeJS.ProcessEnv, id: string): Promise<Past>
  /** Looks once at what is open, for as many conversations as are asked about. */
  holders(env: NodeJS.ProcessEnv, processes: Processes): Promise<HolderOf>
}

/** Who has it open; null: nobody, as far as can be seen. */
export type HolderOf = (kept: Kept) => Promise<Holder | null>

export const NOTHING: Listing = { found: [], skipped: 0, truncated: false }
