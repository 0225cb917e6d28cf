import { createAlarms, type Alarms } from './alarm.ts'
import type { Approvals, DirectoryRules } from './api.ts'
import type { Approval } from './approval.ts'
import { approvalContext } from './approval-context.ts'
import * as approving from './approving.ts'
import type { Surroundings } from './approving.ts'
import { cannot, unsupported } from './capability.ts'
import type { AskHuman, DecideApproval } from './command.ts'
import { pastDecisions } from './decisions.ts'
import { CorralError } from './error.ts'
import type { EventBody, EventType, LoggedEvent } from './event.ts'
import { change, existing, found, mustBeKnown, type EngineContext } from './context.ts'
import type { Capabilities } from './capabilities.ts'
import type { ApprovalRow, Directory, Log } from './ports.ts'
import type { Rules, Site } from './rule.ts'
import { dueAt, openApprovals, type Session } from './session.ts'

/** What something outside may put before a human. */
const MAX_INPUT = 1024 * 1024

/** When the log could not be written. */
const RETRY_MS = 1000

/** The nouns `approvals` and `directories` of the engine, and what minds them. */
export interface ApprovalService {
  readonly api: Approvals
  readonly directories: DirectoryRules
  /** What a session's rules are looked at together with. */
  around(session: Site): Surroundings
  /** Sees what has been committed: something may fall due because of it. */
  mind(events: LoggedEvent[]): void
  start(): Promise<void>
  stop(): void
}

interface ApprovalContext extends EngineContext {
  readonly around: ApprovalService['around']
  /** Questions from outside that are on their way to the log. */
  readonly asking: Map<string, Promise<ApprovalRow>>
  /** Until the newest rules of directories have answered what they can. */
  settling: Promise<void>
}

export function createApprovals(context: EngineContext): ApprovalService {
  const around = (site: Site): Surroundings => surroundings(context, site)
  const service: ApprovalContext = { ...context, around, asking: new Map(), settling: Promise.resolve() }
  const alarms = createAlarms(context.clock.now, (sessionId) => {
    expire(service, alarms, sessionId).catch((error) =>
      context.warn(`what falls due in session ${sessionId}`, error),
    )
  })
  return {
    around,
    api: apiOf(service),
    directories: {
      list: context.directories.list,
      configure: (path, rules) => configureDirectory(service, path, rules),
    },
    mind(events) {
      for (const { type, sessionId } of events) {
        if (FALLS_DUE.has(type)) watch(service, alarms, sessionId)
        if (type === 'directory.changed') service.settling = settleAll(service)
      }
    },
    async start() {
      for (const { sessionId, at } of context.log.due()) alarms.set(sessionId, at)
      await settleAll(service)
    },
    stop: alarms.stop,
  }
}

/** After these events something may fall due at another time than before. */
const FALLS_DUE: ReadonlySet<EventType> = new Set([
  'approval.requested',
  'session.changed',
  'session.created',
])

function apiOf(service: ApprovalContext): Approvals {
  const { log, asking, newId } = service
  return {
    ask({ id = newId(), ...command }) {
      const asked = asking.get(id) ?? ask(service, id, command).finally(() => asking.delete(id))
      asking.set(id, asked)
      return asked
    },
    decide: (command) => decide(service, command),
    withdraw: (approvalId, by) => withdraw(service, approvalId, by),
    async defer(approvalId, until) {
      const { sessionId } = approvalIn(log, approvalId)
      await change(service, sessionId, (state) => approving.defer(state, approvalId, until)).catch(
        (error: unknown) => tooLate(log, approvalId, error),
      )
      return approvalIn(log, approvalId)
    },
    history: (query) => pastDecisions(service, query),
    context: (id) => approvalContext(service, approvalIn(log, id)),
    get: (id) => approvalIn(log, id),
    list(query) {
      mustBeKnown(service, query.sessionId)
      return log.approvals(query)
    },
    count: () => log.countApprovals(),
  }
}

function surroundings(
  { clock, approvalTimeoutMs, directories }: EngineContext,
  { cwd, worktreeOf = cwd }: Site,
): Surroundings {
  return {
    now: clock.now(),
    approvalTimeoutMs,
    // Looked for when somebody wants to know: most of what an agent says asks for nothing.
    get directoryRules() {
      return directories.rulesIn(cwd, worktreeOf)
    },
    get directory() {
      return directories.at(worktreeOf)
    },
  }
}

function watch({ drafts }: EngineContext, alarms: Alarms, sessionId: string): void {
  const session = drafts.peek(sessionId)
  const due = session && dueAt(session)
  if (due !== null) alarms.set(sessionId, due)
}

async function expire(context: EngineContext, alarms: Alarms, sessionId: string): Promise<void> {
  const session = context.drafts.peek(sessionId)
  if (!session || session.destroyed) return
  const now = context.clock.now()
  try {
    await change(context, sessionId, (state) => approving.expire(state, now))
    watch(context, alarms, sessionId)
  } catch (error) {
    alarms.set(sessionId, now + RETRY_MS)
    throw error
  }
}

