import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { codexDriver } from '../../src/agents/codex/driver.ts'
import type { Decision } from '../../src/core/approval.ts'
import type { CreateSession } from '../../src/core/command.ts'
import type { Event, EventType } from '../../src/core/event.ts'
import { scriptedCodex } from '../support/codex-env.ts'
import { startEngine, type TestEngine } from '../support/engine.ts'
import type { ScriptedModel } from '../support/model/server.ts'

export type Of<T extends EventType> = Event & { type: T }
export type Saying = Exclude<Decision, { behavior: 'cancelled' }>

const ENDS = ['turn.completed', 'turn.failed', 'turn.interrupted'] as const
const WAIT_MS = 20_000

/** A message that is under way. */
export interface Sent {
  turnId: string
  /** The first event of this type in its turn, waited for. */
  until<T extends EventType>(type: T): Promise<Of<T>>
  /** All events of the turn, once it is over. */
  end(): Promise<Event[]>
}

/** A real engine with the real codex and a scripted model. */
export interface CodexRig {
  engine: TestEngine
  model: ScriptedModel
  /** The user's own settings of Codex. */
  config: string
  directory(): string
  session(given?: Partial<CreateSession>): Promise<string>
  send(sessionId: string, text: string): Promise<Sent>
  /** The events of a whole turn. Questions are answered as `say` tells. */
  turn(sessionId: string, text: string, say?: Saying): Promise<Event[]>
  /** The engine dies as in a crash; another one takes its place. */
  restart(): Promise<void>
  /** Processes of this rig beside the engine, by their command lines. */
  processes(): string[]
  close(): Promise<void>
}

export async function startCodexRig(env: NodeJS.ProcessEnv = {}): Promise<CodexRig> {
  const scripted = await scriptedCodex()
  const given = { drivers: [codexDriver], env: { ...scripted.env, ...env } }
  const rig: CodexRig = {
    engine: await startEngine(given),
    model: scripted.model,
    config: join(scripted.env.CODEX_HOME!, 'config.toml'),
    directory: () => mkdtempSync(join(rig.engine.cwd, 'session-')),
    async session(params = {}) {
      const cwd = params.cwd ?? rig.directory()
      return (await rig.engine.engine.create({ agent: 'codex', mode: 'auto', ...params, cwd })).id
    },
    async send(sessionId, text) {
      const { turnId, seq } = await rig.engine.engine.send({ sessionId, input: [{ type: 'text', text }] })
      const events = (): Event[] =>
        rig.engine.engine
          .events({ sessionId, turnId, after: seq - 1, limit: 10_000 })
          .map(({ event }) => event)
      return {
        turnId,
        until: (type) =>
          found(
            () => events().find((event) => event.type === type) as never,
            () => `${type} after ${events().map((event) => event.type)} ${rig.engine.warnings}`,
          ),
        end: () =>
          found(
            () =>
              events().some((event) => (ENDS as readonly string[]).includes(event.type)) ? events() : null,
            () => `the end of ${text} after ${events().map((event) => event.type)} ${rig.engine.warnings}`,
          ),
      }
    },
    async turn(sessionId, text, say) {
      const sent = await rig.send(sessionId, text)
      if (say) await decide(rig, (await sent.until('approval.requested')).approval.id, say)
      return sent.end()
    },
    async restart() {
      await rig.engine.abandon()
      rig.engine = await startEngine({ ...given, home: rig.engine.home })
    },
    processes: () => processesWith(`HOME=${scripted.env.HOME}`),
    async close() {
      await rig.engine.stop()
      const left = rig.processes()
      await scripted.close()
      if (left.length > 0) throw new Error(`left running: ${left.join(' | ')}`)
    },
  }
  return rig
}

export function decide(rig: CodexRig, approvalId: string, decision: Saying): Promise<unknown> {
  return rig.engine.engine.decide({ approvalId, decision, by: 'test' })
}

export function only<T extends EventType>(events: Event[], type: T): Of<T>[] {
  return events.filter((event): event is Of<T> => event.type === type)
}

/** How a turn ended, and the last words of it. */
export function endOf(events: Event[]): string {
  const end = events.find((event): event is Of<(typeof ENDS)[number]> =>
    (ENDS as readonly string[]).includes(event.type),
  )!
  return end.type === 'turn.completed' ? `completed: ${end.text}` : end.type.replace('turn.', '')
}

/** Waits for a condition; bounded. */
export async function found<T>(look: () => T | null | undefined, what: () => string): Promise<T> {
  for (const end = Date.now() + WAIT_MS; Date.now() < end;) {
    const value = look()
    if (value) return value
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error(`waited in vain for ${what()}`)
}

function processesWith(mark: string): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      if (!/^\d+$/.test(pid) || !readFileSync(`/proc/${pid}/environ`, 'latin1').includes(mark)) return []
      return [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()]
    } catch {
      return []
    }
  })
}
