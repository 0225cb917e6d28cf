import type { Engine } from '../core/api.ts'
import { CorralError } from '../core/error.ts'
import { NO_SESSION, type Event } from '../core/event.ts'
import type { LogCursor } from '../core/machine.ts'
import { oneByOne } from '../core/one-by-one.ts'
import { PROTOCOL, type Caller, type Hello, type MachineLink, type Reach } from './link.ts'

const FIRST_WAIT_MS = 250
const LAST_WAIT_MS = 30_000
/** So long a command waits until what it did is here too. */
const ARRIVAL_MS = 10_000

export type MemberState =
  | { state: 'here'; version: string; behind: number }
  | { state: 'connecting' }
  | { state: 'away'; reason: string; since: number }

interface MemberDeps {
  name: string
  reach: Reach
  engine: Engine
  now(): number
  warn(message: string, error?: unknown): void
}

/** One other machine: follows its log into ours, over one connection after the other, and carries commands to it. */
export class Member {
  readonly #deps: MemberDeps
  readonly #closing = new AbortController()
  readonly #waiting = new Set<() => void>()
  readonly #inTurn = oneByOne()
  #link: MachineLink | null = null
  #hello: Hello | null = null
  #away: { reason: string; since: number } | null = null
  readonly #done: Promise<void>

  constructor(deps: MemberDeps) {
    this.#deps = deps
    this.#done = this.#stayConnected()
  }

