import { setTimeout as sleep } from 'node:timers/promises'
import { randomUUID } from 'node:crypto'
import type { Event } from '../../core/event.ts'
import {
  PROTOCOL,
  type Caller,
  type Called,
  type EventPage,
  type Hello,
  type MachineLink,
  type Reach,
} from '../link.ts'
import { linkTo } from '../native-link.ts'
import { openBus, type Bus } from './bus.ts'
import { Outbox } from './outbox.ts'
import { MISSED, Presence, type Beat } from './presence.ts'
import { Reader } from './reader.ts'
import { createRequests, NobodyThere, type Requests } from './requests.ts'

export interface FleetSettings {
  url: string
  /** A file that lets this machine in. */
  credentials: string | null
  /** A file with the key that the machines of the fleet share; null: whoever runs NATS can read what they say. */
  key: string | null
  name: string
  /** Others see the sessions of this machine and act on them; otherwise it only looks. */
  share: boolean
  heartbeatMs: number
}

export interface MembershipDeps {
  settings: FleetSettings
  /** The socket of this daemon. */
  socket: string
  /** Another machine is there, or has gone. */
  seen(name: string): void
  warn(message: string, error?: unknown): void
}

export type MembershipState = { state: 'joined' } | { state: 'joining'; reason: string | null }

const FIRST_WAIT_MS = 250
const LAST_WAIT_MS = 10_000
/** So long somebody who has our name may take to say so. */
const ANSWER_MS = 3000

/** All that stands while one connection does. */
interface Standing {
  bus: Bus
  presence: Presence
  requests: Requests
}

/** This machine in a fleet on NATS, over one connection after the other. */
export class Membership {
  readonly #deps: MembershipDeps
  readonly #closing = new AbortController()
  readonly #run: string = randomUUID()
  readonly #done: Promise<void>
  /** Whoever waits for a machine to appear. */
  readonly #awaited = new Set<() => void>()
  /** What looks when something has changed about a machine. */
  readonly #lookers = new Map<string, () => void>()
  /** Who has our name and does not say so; it may be a process that is gone. */
  #rival: { revision: number; since: number } | null = null
  #standing: Standing | null = null
  #reason: string | null = null

  constructor(deps: MembershipDeps) {
    this.#deps = deps
    this.#done = this.#stayConnected()
  }

  get state(): MembershipState {
    return this.#standing ? { state: 'joined' } : { state: 'joining', reason: this.#reason }
  }

  /** Who is there, but for this machine. */
  names(): string[] {
    const { name } = this.#deps.settings
    return this.#standing?.presence.names().filter((one) => one !== name) ?? []
  }

