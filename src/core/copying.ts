import type { Copies } from './api.ts'
import type { EngineContext } from './context.ts'
import { CorralError } from './error.ts'
import type { Event, LoggedEvent } from './event.ts'
import { oneByOne } from './one-by-one.ts'
import type { Log, Write } from './ports.ts'
import { readModels } from './read-models.ts'
import type { Session } from './session.ts'

/*
 * Sessions of other machines are in this log as copies: the same events under numbers of our own, so that every reader knows them.
 * Nothing is decided about them here, and nothing follows from them: no agent, no clock, no checkpoint.
 */

/** The noun `copies` of the engine. */
export function createCopies(context: EngineContext): Copies {
  const { log, drafts } = context
  const inTurn = oneByOne()
  const known = (name: string): boolean => log.machines().some((machine) => machine.name === name)
  return {
    machines: () => log.machines(),
    addMachine: (machine) =>
      inTurn(async () => {
        if (known(machine.name)) {
          const message = `There is a machine called ${machine.name} already`
          throw new CorralError('invalid', message, { field: 'name' })
        }
        await log.append({ events: [], writes: [{ op: 'machine', machine }] })
      }),
    removeMachine: (name) =>
      inTurn(async () => {
        if (!known(name)) throw noMachine(name)
        await destroyAll(context, name)
        await forget(log, name, { op: 'machine.delete', name })
      }),
    add: (copied) => drafts.copy(copied),
    reset: async (name) => {
      await destroyAll(context, name)
      await forget(log, name, { op: 'machine.cursor', name, cursor: null })
    },
    ownHead: () => drafts.ownHead(),
    ownSessions: () => log.ownSessions(),
    own(sessionId) {
      const session = drafts.peek(sessionId)
      return session && !session.destroyed && session.machine === undefined ? session : null
    },
    has: (sessionId) => drafts.peek(sessionId) !== null,
    machineOf: (sessionId) => drafts.peek(sessionId)?.machine ?? null,
    count: (machine) => log.countCopied(machine),
    seqOf: (machine, ownerSeq) => log.copyOf(machine, ownerSeq),
    ownerSeqOf: (machine, seq) => log.ownerSeqOf(machine, seq),
  }
}

export function noMachine(name: string): CorralError {
  return new CorralError('machine_not_found', `No machine is called ${name}`, { machine: name })
}

/** Whoever looks at one of its sessions is told that it is gone. */
async function destroyAll({ log, drafts, clock }: EngineContext, machine: string): Promise<void> {
  const cursor = log.machines().find(({ name }) => name === machine)?.cursor
  const sessions = log.copiedFrom(machine).filter(({ destroyed }) => !destroyed)
  if (!cursor || sessions.length === 0) return
  const at = clock.now()
  const gone = sessions.map(({ id: sessionId }): Event => ({
    type: 'session.destroyed',
    seq: cursor.seq,
    at,
    sessionId,
    turnId: null,
  }))
  await drafts.copy({ machine, cursor, events: gone })
}

function forget(log: Log, machine: string, last: Write): Promise<void> {
  return log.append({ events: [], writes: [{ op: 'copies.drop', machine }, last] })
}

/** What a session begins with that is told to somebody who cannot read its beginning: retention may have removed that. */
export function retold(session: Session): Event[] {
  const { id: sessionId, agent, cwd, mode, model, effort, title, settings, nativeId, parentId } = session
  const { forkFrom, branch, origin, rules, worktreeOf, toldTitle, archived, createdAt: at } = session
  const { mcpConfig: _, ...shown } = settings
  const where = { seq: 0, at, sessionId, turnId: null }
  const created: Event = {
    type: 'session.created',
    ...where,
    agent,
    cwd,
    mode,
    model,
    title,
    settings: shown,
    nativeId,
    parentId,
    forkFrom,
    origin,
    rules,
    ...(effort !== undefined && { effort }),
    ...(branch && { branch }),
    ...(worktreeOf !== undefined && { worktreeOf }),
  }
  const since = { ...(toldTitle !== undefined && { toldTitle }), ...(archived && { archived }) }
  return Object.keys(since).length === 0
    ? [created]
    : [created, { type: 'session.changed', ...where, ...since }]
}

/** The event with the numbers of this log; `before`: those of its batch, which are not in the log yet. */
export function asCopied(
  log: Pick<Log, 'copyOf'>,
  machine: string,
  told: Event,
  seq: number,
  before: readonly LoggedEvent[],
): Event {
  const { machine: _, ownerSeq: __, ...own } = told
  const event = { ...own, seq } as Event
  const here = (there: number): number => placeOf(log, machine, there, before)
  if (event.type === 'session.marked' && event.readSeq !== undefined)
    return { ...event, readSeq: here(event.readSeq) }
  if (event.type === 'approval.requested') return { ...event, approval: { ...event.approval, machine } }
  if (event.type === 'session.created' && event.branch)
    return { ...event, branch: { ...event.branch, seq: here(event.branch.seq) } }
  return event
}

function placeOf(
  log: Pick<Log, 'copyOf'>,
  machine: string,
  ownerSeq: number,
  before: readonly LoggedEvent[],
): number {
  const inBatch = before.findLast(({ event }) => event.ownerSeq !== undefined && event.ownerSeq <= ownerSeq)
  return inBatch?.seq ?? log.copyOf(machine, ownerSeq)
}

/** What an agent has told of its account, rules of directories, processes and checkpoints belong to the machine. */
const NOT_OURS: ReadonlySet<Write['op']> = new Set(['limits', 'directory', 'run.delete', 'checkpoint'])

/** What a copied event changes in the read models beside the session's own row; `before`: the session until then. */
export function copiedModels(
  event: Event,
  before: Session | null,
  origin: { machine: string; ownerSeq: number },
): Write[] {
  // No number ever points to a streamed piece.
  if (event.type === 'message.delta') return []
  const models = readModels(event).filter(({ op }) => !NOT_OURS.has(op))
  const writes: Write[] = [{ op: 'copy', seq: event.seq, ...origin }, ...models]
  const draft = before?.unsent
  const drops = draft && (event.type === 'session.drafted' || event.type === 'session.destroyed')
  return drops ? [...writes, { op: 'event.drop', seq: draft.seq }] : writes
}
