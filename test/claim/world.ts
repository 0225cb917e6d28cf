import { join } from 'node:path'
import type { Event } from '../../src/core/event.ts'
import { emptyConversation, step, type Conversation } from '../../src/core/conversation/conversation.ts'
import { uuid } from '../../src/core/ids.ts'
import { BOOT_ID } from '../../src/agents/host/process.ts'
import { connect, type EventStream, type NativeClient } from '../../src/client/client.ts'
import { openLog } from '../../src/store/log.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { arrival } from '../support/wait.ts'

/** What has happened in a session so far, as somebody sees it who was there from the beginning. */
export interface Witness {
  readonly events: Event[]
  readonly conversation: Conversation
  /** As soon as this is so. */
  fact(what: string, isSo: () => boolean): Promise<void>
}

/** A client that watches the daemon from the beginning, and comes back when it was away. */
export interface Watcher {
  /** The daemon is there again. */
  back(): Promise<void>
  close(): void | Promise<void>
}

/** One daemon with many sessions. It may be killed at any moment when no command is under way. */
export interface World {
  readonly daemon: TestDaemon
  readonly native: NativeClient
  witness(sessionId: string): Witness
  /** A command: no daemon is killed while it runs. */
  use<T>(work: () => Promise<T>): Promise<T>
  /** kill -9, and the next one. `between`: what is done while there is none. */
  crash(between?: () => Promise<void>): Promise<void>
  readonly crashes: number
  join(watcher: Watcher): void
  close(): Promise<void>
}

export async function openWorld(): Promise<World> {
  const daemon = await startDaemon({ env: { CORRAL_AGENTS_MAXACTIVE: '64', CORRAL_RELAY_AGENT: 'demo' } })
  const native = await connect(daemon.socket, { reconnect: true })
  const witnesses = createWitnesses()
  const stream = native.events({ after: 0, onReset: () => 0 })
  const reading = witnesses.read(stream)
  const watchers: Watcher[] = []
  let crashes = 0
  let busy = 0
  let rested = (): void => {}
  let crashing: Promise<void> | null = null

  async function killed(between: () => Promise<void>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    rested = resolve
    if (busy > 0) await arrival(promise, 'all commands are done')
    await daemon.kill9()
    await between()
    await daemon.restart()
    crashes++
    for (const watcher of watchers) await watcher.back()
  }

  const world: World = {
    daemon,
    native,
    witness: witnesses.of,
    get crashes() {
      return crashes
    },
    join: (watcher) => void watchers.push(watcher),
    async use(work) {
      while (crashing) await crashing
      busy++
      try {
        return await work()
      } finally {
        if (--busy === 0) rested()
      }
    },
    crash(between = async () => {}) {
      crashing ??= killed(between).finally(() => (crashing = null))
      return crashing
    },
    async close() {
      for (const watcher of watchers) await watcher.close()
      stream.close()
      native.close()
      await reading
      await daemon.stop()
    },
  }
  return world
}

function createWitnesses() {
  const known = new Map<string, Witness & { see(event: Event): void }>()

  function of(sessionId: string): Witness & { see(event: Event): void } {
    const found = known.get(sessionId)
    if (found) return found
    const waiting = new Set<() => void>()
    const conversation = emptyConversation()
    const events: Event[] = []
    const witness = {
      events,
      conversation,
      see(event: Event) {
        events.push(event)
        step(conversation, event)
        for (const look of waiting) look()
      },
      fact(what: string, isSo: () => boolean) {
        const { promise, resolve } = Promise.withResolvers<void>()
        const look = (): void => {
          if (isSo()) resolve()
        }
        waiting.add(look)
        look()
        const seen = (): string => `${what}; ${sessionId}: ${events.map(({ type }) => type).join(' ')}`
        return arrival(promise, seen).finally(() => waiting.delete(look))
      },
    }
    known.set(sessionId, witness)
    return witness
  }

  return {
    of,
    async read(stream: EventStream): Promise<void> {
      try {
        for await (const event of stream) of(event.sessionId).see(event)
      } catch {
        // It was closed.
      }
    },
  }
}

/** Removes what is older than that from the log of a daemon that does not run. */
export async function forget(daemon: TestDaemon, eventsBefore: number): Promise<void> {
  const path = join(daemon.corralHome, 'corral.db')
  const log = openLog({ path, bootId: BOOT_ID, newId: uuid, warn: () => {} })
  const request = { eventsBefore, destroyedBefore: 0, limit: 2000 }
  while ((await log.retain(request)) > 0);
  await log.close(true)
}
