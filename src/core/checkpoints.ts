import type { Changes, ChangesRequest, Checkpoints, CheckpointView, RestorePreview } from './api.ts'
import {
  isStart,
  knownState,
  spanOf,
  type Checkpoint,
  type DiffRequest,
  type WorkTrees,
} from './checkpoint.ts'
import type { Checkpointing } from './checkpointing.ts'
import { existing, refuseWhenClosing, type EngineContext } from './context.ts'
import { CorralError } from './error.ts'
import type { Session } from './session.ts'

interface Deps extends EngineContext {
  /** Null: they are switched off, or nobody can take any. */
  readonly checkpointing: Checkpointing | null
}

/** Others that may have worked in the same directory are looked for among so many. */
const MAX_OTHERS = 200

/** Of so many it is counted when somebody looks. */
const MAX_COUNTED = 20

const OFF = 'Checkpoints are switched off (setting checkpoints.enabled)'
const NO_GIT = 'This directory is not in a git repository'

/** The noun `checkpoints` of the engine. */
export function createCheckpoints(context: Deps): Checkpoints {
  return {
    list: (sessionId) => list(context, sessionId),
    preview: (sessionId, id) => preview(context, sessionId, id),
    restore: (command) => restore(context, command),
    changes: (request) => changes(context, request),
  }
}

async function list(context: Deps, sessionId: string) {
  const { checkpointing, workTrees, log } = context
  const session = existing(context, sessionId)
  await checkpointing?.settled(sessionId)
  const rows = log.checkpoints(sessionId)
  const count = (from: string, to: string) => workTrees?.count(session.cwd, from, to) ?? null
  const checkpoints = await Promise.all(
    rows.filter(isStart).map((row, n) => viewOf(rows, row, n < MAX_COUNTED ? count : () => null)),
  )
  if (checkpoints.length > 0) return { checkpoints, reason: null }
  return { checkpoints, reason: await whyNone(context, session) }
}

/** Where the next turn did not wait, how many files one has changed was not counted then. */
async function viewOf(
  rows: readonly Checkpoint[],
  row: Checkpoint,
  count: (from: string, to: string) => Promise<number> | null,
): Promise<CheckpointView> {
  const { id, kind, at, ref, tree, left } = row
  const end = rows.find((other) => other.id === id && other.kind === 'after')
  const files = end ? (end.files ?? (await count(tree, end.tree)?.catch(() => null))) : null
  return {
    turnId: id,
    kind: kind === 'undo' ? 'undo' : 'turn',
    at,
    ref,
    tree,
    files: files ?? null,
    left,
  }
}

async function whyNone({ checkpointing, workTrees }: Deps, { cwd }: Session): Promise<string> {
  if (!workTrees || !checkpointing) return OFF
  try {
    return (await workTrees.root(cwd)) === null
      ? NO_GIT
      : 'No turn has been run since Corral takes checkpoints'
  } catch (error) {
    return (error as Error).message
  }
}

/** Where to go back to, and what with. */
async function found(
  context: Deps,
  sessionId: string,
  id: string,
): Promise<{
  session: Session
  row: Checkpoint
  rows: Checkpoint[]
  work: WorkTrees
  checkpointing: Checkpointing
}> {
  const session = existing(context, sessionId)
  const { workTrees: work, checkpointing } = context
  if (!work || !checkpointing) throw new CorralError('unsupported', OFF)
  await checkpointing.settled(sessionId)
  const rows = context.log.checkpoints(sessionId)
  const row = rows.find((one) => one.id === id && isStart(one))
  if (!row) {
    const message = `There is no checkpoint of turn ${id}; list them to see which there are`
    throw new CorralError('turn_not_found', message, { id })
  }
  return { session, row, rows, work, checkpointing }
}

async function preview(context: Deps, sessionId: string, id: string): Promise<RestorePreview> {
  const { session, row, rows, work } = await found(context, sessionId, id)
  const known = knownState(rows)?.tree ?? null
  const { files, conflicts, truncated } = await work.plan(session.cwd, { target: row.tree, known })
  const others = await othersAt(context, work, session)
  const busy = session.turn ? 'A turn is running in this session' : whoIsBusy(others)
  const canRestore = busy === null && conflicts.length === 0
  const warning =
    conflicts.length > 0 ? 'Work that is not of this session would be lost' : whoElse(others, row)
  return { files, truncated, conflicts, canRestore, reason: busy ?? warning }
}

interface Other {
  id: string
  activeAt: number
  running: boolean
}