/** Rules of directories have changed, maybe just before the daemon went down: what they answer of what is open. */
async function settleAll(service: ApprovalContext): Promise<void> {
  const { log, drafts, around, warn } = service
  const open = new Set(log.approvals({ open: true, limit: 10_000 }).map(({ sessionId }) => sessionId))
  for (const sessionId of open) {
    const session = drafts.peek(sessionId)
    if (!session || session.destroyed || session.machine !== undefined) continue
    if (openApprovals(session).length === 0) continue
    await change(service, sessionId, (state) => approving.settle(state, around(state))).catch((error) =>
      warn(`what the rules answer in session ${sessionId}`, error),
    )
  }
}

async function configureDirectory(
  service: ApprovalContext,
  path: string,
  rules: Partial<Rules>,
): Promise<Directory> {
  const now = service.directories.at(path)
  const directory = { path: now.path, rules: { ...now.rules, ...rules } }
  await service.drafts.apart({ type: 'directory.changed', ...directory })
  await service.settling
  return directory
}

async function ask(
  service: ApprovalContext,
  id: string,
  command: Omit<AskHuman, 'id'>,
): Promise<ApprovalRow> {
  const { log, drafts, around } = service
  const { sessionId, timeoutMs, ...question } = command
  const known = log.approval(id)
  if (known?.sessionId === sessionId) return known
  const owner = approving.ownerOf(id)
  if (known || (owner !== null && drafts.peek(owner))) {
    throw new CorralError('invalid', `The approval id ${id} is taken; choose another id`, { field: 'id' })
  }
  if (JSON.stringify(question.input ?? null).length > MAX_INPUT) {
    throw new CorralError('invalid', `input: may have at most ${MAX_INPUT} characters`, { field: 'input' })
  }
  const how = { external: true, ...(timeoutMs !== undefined && { timeoutMs }) }
  const approval = approvalOf(id, question)
  await change(service, sessionId, (state) => approving.ask(state, approval, around(state), how))
  return approvalIn(log, id)
}

async function decide(
  service: ApprovalContext,
  { approvalId, decision, by, device }: DecideApproval,
): Promise<ApprovalRow> {
  const { log, around } = service
  const row = approvalIn(log, approvalId)
  if (row.decision) throw approving.alreadyResolved(approvalId, row.decision)
  mustBeAble(service, row, decision)
  await change(service, row.sessionId, (state) => [
    ...approving.decideApproval(state, approvalId, decision, by, around(state), device),
    ...unheard(service, state, row, decision),
  ]).catch((error: unknown) => tooLate(log, approvalId, error))
  await service.settling
  return approvalIn(log, approvalId)
}

/** Somebody was first, and what they said may still be on its way to the log. */
async function tooLate(log: Log, approvalId: string, error: unknown): Promise<never> {
  await log.append({ events: [], writes: [] })
  const { decision } = approvalIn(log, approvalId)
  throw decision ? approving.alreadyResolved(approvalId, decision) : error
}

async function withdraw(service: ApprovalContext, approvalId: string, by: string): Promise<ApprovalRow> {
  const { log } = service
  const row = approvalIn(log, approvalId)
  if (!row.external) {
    throw new CorralError('unsupported', 'An agent of Corral waits for this approval; allow it or deny it')
  }
  if (!row.decision) {
    const reason = 'whoever asked has given up'
    await change(service, row.sessionId, (state) => approving.withdraw(state, approvalId, reason, by))
    // Somebody else's answer may still be on its way to the log.
    await log.append({ events: [], writes: [] })
  }
  return approvalIn(log, approvalId)
}

/** Of an agent that has gone from the configuration nothing is known; what it asked can still be answered. */
function isAble({ catalog }: EngineContext, agent: string, capability: keyof Capabilities): boolean {
  return !catalog.names().includes(agent) || catalog.capabilities(agent)[capability]
}

/** What comes from outside is answered to whoever asked, not to the agent. */
function mustBeAble(context: EngineContext, row: ApprovalRow, decision: DecideApproval['decision']): void {
  if (row.external || decision.behavior !== 'allow' || decision.input === undefined) return
  const { agent } = existing(context, row.sessionId)
  if (!isAble(context, agent, 'editInput')) throw unsupported(context.catalog, agent, 'editInput')
}

/** A no must never fail for the words that go with it; but whoever said them is told that nobody heard them. */
function unheard(
  context: EngineContext,
  { agent }: Session,
  row: ApprovalRow,
  decision: DecideApproval['decision'],
): EventBody[] {
  if (row.external || !approving.hasReason(row, decision)) return []
  if (isAble(context, agent, 'denyComment')) return []
  const message = `${cannot(context.catalog, agent, 'denyComment')}: it is told no, and the words stay in the log`
  const data = { approvalId: row.id, capability: 'denyComment' }
  return [{ type: 'agent.notice', level: 'info', code: 'comment_unheard', message, data }]
}

function approvalIn(log: Log, approvalId: string): ApprovalRow {
  return found(log.approval(approvalId), 'approval_not_found', 'approval', approvalId)
}

function approvalOf(id: string, command: Omit<AskHuman, 'sessionId' | 'id'>): Approval {
  const { kind, tool, input, edits = false, fixed = false, callId = null, summary = null } = command
  const about = { kind, tool, input, edits, fixed, callId, summary }
  return { id, requestId: id, ...about, suggestions: null, parent: null }
}