  /** How to reach a machine of the fleet. Says once that it is not there, and waits for it when it is asked again. */
  reach(machine: string): Reach {
    let isTold = false
    return async (signal) => {
      if (!this.#isThere(machine)) {
        if (!isTold) {
          isTold = true
          throw new Error(this.#whyNot())
        }
        await this.#appearance(machine, signal)
      }
      isTold = false
      return this.#link(machine)
    }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#done
  }

  #isThere(machine: string): boolean {
    return (this.#standing?.presence.get(machine) ?? null) !== null
  }

  #whyNot(): string {
    if (this.#standing) return 'it is not in the fleet now'
    return this.#reason ?? 'this machine is not in the fleet yet'
  }

  async #appearance(machine: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !this.#isThere(machine)) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#awaited.add(resolve)
      signal.addEventListener('abort', () => resolve(), { once: true })
      await promise
      this.#awaited.delete(resolve)
    }
    if (signal.aborted) throw new Error('not any more')
  }

  #told(name: string): void {
    if (name !== this.#deps.settings.name) this.#deps.seen(name)
    this.#lookers.get(name)?.()
    for (const awake of this.#awaited) awake()
  }

  async #stayConnected(): Promise<void> {
    const { signal } = this.#closing
    for (let wait = FIRST_WAIT_MS; !signal.aborted; wait = Math.min(wait * 2, LAST_WAIT_MS)) {
      this.#reason = await this.#connection(() => (wait = FIRST_WAIT_MS))
      if (signal.aborted) return
      this.#deps.warn(`not in the fleet: ${this.#reason}`)
      await sleep(wait, undefined, { signal }).catch(() => {})
    }
  }

  /** One connection, from its beginning to its end; resolves with why it ended. */
  async #connection(stands: () => void): Promise<string> {
    const { settings, warn } = this.#deps
    const { url, credentials, key, name: me } = settings
    let bus: Bus | null = null
    let own: MachineLink | null = null
    try {
      bus = await openBus({ url, credentials, key, me, warn })
      const presence = await Presence.open(bus, (name) => this.#told(name))
      const standing = { bus, presence, requests: createRequests(bus, me) }
      const stopped = new Promise<string>((resolve) =>
        this.#closing.signal.addEventListener('abort', () => resolve('stopped'), { once: true }),
      )
      own = settings.share ? await linkTo(this.#deps.socket) : null
      const work = own ? await this.#share(standing, own) : null
      this.#standing = standing
      stands()
      for (const name of presence.names()) this.#told(name)
      const why = await Promise.race([bus.closed, stopped, ...(work ? [work()] : [])])
      if (this.#closing.signal.aborted && work) await presence.leave(me).catch(() => {})
      return why
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    } finally {
      this.#standing = null
      own?.close()
      await bus?.close()
      for (const awake of this.#awaited) awake()
    }
  }

  /** Others see this machine from now on. What it resolves with starts work that ends only when that does. */
  async #share(standing: Standing, own: MachineLink): Promise<() => Promise<never>> {
    const { bus, presence, requests } = standing
    const { name: me } = this.#deps.settings
    const { log, head } = await own.hello()
    const outbox = await Outbox.open({ bus, own, me, log, head })
    const beat = async (): Promise<boolean> => presence.beat(me, await this.#beat(own, outbox))
    if (!(await beat())) {
      await this.#takeName(standing)
      if (!(await beat())) throw nameIsTaken(me)
    }
    serve(requests, own, this.#run, outbox)
    return () => Promise.race([outbox.run(), this.#beating(bus, beat)])
  }

  async #beat(own: MachineLink, { published }: Outbox): Promise<Beat> {
    const { version, protocol, log, head } = await own.hello()
    return {
      run: this.#run,
      version,
      protocol,
      log,
      head,
      published,
      everyMs: this.#deps.settings.heartbeatMs,
    }
  }

  async #beating(bus: Bus, beat: () => Promise<boolean>): Promise<never> {
    const { name, heartbeatMs } = this.#deps.settings
    for (;;) {
      await sleep(heartbeatMs, undefined, { signal: this.#closing.signal })
      const isOurs = await beat().catch(async () => {
        await bus.ensure()
        return beat()
      })
      if (!isOurs) throw nameIsTaken(name)
    }
  }

  /** The entry of our name is that of another process: of this machine before it was started anew, or of one that is there. */
  async #takeName({ presence, requests }: Standing): Promise<void> {
    const { name } = this.#deps.settings
    const patience = AbortSignal.any([AbortSignal.timeout(ANSWER_MS), this.#closing.signal])
    const isGone = await requests.ask('look', name, { method: 'run', params: {} }, patience).then(
      () => false,
      async (error: unknown) => error instanceof NobodyThere || this.#isSilent(await presence.entry(name)),
    )
    if (!isGone) throw nameIsTaken(name)
    await presence.takeOver(name)
  }

  /** Its connection may be open at the server although it is gone. Then its heartbeats do not come. */
  #isSilent(entry: { revision: number; beat: Beat } | null): boolean {
    if (!entry) return true
    const { revision, beat } = entry
    const now = performance.now()
    if (this.#rival?.revision !== revision) this.#rival = { revision, since: now }
    return now - this.#rival.since > MISSED * beat.everyMs
  }

  /** Stands as long as our connection does, and as the machine is the same process. */
  #link(machine: string): MachineLink {
    const standing = this.#standing!
    const { presence, requests, bus } = standing
    const { run } = presence.get(machine)!
    const over = new AbortController()
    let reader: Reader | null = null
    const look = (): void => {
      if (presence.get(machine)?.run !== run) over.abort()
      reader?.nudge()
    }
    this.#lookers.set(machine, look)
    const close = (): void => {
      if (this.#lookers.get(machine) === look) this.#lookers.delete(machine)
      over.abort()
    }
    void bus.closed.then(close)
    const ask = async <T>(kind: 'look' | 'act', method: string, params: object = {}): Promise<T> => {
      try {
        return (await requests.ask(
          kind,
          machine,
          { method, params, ...(kind === 'act' && { run }) },
          over.signal,
        )) as T
      } catch (error) {
        if (error instanceof NobodyThere) presence.miss(machine)
        throw error
      }
    }
    const events = (after: number, to: number): Promise<EventPage> => ask('look', 'events', { after, to })
    return {
      events,
      hello: () => ask<Hello>('look', 'hello'),
      sessions: () => ask<string[]>('look', 'sessions'),
      beginning: (sessionId) => ask<Event[]>('look', 'beginning', { sessionId }),
      eventAt: (seq) => ask<Event | null>('look', 'eventAt', { seq }),
      async follow({ log, seq }, deliver) {
        await bus.ensure()
        const published = (): number => presence.get(machine)?.published ?? 0
        reader = new Reader({ bus, machine, log, published, ask: events, signal: over.signal }, seq)
        return reader.run(deliver)
      },
      call: (method, params, caller) => ask<Called>('act', 'call', { method, params, caller }),
      close,
    }
  }
}

/** What others may ask this machine; it is asked of its own daemon, where it is checked like everything else. */
function serve({ serve: answer }: Requests, own: MachineLink, run: string, outbox: Outbox): void {
  const looks: Record<string, (params: never) => Promise<unknown>> = {
    run: () => Promise.resolve(run),
    hello: async () => ({ ...(await own.hello()), published: outbox.published }),
    sessions: () => own.sessions(),
    beginning: ({ sessionId }: { sessionId: string }) => own.beginning(sessionId),
    eventAt: ({ seq }: { seq: number }) => own.eventAt(seq),
    events: ({ after, to }: { after: number; to: number }) => own.events(after, to),
  }
  answer('look', run, async (method, params) => {
    const look = looks[method]
    if (!look) throw new Error(`a Corral with protocol ${PROTOCOL} cannot tell ${method}`)
    return look(params)
  })
  answer(
    'act',
    run,
    (_, { method, params, caller }: { method: string; params: unknown; caller: Caller | null }) =>
      own.call(method, params, caller),
  )
}

function nameIsTaken(name: string): Error {
  return new Error(`another machine of the fleet is called ${name}; give this one its own name (fleet.name)`)
}
