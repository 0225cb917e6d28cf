import type { Engine } from './api.ts'
import type { SendMessage, Sent, Steered, SteerTurn } from './command.ts'
import { createApprovals } from './approvals.ts'
import { answerCall } from './call.ts'
import { unsupported } from './capability.ts'
import { compactMessage } from './compaction.ts'
import { createDevices } from './device-list.ts'
import * as decide from './decide.ts'
import type { Content } from './content.ts'
import { createDirectories } from './directories.ts'
import { createDrafts } from './draft.ts'
import { CorralError } from './error.ts'
import type { EventBody, EventOf, EventType, LoggedEvent } from './event.ts'
import { EXTERNAL_AGENT } from './external.ts'
import { createFeed } from './feed.ts'
import { createHouse } from './house.ts'
import { inForce } from './limits.ts'
import { createModels } from './models.ts'
import type { AgentCatalog, AgentHost, AgentSink, Capabilities, Clock, Log, Write } from './ports.ts'
import { createQueries, existing as existingIn, steerByKey } from './queries.ts'
import { createReactor } from './reactor.ts'
import { NO_RULES } from './rule.ts'
import type { Session, SessionSettings } from './session.ts'
import { mustBeSound } from './settings.ts'
import { createSink } from './sink.ts'

export interface EngineDeps {
  log: Log
  catalog: AgentCatalog
  clock: Clock
  newId: () => string
  isDirectory: (path: string) => Promise<boolean>
  realPath: (path: string) => string
  /** Whether a git repository is right there. */
  isRepository: (path: string) => Promise<boolean>
  maxQueue: number
  approvalTimeoutMs: number | null
  /** Something that no client waits for went wrong. */
  warn: (message: string, error: unknown) => void
}

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
}

