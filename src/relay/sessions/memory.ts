import { createHash } from 'node:crypto'
import { mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Ask, Block } from '../ask.ts'
import { RelayFailure } from '../failure.ts'
import { inTurns } from '../reading/turns.ts'
import { continued, type Continued, EMPTY } from './conversation.ts'
import { append, conversationsIn, type Entry, readConversation, write } from './conversation-file.ts'
import { createLanes } from './slots.ts'
import { grown, type Known, NOTHING } from './history.ts'

/** A call of a named session, from its beginning to its end. Nobody else has the session meanwhile. */
export interface Recalled {
  /** The call with everything that was said before it. */
  ask: Ask
  /** The answer becomes part of the conversation; resolves when that is on disk. */
  keep(said: readonly Block[]): Promise<void>
  /** The caller has the answer: should it say the same again, it means to. */
  heard(): Promise<void>
  /** The caller has nothing of the answer: the call is taken back. */
  undo(): Promise<void>
  /** Lets the next call in. */
  leave(): void
}

/**
 * What was said under each name, as its callers know it. Whoever answers is told all of it, so it does not matter who answered
 * before, how that ended, and whether an agent still has it in mind.
 */
export interface Memory {
  recall(name: string, ask: Ask, signal: AbortSignal): Promise<Recalled>
  has(name: string): boolean
  count(): number
  /** False: there was none. */
  forget(name: string): boolean
  /** There is one of this name, and nothing was said in it yet. */
  begin(name: string): void
  /** Forgets those that nobody has used since; these were they. */
  expire(before: number): string[]
  /** Those that an earlier daemon left. */
  restore(): Promise<void>
}

interface MemoryDeps {
  directory: string
  /** Calls of one name that wait. */
  maxWaiting: number
  now: () => number
  /** What all files may have together; beyond that, conversations that nobody has used for longest go. */
  maxBytes?: number
  /** This much was said under a name, and is written down. */
  kept: (name: string, known: Known) => Promise<void>
  onProblem: (problem: string) => void
}

interface Named {
  path: string
  usedAt: number
  /** A call has it. */
  busy: boolean
  /** The size of its file; 0: there is none. */
  bytes: number
}

/** A longer one no model would take. */
const MAX_BYTES = 64 * 1024 * 1024
const MAX_NAMES = 10_000
const ALL_BYTES = 1024 * 1024 * 1024

/** All that is remembered. */
interface Shelf extends MemoryDeps {
  names: Map<string, Named>
  /** The size of all files together. */
  total: number
}

export function createMemory(deps: MemoryDeps): Memory {
  const shelf: Shelf = { ...deps, names: new Map(), total: 0 }
  const { directory, names, now } = shelf
  const lanes = createLanes(deps.maxWaiting)
  mkdirSync(directory, { recursive: true, mode: 0o700 })

  return {
    forget: (name) => forget(shelf, name),
    begin: (name) => void begin(shelf, name),
    has: (name) => names.has(name),
    count: () => names.size,
    async recall(name, ask, signal) {
      const leaveLane = await lanes.enter(name, signal)
      const named = names.get(name) ?? begin(shelf, name)
      named.busy = true
      const leave = (): void => {
        named.busy = false
        named.usedAt = now()
        leaveLane()
      }
      try {
        return { ...recalled(shelf, name, named, await read(shelf, named, ask)), leave }
      } catch (error) {
        leave()
        throw error
      }
    },
    expire(before) {
      const idle = [...names].filter(([, { busy, usedAt }]) => !busy && usedAt < before)
      return idle.map(([name]) => name).filter((name) => forget(shelf, name))
    },
    async restore() {
      for (const { name, path, bytes } of await conversationsIn(directory)) {
        const named = { path, usedAt: now(), busy: false, bytes: 0 }
        names.set(name, named)
        grew(shelf, named, bytes)
      }
    },
  }
}

