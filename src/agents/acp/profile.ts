import type { Unasked } from '../../core/about.ts'
import type { Mode } from '../../core/mode.ts'
import type { Capabilities } from '../../core/capabilities.ts'
import type { Session } from '../../core/session.ts'
import type { Detection, LaunchPlan } from '../agent.ts'
import type { JsonObject } from '../json.ts'
import type { SignedIn } from '../signed-in.ts'
import type { ConversationStore } from '../store.ts'
import type { EffortOption } from './effort.ts'

/** An answer in this protocol is one of the options that the agent offers, and a turn is over before the next begins. */
export const WORDLESS = {
  steer: false,
  editInput: false,
  denyComment: false,
} as const satisfies Partial<Capabilities>

/** What is different from one agent of the Agent Client Protocol to the next. */
export interface AcpProfile {
  readonly name: string
  readonly title: string
  /** Without what the protocol itself has no word for. */
  readonly capabilities: Omit<Capabilities, keyof typeof WORDLESS>
  readonly unasked: Unasked
  detect(env: NodeJS.ProcessEnv): Promise<Detection>
  launch(session: Session, ids: () => string): Pick<LaunchPlan, 'args' | 'env' | 'ownTmp'>
  /** As the driver's: in this environment it keeps no conversations. */
  readonly unrecorded?: Readonly<Record<string, string>>
  /** As the driver's: reads the conversations that it keeps for itself. */
  conversations?(): Promise<ConversationStore>
  /** As the driver's: before its process starts. */
  prepare?(session: Session, env: NodeJS.ProcessEnv): Promise<Pick<LaunchPlan, 'files'>>
  /** The session's conversation has been opened. */
  opened?(session: Session, env: NodeJS.ProcessEnv): Promise<void>
  /** The agent's modes that will do for each of ours, the best one first. */
  readonly modes: Readonly<Record<Mode, readonly string[]>>
  /** Whether files and commands of ours are offered to it; what is not offered is refused. */
  readonly offers: { files: boolean; terminals: boolean }
  /** More directories than one are told to its process, not to its conversation. */
  readonly directoriesAtStart?: boolean
  /** How a human signs in to it. */
  readonly signIn: string
  /** Whether one has; without this it cannot be told. */
  signedIn?(env: NodeJS.ProcessEnv): Promise<SignedIn>
  /** Models are changed by the old method, which is no part of the protocol any more. */
  readonly oldModelMethod?: boolean
  /** How long it can be told to think, as far as that is always so. */
  readonly effortOption?: EffortOption
  /** The agent's own name of the tool, from the id of the call. */
  toolOf?(callId: string): string | null
  /** The tool of an MCP server that a question is about; null: it is about something else. */
  serverTool?(asked: JsonObject): string | null
  /** What to call a question that does not say which tool it is about. */
  questionOf?(input: JsonObject): string | null
  /** The files that the input of an edit names, where the common names do not tell them; null: they do. */
  filesOf?(input: JsonObject): string[] | null
  /** The mode that a piece of text is really about, for an agent that tells it in its answer. */
  modeIn?(text: string): string | null
  /** The thought in a piece, for an agent whose thoughts come in one piece each. */
  thoughtIn?(text: string): string
  /** The agent's list of what it has to do, in the end of a call, for an agent that has no other way to tell. */
  planIn?(update: JsonObject): unknown
  /** A call that was refused is not mentioned again: it is over when the model goes on. */
  readonly silentRefusals?: boolean
}

/** Which of our modes the agent's is; null when we have none like it. */
export function modeOf({ modes }: AcpProfile, id: string): Mode | null {
  for (const mode of ['plan', 'ask', 'code', 'auto'] as const) if (modes[mode].includes(id)) return mode
  return null
}
