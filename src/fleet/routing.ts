import type { Approvals, Checkpoints, Engine, Reviews, Sessions, Turns, Unsent } from '../core/api.ts'
import type { Sent, Steered } from '../core/command.ts'
import { asCorralError } from '../core/error.ts'
import { uuid } from '../core/ids.ts'

/** How commands get to where their session runs. */
export interface Carrier {
  /** Calls a method of the native API on a machine; resolves when what came of it is in this log too. */
  call(machine: string, method: string, params: unknown): Promise<unknown>
  /** There is no other machine. */
  isAlone(): boolean
}

/** The native method on the machine of a session; null: it runs here. */
type Elsewhere = <T>(method: string, params: object) => Promise<T>

interface Router {
  engine: Engine
  /** Where a session runs. */
  of(sessionId: string): { machine: string; call: Elsewhere } | null
  /** Where something is decided that could not be decided here; throws what is no such refusal. */
  at(refusal: unknown): Elsewhere
}

/**
 * The same engine for every session, wherever it runs: reads are of our log, which has copies of all of them, and commands are carried
 * out by the machine of their session.
 */
export function routed(engine: Engine, carrier: Carrier): Engine {
  const at =
    (machine: string): Elsewhere =>
    (method, params) =>
      carrier.call(machine, method, params) as Promise<never>
  const router: Router = {
    engine,
    at(refusal) {
      const { machine } = asCorralError(refusal).data
      if (asCorralError(refusal).code !== 'machine_unreachable' || typeof machine !== 'string') throw refusal
      return at(machine)
    },
    of(sessionId) {
      const machine = carrier.isAlone() ? null : engine.copies.machineOf(sessionId)
      if (machine === null) return null
      return { machine, call: at(machine) }
    },
  }
  return {
    ...engine,
    sessions: { ...engine.sessions, ...sessionsOf(router) },
    turns: { ...engine.turns, ...turnsOf(router) },
    unsent: { ...engine.unsent, ...unsentOf(router) },
    approvals: { ...engine.approvals, ...approvalsOf(router) },
    checkpoints: { ...engine.checkpoints, ...checkpointsOf(router) },
    reviews: { ...engine.reviews, ...reviewsOf(router) },
  }
}

/** What is not there must not be sent. */
function given<T extends object>(params: T): Partial<T> {
  return Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined)) as Partial<T>
}

type SessionCommands = Pick<Sessions, 'fork' | 'configure' | 'mark' | 'pause' | 'resume' | 'destroy'>

function sessionsOf({ engine, of }: Router): SessionCommands {
  const { sessions } = engine
  /** The session as it is afterwards. */
  async function changed(id: string, method: string, params: object, here: () => Promise<unknown>) {
    const there = of(id)
    if (there) await there.call(method, given(params))
    else await here()
    return sessions.get(id)
  }
  return {
    async configure(command) {
      const { sessionId, notes, ...params } = command
      const there = of(sessionId)
      if (!there) return sessions.configure(command)
      if (notes) await there.call('member.note', { sessionId, notes })
      if (Object.keys(given(params)).length > 0)
        await there.call('session.configure', given({ sessionId, ...params }))
      return sessions.get(sessionId)
    },
    async mark(command) {
      const { sessionId, readSeq, ...marks } = command
      const there = of(sessionId)
      if (!there) return sessions.mark(command)
      const read = readSeq === undefined ? undefined : engine.copies.ownerSeqOf(there.machine, readSeq)
      await there.call('session.mark', given({ sessionId, readSeq: read, ...marks }))
      return sessions.get(sessionId)
    },
    pause: (sessionId) => changed(sessionId, 'session.pause', { sessionId }, () => sessions.pause(sessionId)),
    resume: (sessionId) =>
      changed(sessionId, 'session.resume', { sessionId }, () => sessions.resume(sessionId)),
    async destroy(sessionId) {
      const there = of(sessionId)
      if (!there) return sessions.destroy(sessionId)
      await there.call('session.destroy', { sessionId })
    },
    async fork(command) {
      const there = of(command.sessionId)
      if (!there) return sessions.fork(command)
      const { id: _, ...params } = command
      const { id } = await there.call<{ id: string }>('session.fork', given({ key: uuid(), ...params }))
      return sessions.get(id)
    },
  }
}

type TurnCommands = Omit<Turns, 'get' | 'list' | 'subAgents' | 'usage'>

function turnsOf(router: Router): TurnCommands {
  const { engine, of } = router
  const { turns } = engine
  return {
    async send(command) {
      const { sessionId, input: content, bookmark, comments: _, ...rest } = command
      const there = of(sessionId)
      if (!there) return turns.send(command)
      const params = given({ sessionId, content, key: uuid(), ...rest })
      const sent = placed(engine, there.machine, await there.call<Sent>('session.send', params))
      if (bookmark !== undefined)
        await engine.bookmarks.set({ owner: bookmark, sessionId, turnId: sent.turnId, seq: sent.seq - 1 })
      return sent
    },
    async steer(command) {
      const { sessionId, input: content, ...rest } = command
      const there = of(sessionId)
      if (!there) return turns.steer(command)
      const params = given({ sessionId, content, key: uuid(), ...rest })
      return placed(engine, there.machine, await there.call<Steered>('session.steer', params))
    },
    async compact(command) {
      const there = of(command.sessionId)
      if (!there) return turns.compact(command)
      const params = given({ key: uuid(), ...command })
      return placed(engine, there.machine, await there.call<Sent>('session.compact', params))
    },
    async interrupt(command) {
      const there = of(command.sessionId)
      if (!there) return turns.interrupt(command)
      const { reason: _, ...params } = command
      return there.call('session.interrupt', given(params))
    },
    async answerCall(command) {
      const { sessionId, callId, result } = command
      const there = of(sessionId)
      if (!there) return turns.answerCall(command)
      await there.call('call.answer', { sessionId, callId, result: result.content, isError: result.isError })
    },
    ...queueOf(router),
  }
}

