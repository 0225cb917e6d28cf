import { setTimeout as sleep } from 'node:timers/promises'
import type { Bus } from './bus.ts'
import { subjects } from './subjects.ts'

/** What a machine says of itself, again and again while it is there. */
export interface Beat {
  /** Of this process: another one is another machine, or the same one after a new start. */
  run: string
  version: string
  protocol: number
  log: string
  /** How far the log is, and how far it is in the stream. */
  head: number
  published: number
  /** When the next one comes at the latest. */
  everyMs: number
}

/** After so many heartbeats that did not come, a machine is gone. */
export const MISSED = 3
/** When it is looked up what was heard. */
const LOOKS_MS = [0, 100, 400]

type Told = (name: string) => void

/** Who is there, as their heartbeats say. Only the time between them counts, by the clock of this machine. */
export class Presence {
  readonly #bus: Bus
  readonly #told: Told
  readonly #present = new Map<string, { beat: Beat; timer: NodeJS.Timeout }>()
  #revision = 0

  private constructor(bus: Bus, told: Told) {
    this.#bus = bus
    this.#told = told
  }

  /** `told`: something has changed about a machine. */
  static async open(bus: Bus, told: Told): Promise<Presence> {
    const presence = new Presence(bus, told)
    bus.subscribe(subjects.allPresence, ({ subject, data }) =>
      presence.#overhear(subject.split('.').at(-1)!, parse(data)),
    )
    void bus.closed.then(() => presence.#forgetAll())
    await Promise.all((await bus.names()).map((name) => presence.#first(name)))
    return presence
  }

  get(name: string): Beat | null {
    return this.#present.get(name)?.beat ?? null
  }

  names(): string[] {
    return [...this.#present.keys()]
  }

  /** It did not answer where it listens: then it is not there, whatever it said last. */
  miss(name: string): void {
    const known = this.#present.get(name)
    if (!known) return
    clearTimeout(known.timer)
    this.#present.delete(name)
    this.#told(name)
  }

  /** Writes down that this machine is there. False: the entry of this name is that of another process. */
  async beat(name: string, beat: Beat): Promise<boolean> {
    if (this.#revision === 0) {
      const entry = await this.entry(name)
      if (entry && entry.beat.run !== beat.run) return false
      this.#revision = entry?.revision ?? 0
    }
    const revision = await this.#bus.presence.write(name, JSON.stringify(beat), this.#revision)
    if (revision !== null) {
      this.#revision = revision
      return true
    }
    this.#revision = 0
    return this.beat(name, beat)
  }

  async entry(name: string): Promise<{ revision: number; beat: Beat } | null> {
    const entry = await this.#bus.presence.read(name)
    if (!entry) return null
    const beat = entry.data && parse(entry.data)
    if (!beat) throw new Error(`${name} is in the fleet with another key than this machine has (fleet.key)`)
    return { revision: entry.revision, beat }
  }

  /** Takes the entry over from a process that is gone. */
  async takeOver(name: string): Promise<void> {
    this.#revision = (await this.entry(name))?.revision ?? 0
  }

  async leave(name: string): Promise<void> {
    if (this.#revision > 0) await this.#bus.presence.remove(name, this.#revision)
  }

  /** What is written is heard even if the bucket then refuses it, so all but one more beat of the same process is looked up. */
  #overhear(name: string, beat: Beat | null): void {
    if (beat && beat.run === this.get(name)?.run) this.#hear(name, beat)
    else void this.#lookUp(name, beat?.run).catch(() => {}) // The next beat is looked up again.
  }

  async #first(name: string): Promise<void> {
    const entry = await this.#bus.presence.read(name)
    if (entry?.data && !this.#present.has(name)) this.#hear(name, parse(entry.data))
  }

  /** `run`: what was heard. It is heard a little before it is in the bucket. */
  async #lookUp(name: string, run: string | undefined): Promise<void> {
    let beat: Beat | null = null
    for (const wait of LOOKS_MS) {
      await sleep(wait)
      const entry = await this.#bus.presence.read(name)
      beat = entry?.data ? parse(entry.data) : null
      if (beat?.run === run) break
    }
    this.#hear(name, beat)
  }

  #hear(name: string, beat: Beat | null): void {
    if (!beat) return this.miss(name)
    clearTimeout(this.#present.get(name)?.timer)
    const timer = setTimeout(() => this.miss(name), MISSED * beat.everyMs)
    this.#present.set(name, { beat, timer })
    this.#told(name)
  }

  #forgetAll(): void {
    for (const name of this.names()) this.miss(name)
  }
}

/** Null: it has said goodbye, or is nothing of ours. */
function parse(data: Uint8Array): Beat | null {
  if (data.length === 0) return null
  try {
    return JSON.parse(Buffer.from(data).toString()) as Beat
  } catch {
    return null
  }
}