function begin(shelf: Shelf, name: string): Named {
  const { names, directory, now } = shelf
  if (names.size >= MAX_NAMES) makeRoom(shelf)
  const file = `${createHash('sha256').update(name).digest('hex')}.jsonl`
  const named = { path: join(directory, file), usedAt: now(), busy: false, bytes: 0 }
  names.set(name, named)
  return named
}

/** Programs may make up a name for every call: the one that nobody has used for longest goes. False: all are in use. */
function makeRoom(shelf: Shelf): boolean {
  const idle = [...shelf.names].filter(([, { busy }]) => !busy)
  const oldest = idle.reduce((one, other) => (other[1].usedAt < one[1].usedAt ? other : one), idle[0]!)
  return oldest !== undefined && forget(shelf, oldest[0])
}

function grew(shelf: Shelf, named: Named, bytes: number): void {
  const { maxBytes = ALL_BYTES } = shelf
  shelf.total += bytes - named.bytes
  named.bytes = bytes
  while (shelf.total > maxBytes && makeRoom(shelf));
}

function forget(shelf: Shelf, name: string): boolean {
  const named = shelf.names.get(name)
  if (!named) return false
  shelf.names.delete(name)
  shelf.total -= named.bytes
  remove(shelf, named)
  return true
}

function remove({ onProblem }: Shelf, { path }: Named): void {
  try {
    rmSync(path, { force: true })
  } catch (error) {
    onProblem(`${path} cannot be removed: ${(error as Error).message}`)
  }
}

async function read(shelf: Shelf, named: Named, ask: Ask): Promise<Continued> {
  // Somebody may have removed it by hand.
  if (named.bytes > 0) grew(shelf, named, statSync(named.path, { throwIfNoEntry: false })?.size ?? 0)
  if (named.bytes === 0) return continued(EMPTY, ask)
  if (named.bytes <= MAX_BYTES) return continued(await readConversation(named.path), ask)
  if (ask.messages.length > 1) return { ...continued(EMPTY, ask), place: 'all' }
  const message = `The session holds more than ${MAX_BYTES} bytes: reset it, or send the conversation itself`
  throw new RelayFailure(413, 'request_too_large', message)
}

function recalled(
  shelf: Shelf,
  name: string,
  named: Named,
  { ask, place, added, grounds }: Continued,
): Omit<Recalled, 'leave'> {
  /** The answer is given: that this could not be written is no reason to take it back. */
  async function afterwards(entry: Entry): Promise<void> {
    await record(shelf, name, named, [entry]).catch(() => undefined)
  }

  return {
    ask,
    async keep(said) {
      const answer = [...said]
      const entries: Entry[] = [...(grounds ? [{ grounds }] : []), { messages: added, answer }]
      const isKept =
        place === 'all' || named.bytes === 0
          ? await record(shelf, name, named, [{ name }, ...entries], write)
          : await record(shelf, name, named, place === 'last' ? [{ undone: true }, ...entries] : entries)
      if (!isKept) return
      const all = inTurns([...ask.messages, { role: 'assistant', content: answer }])
      await shelf.kept(name, grown(NOTHING, all))
    },
    heard: () => afterwards({ heard: true }),
    undo: () => afterwards({ undone: true }),
  }
}

/** False: somebody has forgotten the session during the call, or while it was being written. */
async function record(
  shelf: Shelf,
  name: string,
  named: Named,
  entries: readonly Entry[],
  how = append,
): Promise<boolean> {
  const isThere = (): boolean => shelf.names.get(name) === named
  if (!isThere()) return false
  try {
    await how(named.path, entries)
    if (!isThere()) {
      remove(shelf, named)
      return false
    }
    grew(shelf, named, statSync(named.path).size)
    return true
  } catch (error) {
    const { message } = error as Error
    shelf.onProblem(`${named.path} cannot be written: ${message}`)
    throw new RelayFailure(503, 'api_error', `What was said cannot be written down: ${message}`)
  }
}
