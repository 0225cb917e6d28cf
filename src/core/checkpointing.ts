import {
  isStart,
  refOf,
  type Checkpoint,
  type CheckpointKind,
  type WorkState,
  type WorkTrees,
} from './checkpoint.ts'
import type { Drafts } from './draft.ts'
import { asCorralError } from './error.ts'
import type { EventBody } from './event.ts'
import type { Log } from './ports.ts'
import type { Session } from './session.ts'

interface CheckpointingDeps {
  drafts: Drafts
  log: Log
  workTrees: WorkTrees
  /** The agent gets its message after this long, with or without a checkpoint. */
  waitMs: number
  warn: (message: string, error: unknown) => void
}

/** So many states of one session can be gone back to. */
const MAX_KEPT = 100

/** A state and what it is to be known as. */
type Name = Pick<Checkpoint, 'id' | 'kind'>

/** Keeps the states of sessions' files: before each turn, before its agent has heard of it, and after it. */
export class Checkpointing {
  readonly #deps: CheckpointingDeps
  /** What is under way, by session. */
  readonly #pending = new Map<string, Promise<unknown>>()
  /** Turns whose agents may be at work, by session. */
  readonly #begun = new Map<string, string>()
  /** The last trouble that somebody was told of, by session: the same is not told again. */
  readonly #told = new Map<string, string>()
  readonly #restoring = new Set<Promise<unknown>>()

  constructor(deps: CheckpointingDeps) {
    this.#deps = deps
  }

