import type { Unasked } from '../core/about.ts'
import type { Capabilities } from '../core/capabilities.ts'
import type { Intent } from '../core/ports.ts'
import type { Session } from '../core/session.ts'
import type { SignedIn } from './signed-in.ts'
import type { Step } from './step.ts'
import type { ConversationStore } from './store.ts'

/** What a machine has of an agent. */
export interface Detection {
  name: string
  installed: boolean
  /** Where it was found, also when it does not run. */
  path: string | null
  version: string | null
  /** What is wrong and what to do about it; null when all is well. */
  problem: string | null
}

/** How to start an agent's process for a session. */
export interface LaunchPlan {
  command: string
  args: string[]
  cwd: string
  /** Added to the daemon's environment. */
  env: Record<string, string>
  /** It leaves files behind where temporary ones go: give it a place of its own, which goes with it. */
  ownTmp?: boolean
  /** Texts that it reads from files, by the variable that names the file. */
  files?: Record<string, string>
  /** Written to stdin at once, each a complete line without its LF. */
  greeting: string[]
}

/** A pure reducer over an agent's output lines. Re-run from a turn's first line it makes the same outputs. */
export interface Translator<S> {
  initial(session: Session): S
  /** `line` is parsed JSON; what is not JSON never gets here. */
  step(state: S, line: unknown): Step<S>
}

/** What a spare has to be started with, since it cannot be told later. */
export interface SpareKind {
  /** Where it works; null: that is told by the claim. */
  cwd: string | null
  /** False: it has no tools of its own. */
  ownTools: boolean
  /** False: nobody can answer its questions, and it was started without the tool for them. */
  questions?: boolean
  /** It has been told this already, and no other prompt can be told any more; only where `cwd` is known. */
  told?: { systemPrompt: string; model: string | null }
}

/** A spare that any new session may become. */
export const ANYWHERE: SpareKind = { cwd: null, ownTools: true }

/** For an agent that can be started ahead of its session. */
export interface SpareSupport {
  /** Null: this kind cannot be started ahead. */
  plan(detection: Detection, kind: SpareKind, parkingDir: string, ids: () => string): LaunchPlan | null
  /** Whether a spare of this kind can become this session at all. */
  claimable(session: Session, kind: SpareKind): boolean
  /** Lines that make it this session's process; the notice `claim_failed` says that they did not. */
  claim(session: Session, kind: SpareKind): string[]
}

/** For an agent that keeps many conversations in one process. */
export interface SharedSupport {
  /** So many sessions to a process at the most: if it dies, they all lose a turn. */
  readonly sessions: number
  /** The process, in a directory that belongs to none of them. */
  plan(detection: Detection, cwd: string): LaunchPlan
  /** The first lines of a session in it; `agent.ready` follows. */
  join(session: Session): string[]
  /** The last ones. `heard`: its translator's state. */
  leave(session: Session, heard: unknown): string[]
  /** Ends what a session that is gone for good has left running in the process. */
  clear(session: Session): Promise<void>
}

/** What this side does for one process of an agent, and what it holds for it: that ends with the process. */
export interface AgentService {
  /** The stdin lines about something that the translator said `agent.request` of. */
  answer(request: unknown, session: Session): string[] | Promise<string[]>
  /** Does what a decision is about, where the agent leaves that to this side; null: it does not, `encode` it. */
  carryOut?(
    intent: Extract<Intent, { kind: 'decision' }>,
    session: Session,
    heard: unknown,
  ): Promise<string[]> | null
  /** The process is gone. */
  end?(): void
  /** The daemon goes: what lives only as long as it does has to go now. */
  letGo?(): void
}

/** A driver for one agent CLI: data and pure functions, but for `detect`, `signedIn`, `prepare`, `serve` and `afterExit`. */
export interface AgentDriver {
  readonly name: string
  readonly title: string
  readonly capabilities: Capabilities
  /** What no rule can keep it from. */
  readonly unasked: Unasked
  detect(env: NodeJS.ProcessEnv): Promise<Detection>
  /** Looked at when somebody wants to know. Who has no account is not asked for models; nothing else depends on it. */
  signedIn(env: NodeJS.ProcessEnv): Promise<SignedIn>
  plan(session: Session, detection: Detection, ids: () => string): LaunchPlan
  /** Before its process starts: puts its own store in order, and gives it what only a look at the machine can tell. */
  prepare?(session: Session, env: NodeJS.ProcessEnv): Promise<Pick<LaunchPlan, 'files'>>
  readonly translator: Translator<unknown>
  /** Its process opens a conversation first: messages wait until the translator says `agent.ready`. */
  readonly handshake?: boolean
  /** For one process, from its start to its end. */
  serve?(env: NodeJS.ProcessEnv): AgentService
  /** The answer may take as long as it likes: others are answered meanwhile. */
  waits?(request: unknown): boolean
  /** The stdin lines that refuse such a request, since too many wait; empty: it has to be answered. */
  decline?(request: unknown): string[]
  /** The stdin lines (no LF) that carry an intent; empty when the agent need not be told. `heard`: its translator's state. */
  encode(intent: Intent, session: Session, heard?: unknown): string[]
  /** Lines that stop the running turn. */
  interrupt(session: Session): string[]
  /** A harmless request whose answer makes the translator say `barrier.reached` with this id. */
  barrier(id: string, session: Session): string[]
  /** Lines that make an idle process end by itself; empty when only a signal does. */
  farewell(): string[]
  /** Its process is gone: removes what it left in the session's directory since that time. */
  afterExit?(session: Session, since: number): Promise<void>
  /** In this environment it keeps no conversations: for a process that is only asked something. */
  readonly unrecorded?: Readonly<Record<string, string>>
  /** Reads the conversations that it keeps for itself; loaded when somebody wants to see them. */
  conversations?(): Promise<ConversationStore>
  readonly spare?: SpareSupport
  /** With this, `plan` is not asked but for what it refuses. */
  readonly shared?: SharedSupport
}
