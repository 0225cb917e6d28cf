import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { acpDriver } from '../../src/agents/acp/driver.ts'
import type { AcpProfile } from '../../src/agents/acp/profile.ts'
import type { Content } from '../../src/core/content.ts'
import type { CreateSession } from '../../src/core/command.ts'
import type { Event, EventType } from '../../src/core/event.ts'
import type { Decision } from '../../src/core/approval.ts'
import type { AgentHome } from '../support/agent-home.ts'
import { startEngine, type TestEngine } from '../support/engine.ts'
import type { ScriptedModel } from '../support/model/server.ts'

const WAIT_MS = 60_000
const ENDS: ReadonlySet<EventType> = new Set(['turn.completed', 'turn.failed', 'turn.interrupted'])

export type Of<T extends EventType> = Event & { type: T }
type Answer = Exclude<Decision, { behavior: 'cancelled' }>

/** A real engine with a real agent on a scripted model. */
export interface AcpRig {
  model: ScriptedModel
  /** The engine as it is now: another one after a restart. */
  readonly now: TestEngine
  /** A session in a directory of its own, and gone after the test that it is for. */
  session(given?: Partial<CreateSession>, t?: TestContext): Promise<string>
  send(sessionId: string, said: string | Content[]): Promise<{ turnId: string; seq: number }>
  /** Sends, answers what is asked, and waits for the end. */
  turn(sessionId: string, said: string | Content[], answer?: Answer): Promise<Told>
  /** What the log has of a turn; waited for until it is over. */
  told(sessionId: string, turn: { turnId: string; seq: number }, answer?: Answer): Promise<Told>
  next<T extends EventType>(type: T, sessionId: string, after?: number): Promise<Of<T>>
  decide(approvalId: string, answer: Answer): Promise<unknown>
  /** Lets go as a crash would, and starts over. */
  restart(): Promise<void>
  cwdOf(sessionId: string): string
  pidOf(sessionId: string): number
  close(): Promise<void>
}

/** A turn that is over. */
export interface Told {
  events: Event[]
  end: Of<'turn.completed' | 'turn.failed' | 'turn.interrupted'>
  /** All that was said, message by message. */
  texts: string[]
  thoughts: string[]
  asked: Of<'approval.requested'>[]
  tools: Of<'tool.started'>[]
  outputs: Of<'tool.completed'>[]
  notices: string[]
}

export async function startAcpRig(
  profile: AcpProfile,
  makeHome: () => Promise<AgentHome>,
  env: NodeJS.ProcessEnv = {},
): Promise<AcpRig> {
  const at = await makeHome()
  const home = mkdtempSync(join(tmpdir(), 'corral-acp-'))
  const start = () =>
    startEngine({ home, drivers: [acpDriver(profile)], env: { ...at.env, ...env }, waitMs: WAIT_MS })
  let engine = await start()
  const eventsOf = (sessionId: string, after: number): Event[] =>
    engine.engine.events({ sessionId, after, limit: 10_000 }).map(({ event }) => event)

  const rig: AcpRig = {
    model: at.model,
    get now() {
      return engine
    },
    async session(given = {}, t) {
      const cwd = mkdtempSync(join(engine.cwd, 'session-'))
      const { id } = await engine.engine.create({ agent: profile.name, cwd, mode: 'ask', ...given })
      t?.after(() => engine.engine.destroy(id))
      return id
    },
    send(sessionId, said) {
      const input = typeof said === 'string' ? [{ type: 'text' as const, text: said }] : said
      return engine.engine.send({ sessionId, input })
    },
    async turn(sessionId, said, answer) {
      const sent = await rig.send(sessionId, said)
      return rig.told(sessionId, sent, answer)
    },
    async told(sessionId, { turnId, seq }, answer) {
      await until(engine, sessionId, seq - 1, (event) => {
        if (event.turnId !== turnId) return false
        if (event.type === 'approval.requested' && event.open && answer) {
          rig.decide(event.approval.id, answer).catch(() => undefined) // a replay of what was answered before
        }
        return ENDS.has(event.type)
      })
      return toldIn(eventsOf(sessionId, seq - 1).filter((event) => event.turnId === turnId))
    },
    next: (type, sessionId, after = 0) => engine.event(type, { sessionId, after }),
    decide: (approvalId, decision) => engine.engine.decide({ approvalId, decision, by: 'test' }),
    async restart() {
      await engine.abandon()
      engine = await start()
    },
    cwdOf: (sessionId) => engine.engine.session(sessionId).cwd,
    pidOf: (sessionId) => engine.host.running().find((one) => one.sessionId === sessionId)!.pid,
    async close() {
      await engine.stop()
      await at.close()
    },
  }
  return rig
}

function until(
  { engine, warnings }: TestEngine,
  sessionId: string,
  after: number,
  found: (event: Event) => boolean,
): Promise<void> {
  const seen: EventType[] = []
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      subscription.close()
      reject(new Error(`waited in vain; seen: ${seen.join(', ')}; warnings: ${warnings.join(' | ')}`))
    }, WAIT_MS)
    const subscription = engine.subscribe({ sessionId, after }, (events) => {
      for (const { event } of events) {
        seen.push(event.type)
        if (!found(event)) continue
        clearTimeout(timer)
        subscription.close()
        return resolve()
      }
    })
  })
}

function toldIn(events: Event[]): Told {
  const only = <T extends EventType>(type: T) => events.filter((event): event is Of<T> => event.type === type)
  const completed = (kind: string) =>
    only('message.completed')
      .filter((event) => event.kind === kind)
      .map(({ text }) => text)
  return {
    events,
    end: events.find((event) => ENDS.has(event.type)) as Told['end'],
    texts: completed('text'),
    thoughts: completed('thinking'),
    asked: only('approval.requested'),
    tools: only('tool.started'),
    outputs: only('tool.completed'),
    notices: only('agent.notice').map(({ code }) => code),
  }
}

/** The processes that have this in their environment. */
export function marked(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(text)
      } catch {
        return false
      }
    })
    .map(Number)
}

/** Waits for something to become true. */
export async function eventually(what: string, holds: () => boolean): Promise<void> {
  for (const until = Date.now() + WAIT_MS; !holds();) {
    if (Date.now() > until) throw new Error(`waited in vain: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