  /**
   * Resolves when the agent may have the message; never fails. `ended`: the turn that this one follows at once. What comes too
   * late is not kept: it might have the agent's own work in it.
   */
  async before(sessionId: string, turnId: string, ended: string | null): Promise<void> {
    const { waitMs } = this.#deps
    await Promise.allSettled(this.#restoring)
    const names: Name[] = [{ id: turnId, kind: 'before' }]
    if (ended !== null) names.unshift({ id: ended, kind: 'after' })
    const late = Promise.withResolvers<'late'>()
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      late.resolve('late')
    }, waitMs)
    const taken = this.#follow(sessionId, () => this.#take(sessionId, names, () => !isLate))
    try {
      if ((await Promise.race([taken, late.promise])) === 'late')
        this.#tell(sessionId, `git took longer than ${waitMs / 1000} seconds`)
    } catch (thrown) {
      this.#tell(sessionId, asCorralError(thrown).message)
    } finally {
      clearTimeout(timer)
      taken.catch(() => {})
      this.#begun.set(sessionId, turnId)
    }
  }

  /** A turn is over, and no other has begun in the same moment. */
  after(sessionId: string, turnId: string): void {
    this.#begun.delete(sessionId)
    const isAtRest = (): boolean => {
      const { turn } = this.#deps.drafts.peek(sessionId) ?? {}
      return !turn || this.#begun.get(sessionId) !== turn.id
    }
    this.#follow(sessionId, () => this.#take(sessionId, [{ id: turnId, kind: 'after' }], isAtRest)).catch(
      (error) => this.#deps.warn(`keeping what a turn of session ${sessionId} has left`, error),
    )
  }

  /** Nobody goes back to anything in a session that is gone. */
  forget(sessionId: string): Promise<void> {
    const { log, workTrees, warn } = this.#deps
    this.#begun.delete(sessionId)
    this.#told.delete(sessionId)
    const work = async (): Promise<void> => {
      const repositories = new Set(log.checkpoints(sessionId).map(({ repository }) => repository))
      if (repositories.size === 0) return
      for (const repository of repositories) await workTrees.forget(repository, sessionId)
      await log.append({ events: [], writes: [{ op: 'checkpoints.drop', sessionId }] })
    }
    return this.#follow(sessionId, work).catch((error) =>
      warn(`removing the checkpoints of session ${sessionId}`, error),
    )
  }

  /** Resolves when nothing is under way: for one session, or at all. */
  async settled(sessionId?: string): Promise<void> {
    if (sessionId === undefined) await Promise.allSettled(this.#pending.values())
    else await this.#pending.get(sessionId)
  }

  /** No agent gets a message until this is done. */
  async restoring<T>(work: () => Promise<T>): Promise<T> {
    const running = work()
    this.#restoring.add(running)
    return running.finally(() => this.#restoring.delete(running))
  }

  /** Writes down under these names what there is now. */
  async record(
    session: Session,
    names: readonly Name[],
    state: WorkState,
    files: number | null = null,
  ): Promise<void> {
    const { drafts } = this.#deps
    const draft = drafts.of(session.id)
    if (!draft.state || draft.state.destroyed) return
    draft.add(...names.flatMap((name) => takenAs(session.id, name, state, files)))
    await draft.commit()
  }

  /** Refs for what was written down, and none for what is too old. */
  async keep(sessionId: string, repository: string): Promise<void> {
    const { log, workTrees } = this.#deps
    const rows = log.checkpoints(sessionId)
    const oldest = rows.filter(isStart)[MAX_KEPT - 1]?.seq ?? 0
    const isOld = ({ seq }: Checkpoint): boolean => seq < oldest
    const old = rows.filter(isOld)
    const kept = rows.filter((row) => !isOld(row) && row.repository === repository)
    const isTwice = (row: Checkpoint, next: Checkpoint | undefined): boolean =>
      !isStart(row) && next?.tree === row.tree
    // A turn usually begins with what the one before has left: one ref is enough for both.
    const twice = kept.filter((row, at) => isTwice(row, kept[at - 1]))
    const set = kept.slice(0, 3).filter((row) => !twice.includes(row))
    const remove = [...old.filter((row) => row.repository === repository), ...twice.slice(0, 3)]
    await workTrees.keep(repository, {
      set: set.map(({ ref, tree }) => [ref, tree]),
      remove: remove.map(({ ref }) => ref),
    })
    if (old.length > 0)
      await log.append({ events: [], writes: [{ op: 'checkpoints.drop', sessionId, before: oldest }] })
  }

  async #take(sessionId: string, names: readonly Name[], isWanted: () => boolean): Promise<void> {
    const { drafts, log, workTrees, warn } = this.#deps
    const session = drafts.peek(sessionId)
    if (!session || session.destroyed || !canChangeFiles(session)) return
    const last = names.at(-1)!
    const rows = log.checkpoints(sessionId)
    // A daemon before this one has got as far as that.
    if (rows.some(({ id, kind }) => id === last.id && kind === last.kind)) return
    const state = await workTrees.take(session.cwd)
    if (!state || !isWanted()) return
    const files = await this.#filesOf(session, names, state, rows)
    if (!isWanted()) return
    await this.record(session, names, state, files)
    const follow = async (): Promise<void> => {
      await this.keep(sessionId, state.repository)
      if (last.kind === 'after') await workTrees.tidy(session.cwd)
    }
    void this.#follow(sessionId, follow).catch((error) => warn(`keeping a checkpoint of ${sessionId}`, error))
  }

  /** Only where nobody waits. */
  async #filesOf(
    { cwd }: Session,
    names: readonly Name[],
    { tree }: WorkState,
    rows: readonly Checkpoint[],
  ): Promise<number | null> {
    const [name] = names
    const from = rows.find(({ id, kind }) => id === name?.id && kind === 'before')
    if (name?.kind !== 'after' || !from) return null
    if (from.tree === tree) return 0
    if (names.length > 1) return null
    return this.#deps.workTrees.count(cwd, from.tree, tree).catch(() => null)
  }

  #tell(sessionId: string, why: string): void {
    const { drafts, warn } = this.#deps
    if (this.#told.get(sessionId) === why) return
    this.#told.set(sessionId, why)
    const draft = drafts.of(sessionId)
    if (!draft.state) return
    const message = `There is no checkpoint of this turn: ${why}`
    draft.add({ type: 'agent.notice', level: 'warning', code: 'no_checkpoint', message, data: null })
    draft.commit().catch((error) => warn(`saying that session ${sessionId} has no checkpoint`, error))
  }

  /** One thing after the other for each session. */
  #follow<T>(sessionId: string, work: () => Promise<T>): Promise<T> {
    const done = (this.#pending.get(sessionId) ?? Promise.resolve()).then(work)
    const settled = done
      .catch(() => {})
      .then(() => {
        if (this.#pending.get(sessionId) === settled) this.#pending.delete(sessionId)
      })
    this.#pending.set(sessionId, settled)
    return done
  }
}

/** An agent without tools of its own has nothing to change files with. */
function canChangeFiles({ settings }: Session): boolean {
  return settings.ownTools !== false
}

function takenAs(sessionId: string, { id, kind }: Name, state: WorkState, files: number | null): EventBody[] {
  const ref = refOf(sessionId, id, kind)
  if (ref === null) return []
  const { tree, repository, left } = state
  const changed = kind === ('after' satisfies CheckpointKind) ? files : null
  return [{ type: 'checkpoint.taken', checkpointId: id, kind, tree, ref, repository, files: changed, left }]
}