function queueOf({ engine, of }: Router): Pick<Turns, 'cancel' | 'move' | 'edit' | 'steerQueued'> {
  const { turns, sessions } = engine
  return {
    async cancel(sessionId, turnId) {
      const there = of(sessionId)
      if (!there) return turns.cancel(sessionId, turnId)
      await there.call('queue.remove', { sessionId, turnId })
    },
    async move(sessionId, turnId, position) {
      const there = of(sessionId)
      if (!there) return turns.move(sessionId, turnId, position)
      await there.call('queue.move', { sessionId, turnId, position })
      return sessions.get(sessionId).queue
    },
    async edit(command) {
      const { sessionId, turnId, input: content } = command
      const there = of(sessionId)
      if (!there) return turns.edit(command)
      await there.call('queue.edit', { sessionId, turnId, content })
      return turns.get(turnId)
    },
    async steerQueued(sessionId, turnId) {
      const there = of(sessionId)
      if (!there) return turns.steerQueued(sessionId, turnId)
      const steered = await there.call<Omit<Steered, 'repeated'>>('queue.steer', { sessionId, turnId })
      return placed(engine, there.machine, { ...steered, repeated: false })
    },
  }
}

/** Of what a machine says, the number of this log. */
function placed<T extends { seq: number }>(engine: Engine, machine: string, told: T & { log?: string }): T {
  const { log: _, ...rest } = told
  return { ...rest, seq: engine.copies.seqOf(machine, told.seq) } as unknown as T
}

function unsentOf({ engine, of }: Router): Pick<Unsent, 'set'> {
  return {
    async set(command) {
      const there = of(command.sessionId)
      return there ? there.call('draft.set', given(command)) : engine.unsent.set(command)
    },
  }
}

function approvalsOf({ engine, of }: Router): Pick<Approvals, 'decide' | 'ask' | 'withdraw' | 'defer'> {
  const { approvals } = engine
  const whereOf = (id: string) => of(approvals.get(id).sessionId)
  return {
    async decide(command) {
      const { approvalId, decision, by } = command
      const there = whereOf(approvalId)
      if (!there) return approvals.decide(command)
      await there.call('approval.decide', given({ approvalId, by, ...decision }))
      return approvals.get(approvalId)
    },
    async ask(command) {
      const there = of(command.sessionId)
      if (!there) return approvals.ask(command)
      const { fixed: _, ...params } = command
      const { id } = await there.call<{ id: string }>('approval.request', given({ id: uuid(), ...params }))
      return approvals.get(id)
    },
    async withdraw(approvalId, by) {
      const there = whereOf(approvalId)
      if (!there) return approvals.withdraw(approvalId, by)
      await there.call('approval.withdraw', { approvalId, by })
      return approvals.get(approvalId)
    },
    async defer(approvalId, until) {
      const there = whereOf(approvalId)
      if (!there) return approvals.defer(approvalId, until)
      await there.call('approval.defer', { approvalId, until })
      return approvals.get(approvalId)
    },
  }
}

function checkpointsOf({ engine, of }: Router): Checkpoints {
  const { checkpoints } = engine
  return {
    async list(sessionId) {
      const there = of(sessionId)
      return there ? there.call('checkpoint.list', { sessionId }) : checkpoints.list(sessionId)
    },
    async preview(sessionId, id) {
      const there = of(sessionId)
      return there
        ? there.call('checkpoint.preview', { sessionId, turnId: id })
        : checkpoints.preview(sessionId, id)
    },
    async restore(command) {
      const { sessionId, id: turnId, force } = command
      const there = of(sessionId)
      return there
        ? there.call('checkpoint.restore', given({ sessionId, turnId, force }))
        : checkpoints.restore(command)
    },
    async changes(request) {
      const there = of(request.sessionId)
      return there ? there.call('changes.read', given(request)) : checkpoints.changes(request)
    },
  }
}

function reviewsOf({ engine, of, at }: Router): Reviews {
  const { reviews } = engine
  return {
    async add(command) {
      const there = of(command.sessionId)
      return there ? there.call('review.add', given(command)) : reviews.add(command)
    },
    update: (commentId, text) =>
      reviews.update(commentId, text).catch((error) => at(error)('review.update', { commentId, text })),
    remove: (commentId) =>
      reviews
        .remove(commentId)
        .catch(async (error) => void (await at(error)('review.remove', { commentId }))),
    async list(sessionId) {
      const there = of(sessionId)
      if (!there) return reviews.list(sessionId)
      return (await there.call<{ comments: [] }>('review.list', { sessionId })).comments
    },
    async send(command) {
      const there = of(command.sessionId)
      if (!there) return reviews.send(command)
      return placed(engine, there.machine, await there.call('review.send', given(command)))
    },
  }
}
