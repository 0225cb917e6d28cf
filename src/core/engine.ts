import { listConversations } from './adopting.ts'
import type { Agents, Bookmarks, DaemonName, Engine, Events } from './api.ts'
import { createApprovals } from './approvals.ts'
import { Checkpointing } from './checkpointing.ts'
import { createCheckpoints } from './checkpoints.ts'
import { createCopies } from './copying.ts'
import { createDevices } from './device-list.ts'
import { createDirectories } from './directories.ts'
import { createDrafts } from './draft.ts'
import { CorralError } from './error.ts'
import type { LoggedEvent } from './event.ts'
import { createFeed, type Feed } from './feed.ts'
import { found, mustBeKnown, type EngineDeps, type EngineContext } from './context.ts'
import { inForce } from './limits.ts'
import { createModels, type Models } from './models.ts'
import { oneLine } from './naming.ts'
import { oneByOne } from './one-by-one.ts'
import type { AgentHost, AgentSink } from './ports.ts'
import { createProjects } from './project-list.ts'
import { createReactor } from './reactor.ts'
import { search, type SearchRequest, type SearchResult } from './search/search.ts'
import { createReviews } from './reviews.ts'
import type { Session } from './session.ts'
import { createSessions } from './sessions.ts'
import { createSink } from './sink.ts'
import { createTurns } from './turns.ts'
import { createUnsent } from './unsent.ts'

export type { EngineDeps } from './context.ts'

/** The engine and what only the daemon itself may touch of it. */
export interface EngineParts {
  engine: Engine
  /** For the host to report to, and to ask what a session is doing now. */
  sink: AgentSink
  peek: (sessionId: string) => Session | null
  /** Gives the engine its host and takes up what an earlier daemon left running. */
  start(host: AgentHost): Promise<void>
  /** From now on commands that would start something are refused. */
  stopping(): void
  /** Resolves when no checkpoint is under way. */
  settled(): Promise<void>
}

/** Loads a session, decides, commits, publishes, answers; then tells the agents. */
export function createEngine(deps: EngineDeps): EngineParts {
  const { log, catalog, clock, warn } = deps
  const feed = createFeed(log, warn)
  const directories = createDirectories(deps)
  const drafts = createDrafts({ log, clock, directories, committed, copied: feed.publish })
  let closing = false
  const isClosing = (): boolean => closing
  const context: EngineContext = { ...deps, drafts, directories, inFlight: new Map(), isClosing }
  const checkpointing = checkpointingOf(context)
  const reactor = createReactor({ drafts, log, warn, checkpointing })
  const models = createModels(deps)
  const approvals = createApprovals(context)
  log.onRollback = () => drafts.rollback()

  /** All that follows from what has happened follows from the events alone: a command may be gone with its daemon. */
  function committed(events: LoggedEvent[]): void {
    feed.publish(events)
    reactor.react(events)
    approvals.mind(events)
  }

  const turns = createTurns(context)
  const engine: Engine = {
    sessions: createSessions({ ...context, around: approvals.around, ended: reactor.ended }),
    turns,
    unsent: createUnsent(context),
    approvals: approvals.api,
    directories: approvals.directories,
    checkpoints: createCheckpoints({ ...context, checkpointing }),
    reviews: createReviews(context, turns),
    projects: createProjects(context),
    devices: createDevices(context),
    events: eventsOf(context, feed),
    bookmarks: bookmarksOf(context),
    daemon: daemonNameOf(context),
    copies: createCopies(context),
    agents: agentsOf(context, models),
    search: (request) => searchIn(context, request),
  }

  return {
    engine,
    sink: createSink({ log, drafts, catalog, around: approvals.around }),
    peek: (sessionId) => drafts.peek(sessionId),
    async start(host) {
      await reactor.start(host)
      await approvals.start()
      models.start(host)
    },
    stopping() {
      closing = true
      approvals.stop()
      models.stop()
      reactor.hold()
    },
    settled: async () => checkpointing?.settled(),
  }
}

/** Null: none are taken. */
function checkpointingOf({
  drafts,
  log,
  workTrees,
  checkpoints = true,
  checkpointWaitMs: waitMs,
  warn,
}: EngineContext): Checkpointing | null {
  return workTrees && checkpoints ? new Checkpointing({ drafts, log, workTrees, waitMs, warn }) : null
}

function agentsOf(context: EngineContext, models: Models): Agents {
  const { log, clock } = context
  return {
    models: models.of,
    limits: (agent) => inForce(log.limits(agent), clock.now()),
    conversations: (query) => listConversations(context, query),
  }
}

function searchIn(context: EngineContext, request: SearchRequest): SearchResult {
  mustBeKnown(context, request.sessionId)
  return search(context.log, request)
}

function eventsOf(context: EngineContext, feed: Feed): Events {
  const { log } = context
  return {
    logId: log.id,
    get head() {
      return log.head
    },
    get oldest() {
      return log.oldest
    },
    read(query) {
      mustBeKnown(context, query.sessionId)
      return log.events(query)
    },
    subscribe: (options, deliver, failed) => feed.subscribe(options, deliver, failed),
  }
}

function bookmarksOf({ log }: EngineContext): Bookmarks {
  return {
    list: (owner, sessionId) => log.bookmarks(owner, sessionId),
    async set(bookmark) {
      const { turnId } = bookmark
      const { sessionId } = found(log.turn(turnId), 'turn_not_found', 'message', turnId)
      if (sessionId !== bookmark.sessionId) {
        throw new CorralError('turn_not_found', 'The message belongs to another session')
      }
      await log.append({ events: [], writes: [{ op: 'bookmark', bookmark }] })
    },
    remove: (owner, turnId) => log.append({ events: [], writes: [{ op: 'bookmark.delete', owner, turnId }] }),
  }
}

function daemonNameOf({ log, drafts }: EngineContext): DaemonName {
  const inTurn = oneByOne()
  return {
    get name() {
      return log.daemonName()
    },
    setName: (given) =>
      inTurn(async () => {
        const name = oneLine(given, 'name')
        if (name === log.daemonName()) return
        await drafts.apart({ type: 'daemon.renamed', name }, () => [{ op: 'name', name }])
      }),
  }
}