  get state(): MemberState {
    if (this.#link && this.#hello) {
      const { version, head } = this.#hello
      return { state: 'here', version, behind: Math.max(0, head - (this.#cursor?.seq ?? 0)) }
    }
    return this.#away ? { state: 'away', ...this.#away } : { state: 'connecting' }
  }

  /** Carries a command there; resolves when what came of it is in our log too. */
  async call(method: string, params: unknown, caller: Caller | null): Promise<unknown> {
    const link = this.#link
    if (!link || !this.#hello) throw this.#unreachable()
    const { result, head } = await link.call(method, params, caller).catch((error: unknown) => {
      throw this.#refusal(error)
    })
    await this.#arrival(head)
    return result
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#link?.close()
    await this.#done
  }

  get #cursor(): LogCursor | null {
    return this.#deps.engine.copies.machines().find(({ name }) => name === this.#deps.name)?.cursor ?? null
  }

  async #stayConnected(): Promise<void> {
    const { signal } = this.#closing
    for (let wait = FIRST_WAIT_MS; !signal.aborted; wait = Math.min(wait * 2, LAST_WAIT_MS)) {
      const reason = await this.#connection(() => (wait = FIRST_WAIT_MS))
      if (signal.aborted) return
      this.#away = { reason, since: this.#away?.since ?? this.#deps.now() }
      await pause(wait, signal)
    }
  }

  /** One connection, from its beginning to its end; resolves with why it ended. */
  async #connection(stands: () => void): Promise<string> {
    let link: MachineLink | null = null
    try {
      link = await this.#deps.reach(this.#closing.signal)
      const hello = await link.hello()
      if (hello.protocol !== PROTOCOL) return otherVersion(hello)
      const cursor = await this.#place(link, hello)
      this.#link = link
      this.#hello = hello
      this.#away = null
      stands()
      const following = this.#following(link, hello, cursor)
      await Promise.race([following, this.#strays(link).then(() => following)])
      return 'the connection ended'
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    } finally {
      link?.close()
      this.#link = null
      for (const arrived of this.#waiting) arrived()
    }
  }

  #following(link: MachineLink, { log }: Hello, cursor: LogCursor): Promise<never> {
    return link.follow(cursor, async (events) => {
      await this.#inTurn(() => this.#copy(link, log, events))
      for (const arrived of this.#waiting) arrived()
    })
  }

  /** Where to read on. Another log that begins like the one that we know goes on where that one was cut off. */
  async #place(link: MachineLink, { log, head }: Hello): Promise<LogCursor> {
    const { engine, name } = this.#deps
    const known = this.#cursor
    if (!known) return { log, seq: 0 }
    if (known.log === log && known.seq <= head) return known
    const seq = engine.copies.seqOf(name, known.seq)
    const [last] = seq > 0 ? engine.events.read({ after: seq - 1, before: seq + 1, limit: 1 }) : []
    const there = last?.event.ownerSeq === undefined ? null : await link.eventAt(last.event.ownerSeq)
    if (last && there && isSame(last.event, there)) return { log, seq: there.seq }
    this.#deps.warn(`the log of ${name} is another one: its sessions are copied anew`)
    await engine.copies.reset(name)
    return { log, seq: 0 }
  }

  async #copy(link: MachineLink, log: string, given: Event[]): Promise<void> {
    const { engine, name: machine } = this.#deps
    const events: Event[] = []
    const begun = new Set<string>()
    for (const event of given) {
      const { sessionId } = event
      if (sessionId === NO_SESSION) continue
      if (event.type !== 'session.created' && !begun.has(sessionId) && !engine.copies.has(sessionId))
        events.push(...(await link.beginning(sessionId)))
      begun.add(sessionId)
      events.push(event)
    }
    await engine.copies.add({
      machine,
      cursor: { log, seq: given.at(-1)!.seq },
      events: known(engine, events),
    })
  }

  /**
   * Sessions of which nothing is left in the log there. All others come by themselves, so this waits until those have come that were there
   * when the list was made.
   */
  async #strays(link: MachineLink): Promise<void> {
    const { engine, name: machine } = this.#deps
    const ids = await link.sessions()
    const { head } = await link.hello()
    while ((this.#cursor?.seq ?? 0) < head) {
      if (this.#link !== link) return
      await this.#progress()
    }
    for (const id of ids) {
      if (engine.copies.has(id)) continue
      const events = await link.beginning(id)
      await this.#inTurn(async () => {
        const cursor = this.#cursor
        if (cursor && !engine.copies.has(id)) await engine.copies.add({ machine, cursor, events })
      })
    }
  }

  async #arrival(seq: number): Promise<void> {
    const until = this.#deps.now() + ARRIVAL_MS
    while ((this.#cursor?.seq ?? 0) < seq) {
      if (!this.#link || this.#deps.now() > until) throw this.#late()
      await this.#progress()
    }
  }

  #progress(): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer)
        this.#waiting.delete(done)
        resolve()
      }
      const timer = setTimeout(done, 1000)
      this.#waiting.add(done)
    })
  }

  #unreachable(): CorralError {
    const { name: machine } = this.#deps
    const why = this.#away ? `: ${this.#away.reason}` : ''
    return new CorralError('machine_unreachable', `${machine} does not answer${why}`, { machine })
  }

  #late(): CorralError {
    const { name: machine } = this.#deps
    const message = `${machine} has done it, but went away before it could be seen here`
    return new CorralError('machine_unreachable', message, { machine, done: true })
  }

  /** A refusal of the machine is ours; a lost connection leaves it open whether it was done. */
  #refusal(error: unknown): CorralError {
    const { code, data, message } = error as {
      code?: string
      data?: Record<string, unknown>
      message: string
    }
    if (code !== undefined && code !== 'connection_lost' && code !== 'closed' && code !== 'protocol')
      return new CorralError(code as CorralError['code'], message, data ?? {})
    const { name: machine } = this.#deps
    const words =
      code === 'protocol'
        ? `${machine} has another version of Corral, which cannot do that: ${message}`
        : `the connection to ${machine} was lost; look whether it was done`
    return new CorralError('machine_unreachable', words, { machine })
  }
}

function isSame(a: Event, b: Event): boolean {
  return a.type === b.type && a.at === b.at && a.sessionId === b.sessionId && a.turnId === b.turnId
}

/** What follows the end of a session that never was here is nothing. */
function known(engine: Engine, events: readonly Event[]): Event[] {
  const created = new Set<string>()
  return events.filter(({ type, sessionId }) => {
    if (type === 'session.created') created.add(sessionId)
    return created.has(sessionId) || engine.copies.has(sessionId)
  })
}

function otherVersion({ version, protocol }: Hello): string {
  const what = protocol < PROTOCOL ? 'older' : 'newer'
  return `it runs an ${what} Corral (${version}) that this one does not understand: upgrade ${protocol < PROTOCOL ? 'it' : 'this one'}`
}

/** Ends early when it is aborted. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done)
  })
}