/** Sessions that work on the same files. */
async function othersAt({ log }: Deps, work: WorkTrees, session: Session): Promise<Other[]> {
  const root = await work.root(session.cwd)
  const all = [...log.unfinished(), ...log.sessions({ limit: MAX_OTHERS })]
  const others = new Map(
    all.filter(({ id, destroyed }) => id !== session.id && !destroyed).map((one) => [one.id, one]),
  )
  const roots = new Map<string, string | null>()
  const found: Other[] = []
  for (const { id, cwd, activeAt, turn } of others.values()) {
    if (!roots.has(cwd)) roots.set(cwd, await work.root(cwd).catch(() => null))
    if (roots.get(cwd) === root) found.push({ id, activeAt, running: turn !== null })
  }
  return found
}

function whoIsBusy(others: readonly Other[]): string | null {
  const busy = others.find(({ running }) => running)
  return busy ? `Another session is working in this directory: ${busy.id}` : null
}

function whoElse(others: readonly Other[], { at }: Checkpoint): string | null {
  const other = others.find(({ activeAt }) => activeAt > at)
  return other ? `Another session has worked in this directory since: ${other.id}` : null
}

async function restore(
  context: Deps,
  { sessionId, id, force = false }: { sessionId: string; id: string; force?: boolean },
) {
  refuseWhenClosing(context)
  const { checkpointing } = context
  if (!checkpointing) throw new CorralError('unsupported', OFF)
  if (existing(context, sessionId).turn)
    throw busyWith('A turn is running; wait for it, or interrupt it', sessionId)
  return checkpointing.restoring(async () => {
    const { session, row, rows, work } = await found(context, sessionId, id)
    const busy = (await othersAt(context, work, session)).find(({ running }) => running)
    if (busy) throw busyWith(`Another session is working in this directory: ${busy.id}; wait for it`, busy.id)
    const undo = context.newId()
    const known = knownState(rows)?.tree ?? null
    let repository = row.repository
    const { tree, files } = await work.restore(session.cwd, {
      target: row.tree,
      known,
      force,
      async save(state) {
        repository = state.repository
        await checkpointing.record(session, [{ id: undo, kind: 'undo' }], state)
        await checkpointing.keep(sessionId, repository)
      },
    })
    await checkpointing.record(session, [{ id: undo, kind: 'restored' }], { tree, repository, left: [] })
    const draft = context.drafts.of(sessionId)
    draft.add({ type: 'checkpoint.restored', checkpointId: id, undo, tree, files })
    await draft.commit()
    await checkpointing.keep(sessionId, repository)
    return { restored: files, undo: { turnId: undo } }
  })
}

function busyWith(message: string, sessionId: string): CorralError {
  return new CorralError('conversation_busy', message, { reason: 'turn_running', sessionId })
}

async function changes(context: Deps, request: ChangesRequest): Promise<Changes> {
  const { sessionId, scope, path, brief = false } = request
  const session = existing(context, sessionId)
  const { workTrees: work, checkpointing } = context
  const nothing = (reason: string, turnId: string | null = null): Changes => ({
    scope,
    turnId,
    base: null,
    files: [],
    truncated: false,
    reason,
  })
  if (!work) return nothing(OFF)
  if ((await work.root(session.cwd)) === null) return nothing(NO_GIT)
  await checkpointing?.settled(sessionId)
  const wanted = whatToCompare(context.log.checkpoints(sessionId), session, request)
  if ('reason' in wanted) return nothing(wanted.reason, wanted.turnId)
  const { turnId, ...diff } = wanted
  return {
    scope,
    turnId,
    ...(await work.diff(session.cwd, { ...diff, brief, ...(path !== undefined && { path }) })),
  }
}

type Compared =
  | (Pick<DiffRequest, 'from' | 'to'> & { turnId: string | null })
  | { reason: string; turnId: string | null }

function whatToCompare(rows: readonly Checkpoint[], session: Session, request: ChangesRequest): Compared {
  switch (request.scope) {
    case 'uncommitted':
      return { turnId: null, from: 'head', to: null }
    case 'branch':
      return { turnId: null, from: { branchOf: session.id }, to: null }
    case 'session': {
      const first = rows.findLast(isStart)
      if (!first) return { turnId: null, reason: 'This session has no checkpoint to compare with' }
      return { turnId: null, from: { tree: first.tree }, to: null }
    }
    case 'turn': {
      const turnId =
        request.turnId ?? session.turn?.id ?? rows.find(({ kind }) => kind === 'before')?.id ?? null
      const span = turnId === null ? null : spanOf(rows, turnId)
      if (!span) return { turnId, reason: 'There is no checkpoint of this turn to compare with' }
      return { turnId, from: { tree: span.from.tree }, to: span.to?.tree ?? null }
    }
  }
}