/** The one mutable heart: loads a session, decides, commits, publishes, answers; then tells the agents. */
export function createEngine(deps: EngineDeps): EngineParts {
  const { log, catalog, clock, newId } = deps
  const feed = createFeed(log, deps.warn)
  const directories = createDirectories(deps)
  const drafts = createDrafts({ log, clock, directories, committed })
  const queries = createQueries(log, drafts)
  const reactor = createReactor({ drafts, log, warn: deps.warn })
  const models = createModels(deps)
  const approvals = createApprovals({ ...deps, drafts, directories, change })
  const house = { ...createHouse({ ...deps, drafts }), ...createDevices({ ...deps, drafts }) }
  const inFlight = new Map<string, Promise<unknown>>()
  let closing = false
  log.onRollback = () => drafts.rollback()

  /** All that follows from what has happened follows from the events alone: a command may be gone with its daemon. */
  function committed(events: LoggedEvent[]): void {
    feed.publish(events)
    reactor.react(events)
    approvals.mind(events)
  }

  const existing = (sessionId: string): Session => existingIn(drafts, sessionId)

  /** Decides on the newest state and commits what comes of it. */
  async function change(sessionId: string, rule: (state: Session) => EventBody[]): Promise<LoggedEvent[]> {
    const bodies = rule(existing(sessionId))
    const draft = drafts.of(sessionId)
    draft.add(...bodies)
    return draft.commit()
  }

  /** The same key at the same time is the same call; later, `known` finds it in the log. */
  function once<T>(key: string | undefined, work: () => Promise<T>): Promise<T> {
    if (key === undefined) return work()
    const running = inFlight.get(key) as Promise<T> | undefined
    if (running) return running
    const started = work().finally(() => inFlight.delete(key))
    inFlight.set(key, started)
    return started
  }

  /** A new session, or the one that this key has made before. */
  function newOnce(key: string | undefined, work: () => Promise<Session>): Promise<Session> {
    return once(key && `create ${key}`, async () => {
      const known = key === undefined ? null : log.sessionByKey(key)
      if (known) return known
      refuseWhenClosing()
      return work()
    })
  }

  function refuseWhenClosing(): void {
    if (closing) throw new CorralError('stopping', 'The daemon is stopping; try again when it is back')
  }

  async function create(
    { id = newId(), key }: { id?: string; key?: string },
    body: Omit<EventOf<'session.created'>, 'type'>,
  ): Promise<Session> {
    if (drafts.peek(id)) throw new CorralError('invalid', `There is a session ${id} already`, { field: 'id' })
    const draft = drafts.of(id)
    draft.add({ type: 'session.created', ...body })
    const { state } = draft
    await draft.commit(key)
    return state
  }

  /** What became of the message that came with this key before. */
  function sentBefore({ sessionId, key, busy }: SendMessage): Sent | null {
    if (key === undefined) return null
    const turn = log.turnByKey(sessionId, key)
    if (turn) return { turnId: turn.id, position: placeOf(turn.id, sessionId), seq: turn.seq, repeated: true }
    const steered = busy === 'steer' ? steerByKey(log, sessionId, key) : null
    return steered && asSent({ ...steered, repeated: true })
  }

  function placeOf(turnId: string, sessionId: string): number {
    const { turn, queue } = existing(sessionId)
    return turn?.id === turnId ? 0 : queue.indexOf(turnId) + 1
  }

  async function send(command: SendMessage): Promise<Sent> {
    const { sessionId, bookmark: owner, input } = command
    const { agent } = existing(sessionId)
    const mark = ({ turnId, seq, steered }: Sent): Write[] =>
      owner === undefined || steered !== undefined
        ? []
        : [{ op: 'bookmark', bookmark: { owner, sessionId, turnId, seq: seq - 1 } }]
    const known = sentBefore(command)
    if (known) {
      await log.append({ events: [], writes: mark(known) })
      return known
    }
    refuseWhenClosing()
    mustHear(agent, input)
    const turnId = newId()
    const bodies = decide.send(existing(sessionId), turnId, command, deps.maxQueue)
    const steered = bodies.find((body) => body.type === 'turn.steered')
    if (steered) needs(catalog, agent, 'steer')
    const draft = drafts.of(sessionId)
    const seq = draft.add(...bodies) + bodies.findIndex(({ type }) => ADMITTED.includes(type))
    const sent: Sent = steered
      ? asSent({ steerId: turnId, turnId: steered.turnId, seq, repeated: false })
      : { turnId, position: placeOf(turnId, sessionId), seq, repeated: false }
    draft.write(...mark(sent))
    await draft.commit()
    return sent
  }

  /** What an agent cannot be told is refused before anything is written down. */
  function mustHear(agent: string, input: Content[]): void {
    if (agent === EXTERNAL_AGENT) {
      throw new CorralError(
        'unsupported',
        'This agent runs outside of Corral: it is answered, not written to',
      )
    }
    if (input.some((part) => part.type === 'image')) needs(catalog, agent, 'images')
    if (input.some((part) => part.type === 'document')) needs(catalog, agent, 'documents')
  }

  function mustServe(agent: string, settings: SessionSettings = {}): void {
    if (settings.clientTools?.length) needs(catalog, agent, 'clientTools')
    if (settings.ownTools === false) needs(catalog, agent, 'bare')
  }

  async function steer(command: SteerTurn): Promise<Steered> {
    const { sessionId, key, input } = command
    const { agent } = existing(sessionId)
    const known = key === undefined ? null : steerByKey(log, sessionId, key)
    if (known) return { ...known, repeated: true }
    refuseWhenClosing()
    mustHear(agent, input)
    needs(catalog, agent, 'steer')
    const steerId = newId()
    const draft = drafts.of(sessionId)
    const bodies = decide.steer(draft.state, steerId, command, deps.maxQueue)
    const seq = draft.add(...bodies)
    await draft.commit()
    return { steerId, turnId: (bodies[0] as EventOf<'turn.steered'>).turnId, seq, repeated: false }
  }

  /** Where a conversation belongs is known only of those that are Corral's; of others the agent itself has to say it. */
  function mustBeResumable(agent: string, nativeId: string, cwd: string): void {
    needs(catalog, agent, 'resume')
    const known = queries.sessionByNativeId(nativeId)
    if (known?.agent === agent && deps.realPath(known.cwd) !== deps.realPath(cwd)) {
      needs(catalog, agent, 'relocate')
    }
  }

  const engine: Engine = {
    logId: log.id,
    get head() {
      return log.head
    },
    get oldest() {
      return log.oldest
    },
    ...queries,
    ...house,
    get name() {
      return log.daemonName()
    },
    models: models.of,
    limits: (agent) => inForce(log.limits(agent), clock.now()),

    create: (command) =>
      newOnce(command.key, async () => {
        if (command.nativeId) mustBeResumable(command.agent, command.nativeId, command.cwd)
        mustBeSound(command.settings)
        mustServe(command.agent, command.settings)
        if (command.effort) needs(catalog, command.agent, 'effort')
        if (command.agent !== EXTERNAL_AGENT) await catalog.require(command.agent)
        if (!(await deps.isDirectory(command.cwd))) {
          throw new CorralError('path_not_found', `Not a directory: ${command.cwd}`, { path: command.cwd })
        }
        const {
          agent,
          cwd,
          mode = 'auto',
          model = null,
          effort = null,
          title = null,
          settings = {},
          nativeId = null,
          rules = NO_RULES,
          parentId = null,
          origin = null,
        } = command
        const given = { agent, cwd, mode, model, effort, title, settings, nativeId, rules, origin }
        return create(command, { ...given, parentId, forkFrom: null })
      }),
    send: (command) => once(command.key && `send ${command.sessionId} ${command.key}`, () => send(command)),
    steer: (command) =>
      once(command.key && `steer ${command.sessionId} ${command.key}`, () => steer(command)),
    async compact(command) {
      needs(catalog, existing(command.sessionId).agent, 'compact')
      return engine.send({ ...command, input: compactMessage() })
    },
    async interrupt({ sessionId, turnId, clearQueue = false, reason }) {
      const events = await change(sessionId, (state) =>
        turnId === undefined
          ? decide.interrupt(state, clearQueue, reason)
          : decide.interruptTurn(state, turnId, clearQueue),
      )
      const cancelled = events.flatMap(({ event }) => (event.type === 'turn.cancelled' ? [event.turnId] : []))
      return { interrupted: events.some(({ type }) => type === 'turn.interrupting'), cancelled }
    },
    async cancelTurn(sessionId, turnId) {
      await change(sessionId, (state) => decide.cancelTurn(state, turnId))
    },
    async moveTurn(sessionId, turnId, position) {
      await change(sessionId, (state) => decide.moveTurn(state, turnId, position))
      return existing(sessionId).queue
    },
    async pause(sessionId) {
      const { agent, turn } = existing(sessionId)
      if (turn) needs(catalog, agent, 'pause')
      await change(sessionId, (state) => decide.setPaused(state, true))
      return existing(sessionId)
    },
    async resume(sessionId) {
      existing(sessionId)
      const draft = drafts.of(sessionId)
      draft.add(...decide.setPaused(draft.state, false))
      draft.add(...decide.advance(draft.state))
      await draft.commit()
      return existing(sessionId)
    },
    async configure(command) {
      const { agent } = existing(command.sessionId)
      if (command.model !== undefined) needs(catalog, agent, 'setModel')
      if (command.effort) needs(catalog, agent, 'effort')
      if (command.mode !== undefined || command.plan !== undefined) needs(catalog, agent, 'setMode')
      if (command.nativeId) needs(catalog, agent, 'resume')
      await change(command.sessionId, (state) => decide.configure(state, command, approvals.around(state)))
      return existing(command.sessionId)
    },
    fork: (command) =>
      newOnce(command.key, async () => {
        const parent = existing(command.sessionId)
        needs(catalog, parent.agent, 'fork')
        mustBeSound(command.settings)
        const { agent, cwd, mode } = parent
        const {
          title = parent.title,
          model = parent.model,
          effort = parent.effort ?? null,
          settings = parent.settings,
          origin = null,
        } = command
        const forkFrom = parent.nativeId ?? parent.forkFrom
        const given = { agent, cwd, mode, model, effort, title, settings, rules: parent.rules, origin }
        return create(command, { ...given, nativeId: null, parentId: parent.id, forkFrom })
      }),
    async destroy(sessionId) {
      existing(sessionId)
      const draft = drafts.of(sessionId)
      draft.abortOpenMessages()
      draft.add(...decide.destroy(draft.state))
      await draft.commit()
      await reactor.ended(sessionId)
    },
    async answerCall({ sessionId, callId, result }) {
      await change(sessionId, (state) => answerCall(state, callId, result))
    },
    ask: approvals.ask,
    decide: approvals.decide,
    withdraw: approvals.withdraw,
    directories: approvals.directories,
    configureDirectory: approvals.configureDirectory,

    subscribe: (options, deliver, failed) => feed.subscribe(options, deliver, failed),
    async setBookmark(bookmark) {
      const { sessionId } = queries.turn(bookmark.turnId)
      if (sessionId !== bookmark.sessionId)
        throw new CorralError('turn_not_found', 'That message is of another session')
      await log.append({ events: [], writes: [{ op: 'bookmark', bookmark }] })
    },
    deleteBookmark: (owner, turnId) =>
      log.append({ events: [], writes: [{ op: 'bookmark.delete', owner, turnId }] }),
  }

  return {
    engine,
    sink: createSink({ log, drafts, catalog, around: approvals.around }),
    peek: drafts.peek,
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
  }
}

/** A message has become an event. */
const ADMITTED: readonly EventType[] = ['turn.queued', 'turn.steered']

function asSent({ steerId, turnId, seq, repeated }: Steered): Sent {
  return { turnId: steerId, position: 0, seq, repeated, steered: turnId }
}

function needs(catalog: AgentCatalog, agent: string, capability: keyof Capabilities): void {
  // Of an agent elsewhere only the mode is ours to say: it decides what a human is asked.
  const able = agent === EXTERNAL_AGENT ? capability === 'setMode' : catalog.capabilities(agent)[capability]
  if (!able) throw unsupported(catalog, agent, capability)
}
