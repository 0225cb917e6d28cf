import { unsupported } from './capability.ts'
import type { AgentStores } from './adoption.ts'
import type { WorkTrees } from './checkpoint.ts'
import type { Directories } from './directories.ts'
import type { Drafts } from './draft.ts'
import { CorralError } from './error.ts'
import type { EventBody, LoggedEvent } from './event.ts'
import { EXTERNAL_AGENT } from './external.ts'
import type { Capabilities } from './capabilities.ts'
import type { AgentCatalog, Clock, Log } from './ports.ts'
import type { Session } from './session.ts'

/** What the engine needs of the world around it. */
export interface EngineDeps {
  readonly log: Log
  readonly catalog: AgentCatalog
  readonly clock: Clock
  readonly newId: () => string
  readonly isDirectory: (path: string) => Promise<boolean>
  /** Without links; the path itself when there is no such place. */
  readonly realPath: (path: string) => string
  /** Whether a git repository is right there. */
  readonly isRepository: (path: string) => Promise<boolean>
  /** git; not there: sessions have no checkpoints and no changes. */
  readonly workTrees?: WorkTrees
  /** Whether checkpoints are taken; they are, if not given. */
  readonly checkpoints?: boolean
  /** How long an agent's message waits for its checkpoint. */
  readonly checkpointWaitMs: number
  /** Where agents keep their conversations; not there: nowhere. */
  readonly stores?: AgentStores
  readonly maxQueue: number
  /** How long approvals wait where nobody says; null: for ever. */
  readonly approvalTimeoutMs: number | null
  /** Something that no client waits for went wrong. */
  readonly warn: (message: string, error: unknown) => void
}

/** What all nouns of the engine share; some of them add to a copy of it. */
export interface EngineContext extends EngineDeps {
  readonly drafts: Drafts
  readonly directories: Directories
  /** Calls under way, by their keys. */
  readonly inFlight: Map<string, Promise<unknown>>
  /** Commands that would start something are refused. */
  readonly isClosing: () => boolean
}

/** The newest state of a session that is there. */
export function existing({ drafts }: Pick<EngineContext, 'drafts'>, sessionId: string): Session {
  const session = drafts.peek(sessionId)
  if (!session || session.destroyed) throw sessionNotFound(sessionId)
  return session
}

/** What a destroyed session has left in the log can still be read. */
export function mustBeKnown({ drafts }: Pick<EngineContext, 'drafts'>, sessionId: string | undefined): void {
  if (sessionId !== undefined && !drafts.peek(sessionId)) throw sessionNotFound(sessionId)
}

function sessionNotFound(sessionId: string): CorralError {
  return new CorralError('session_not_found', `Session not found: ${sessionId}`, { sessionId })
}

/** Decides on the newest state and commits what comes of it. */
export async function change(
  context: Pick<EngineContext, 'drafts'>,
  sessionId: string,
  rule: (state: Session) => EventBody[],
): Promise<LoggedEvent[]> {
  const bodies = rule(existing(context, sessionId))
  const draft = context.drafts.of(sessionId)
  draft.add(...bodies)
  return draft.commit()
}

/** The same key at the same time is the same call; later it is found in the log. */
export function once<T>(
  { inFlight }: EngineContext,
  key: string | undefined,
  work: () => Promise<T>,
): Promise<T> {
  if (key === undefined) return work()
  const running = inFlight.get(key) as Promise<T> | undefined
  if (running) return running
  const started = work().finally(() => inFlight.delete(key))
  inFlight.set(key, started)
  return started
}

export function refuseWhenClosing({ isClosing }: EngineContext): void {
  if (isClosing())
    throw new CorralError('stopping', 'The daemon is stopping; try again when it has started again')
}

export function needs(
  { catalog }: Pick<EngineContext, 'catalog'>,
  agent: string,
  capability: keyof Capabilities,
): void {
  // Of an agent elsewhere only the mode is ours to say: it decides what a human is asked.
  const able = agent === EXTERNAL_AGENT ? capability === 'setMode' : catalog.capabilities(agent)[capability]
  if (!able) throw unsupported(catalog, agent, capability)
}

/** The row of that id. */
export function found<T>(
  row: T | null,
  code: 'turn_not_found' | 'approval_not_found',
  what: string,
  id: string,
): T {
  if (row === null) throw new CorralError(code, `No ${what} has the id ${id}`, { id })
  return row
}
