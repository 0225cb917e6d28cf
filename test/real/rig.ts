import { mkdtempSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Event, EventType } from '../../src/core/event.ts'
import { connect, type Api, type NativeClient } from '../../src/client/client.ts'
import { corral, type Outcome } from '../cli/support.ts'
import { claudeEnv } from '../support/claude-env.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { type ScriptedModel, startScriptedModel } from '../support/model/server.ts'
import { arrival, askUntil } from '../support/wait.ts'

export type Of<T extends EventType> = Event & { type: T }
export type NewSession = Partial<Api['session.create']['params']>

export const END = ['turn.completed', 'turn.failed', 'turn.interrupted', 'turn.cancelled'] as const

/** Events of one session, in order; `seen` has all that was read so far. */
export interface Follower {
  readonly seen: Event[]
  /** Reads on to the next event of one of these types that fits. */
  until<T extends EventType>(types: T | readonly T[], fits?: (event: Of<T>) => boolean): Promise<Of<T>>
  close(): void
}

/** A turn that has been sent, and how to follow it. */
export interface Sent extends Follower {
  readonly turnId: string
  readonly seq: number
  /** Its end; fails when it is another than expected. */
  end<T extends (typeof END)[number]>(type: T): Promise<Of<T>>
}

/** The real daemon with the real claude and a scripted model. */
export interface Rig {
  readonly daemon: TestDaemon
  readonly client: NativeClient
  readonly model: ScriptedModel
  /** A directory of its own for a session. */
  directory(): string
  session(params?: NewSession): Promise<string>
  view(sessionId: string): Promise<Api['session.get']['result']>
  send(sessionId: string, content: Api['session.send']['params']['content']): Promise<Sent>
  /** Sends, and waits for `turn.completed`. */
  turn(sessionId: string, content: Api['session.send']['params']['content']): Promise<Of<'turn.completed'>>
  follow(sessionId: string, after?: number): Follower
  corral(...args: string[]): Promise<Outcome>
  close(): Promise<void>
}

export async function startRig(env: NodeJS.ProcessEnv = {}): Promise<Rig> {
  const model = await startScriptedModel()
  const daemon = await startDaemon({ env: { ...claudeEnv(model.url), ...env } })
  const client = await connect(daemon.socket, { reconnect: true })
  const directory = (): string => mkdtempSync(join(daemon.project, 'session-'))
  const follow: Rig['follow'] = (sessionId, after = 0) => followEvents(client, sessionId, after)

  async function send(sessionId: string, content: Api['session.send']['params']['content']): Promise<Sent> {
    const { turnId, seq } = await client.call('session.send', { sessionId, content })
    const follower = follow(sessionId, seq - 1)
    return Object.assign(follower, {
      turnId,
      seq,
      async end<T extends (typeof END)[number]>(type: T): Promise<Of<T>> {
        const event = await follower.until(END, (one) => one.turnId === turnId)
        follower.close()
        if (event.type !== type) throw new Error(`not ${type} but ${JSON.stringify(event)}`)
        return event as Of<T>
      },
    })
  }

  return {
    daemon,
    client,
    model,
    directory,
    follow,
    send,
    async session(params = {}) {
      const cwd = params.cwd ?? directory()
      return (await client.call('session.create', { agent: 'claude', mode: 'auto', ...params, cwd })).id
    },
    view: (sessionId) => client.call('session.get', { sessionId }),
    async turn(sessionId, content) {
      return (await send(sessionId, content)).end('turn.completed')
    },
    corral: (...args) => corral(daemon.env, args),
    async close() {
      client.close()
      // After `corral restart` the daemon is no child of ours any more.
      if (runningPid(daemon) !== daemon.pid) await corral(daemon.env, ['stop', '--now'])
      await daemon.stop()
      await model.close()
      const left = endAll(daemon.home)
      if (left.length > 0) throw new Error(`left running: ${JSON.stringify(left)}`)
    },
  }
}

function runningPid(daemon: TestDaemon): number {
  try {
    return (JSON.parse(readFileSync(join(daemon.corralHome, 'run.json'), 'utf8')) as { pid: number }).pid
  } catch {
    return daemon.pid
  }
}

function followEvents(client: NativeClient, sessionId: string, after: number): Follower {
  const stream = client.events({ after, sessionId })
  const events = stream[Symbol.asyncIterator]()
  const seen: Event[] = []
  return {
    seen,
    async until(types, fits = () => true) {
      const wanted: readonly string[] = typeof types === 'string' ? [types] : types
      const last = (): string =>
        seen
          .slice(-8)
          .map((event) => JSON.stringify(event).slice(0, 300))
          .join('\n')
      for (;;) {
        const what = (): string => `${wanted.join(', ')}; the last events:\n${last()}`
        const { value, done } = await arrival(events.next(), what)
        if (done) throw new Error(`the events ended without ${wanted.join(', ')}`)
        const event = value as Event
        seen.push(event)
        if (wanted.includes(event.type) && fits(event as never)) return event as never
      }
    },
    close: () => stream.close(),
  }
}

export function only<T extends EventType>(events: readonly Event[], type: T): Of<T>[] {
  return events.filter((event) => event.type === type) as Of<T>[]
}

/** A directive that calls a tool of claude's by its name. */
export function call(tool: string, input: object): string {
  return `[[call ${tool} ${Buffer.from(JSON.stringify(input)).toString('base64')}]]`
}

export function words(count: number): string {
  return Array.from({ length: count }, (_, index) => `w${index + 1}`).join(' ')
}

export interface Process {
  pid: number
  parent: number
  group: number
  /** `R`, `S`, `T` for stopped, … */
  state: string
  command: string
}

/** Processes that work in a directory or below it, the dead that nobody has reaped left out. */
export function processesIn(directory: string): Process[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap((entry) => {
      try {
        const cwd = readlinkSync(`/proc/${entry}/cwd`).replace(/ \(deleted\)$/, '')
        if (cwd !== directory && !cwd.startsWith(`${directory}/`)) return []
        return [readProcess(Number(entry))]
      } catch {
        return [] // It ended while we looked.
      }
    })
    .filter(({ state }) => state !== 'Z' && state !== 'X')
}

function readProcess(pid: number): Process {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const [state, parent, group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
  return { pid, parent: Number(parent), group: Number(group), state: state!, command }
}

/** Claude itself: the child of the shell that looks after it. */
export function claudeIn(directory: string): Process {
  const found = processesIn(directory).find(({ command }) => /^\S*claude\S* -p /.test(command))
  if (!found) throw new Error(`no claude works in ${directory}`)
  return found
}

export function nobodyIn(directory: string): Promise<Process[]> {
  return askUntil(
    () => processesIn(directory),
    (found) => found.length === 0,
    `processes in ${directory}`,
  )
}

/** Kills what works in a directory; returns what that was. */
export function endAll(directory: string): Process[] {
  const found = processesIn(directory)
  for (const { pid } of found) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It ended by itself.
    }
  }
  return found
}
