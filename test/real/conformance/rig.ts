import { existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Decision } from '../../../src/core/approval.ts'
import type { CreateSession } from '../../../src/core/command.ts'
import type { Content } from '../../../src/core/content.ts'
import type { Event, EventType } from '../../../src/core/event.ts'
import { startEngine, type TestEngine } from '../../support/engine.ts'
import type { ScriptedModel } from '../../support/model/server.ts'
import type { RealAgent } from './agent.ts'
import { marked, type Process } from './counts.ts'

export type Of<T extends EventType> = Event & { type: T }
export type Answer = Exclude<Decision, { behavior: 'cancelled' }>
export type Sent = { turnId: string; seq: number }

const ENDS = ['turn.completed', 'turn.failed', 'turn.interrupted', 'turn.cancelled'] as const
type End = Of<(typeof ENDS)[number]>

/** A real engine, store and host, with a real agent on a scripted model. */
export interface Rig {
  agent: RealAgent
  model: ScriptedModel
  /** In the environment of everything that the agent starts. */
  mark: string
  /** The engine as it is now: another one after a restart. */
  readonly now: TestEngine
  directory(): string
  session(given?: Partial<CreateSession>): Promise<string>
  send(sessionId: string, said: string | Content[]): Promise<Sent>
  /** Sends, answers what is asked, and waits for the end. */
  turn(sessionId: string, said: string | Content[], answer?: Answer): Promise<Told>
  /** What the log has of a turn; waited for until it is over. */
  told(sessionId: string, sent: Sent, answer?: Answer): Promise<Told>
  /** The end of a turn, or the question that it waits with. */
  endOrQuestion(sessionId: string, sent: Sent): Promise<End | Of<'approval.requested'>>
  next<T extends EventType>(type: T, sessionId: string, after?: number): Promise<Of<T>>
  decide(approvalId: string, answer: Answer): Promise<unknown>
  interrupt(sessionId: string): Promise<unknown>
  /** Lets go as a crash would, and starts over. */
  restart(): Promise<void>
  /** Ends the session's process, as if it had been idle for long. */
  endProcess(sessionId: string): Promise<void>
  inside(sessionId: string, name: string): string
  has(sessionId: string, name: string): boolean
  /** The process group of a session, and the agent itself in it. */
  groupOf(sessionId: string): number
  agentOf(sessionId: string): Process
  /** Everything that the agent has started and that still runs. */
  processes(): Process[]
  close(): Promise<void>
}

/** A turn that is over. */
export interface Told {
  events: Event[]
  end: End
  /** All that was said, message by message. */
  texts: string[]
  thoughts: string[]
  asked: Of<'approval.requested'>[]
  tools: Of<'tool.started'>[]
  outputs: Of<'tool.completed'>[]
  notices: string[]
}

export async function startRig(agent: RealAgent, env: NodeJS.ProcessEnv = {}): Promise<Rig> {
  const at = await agent.home()
  const home = mkdtempSync(join(tmpdir(), 'corral-real-'))
  const mark = `HOME=${at.env['HOME']}`
  // Agents of a test run that was killed end soon after it.
  const options = { orphanMs: 120_000 }
  const start = () => startEngine({ home, drivers: [agent.driver], env: { ...at.env, ...env }, options })
  let engine = await start()

  const rig: Rig = {
    agent,
    mark,
    model: at.model,
    get now() {
      return engine
    },
    directory: () => mkdtempSync(join(engine.cwd, 'session-')),
    async session(given = {}) {
      const cwd = given.cwd ?? rig.directory()
      return (await engine.engine.sessions.create({ agent: agent.driver.name, mode: 'ask', ...given, cwd }))
        .id
    },
    send(sessionId, said) {
      const input = typeof said === 'string' ? [{ type: 'text' as const, text: said }] : said
      return engine.engine.turns.send({ sessionId, input })
    },
    async turn(sessionId, said, answer) {
      return rig.told(sessionId, await rig.send(sessionId, said), answer)
    },
    async told(sessionId, { turnId, seq }, answer) {
      await engine.read({ sessionId, after: seq - 1 }, 'the end of the turn', ({ event }) => {
        if (event.turnId !== turnId) return false
        // What was answered before is read again after a restart, and refused then.
        if (isOpenQuestion(event) && answer) rig.decide(event.approval.id, answer).catch(() => undefined)
        return isEnd(event)
      })
      const events = engine.engine.events.read({ sessionId, after: seq - 1, limit: 10_000 })
      return toldIn(
        agent,
        events.map(({ event }) => event).filter((event) => event.turnId === turnId),
      )
    },
    async endOrQuestion(sessionId, { turnId, seq }) {
      const seen = await engine.read(
        { sessionId, after: seq - 1 },
        'the end of the turn, or a question',
        ({ event }) => event.turnId === turnId && (isEnd(event) || isOpenQuestion(event)),
      )
      return seen.at(-1) as End | Of<'approval.requested'>
    },
    next: (type, sessionId, after = 0) => engine.event(type, { sessionId, after }),
    decide: (approvalId, decision) => engine.engine.approvals.decide({ approvalId, decision, by: 'test' }),
    interrupt: (sessionId) => engine.engine.turns.interrupt({ sessionId }),
    async restart() {
      await engine.abandon()
      engine = await start()
    },
    endProcess: (sessionId) => engine.host.end(sessionId),
    inside: (sessionId, name) => join(engine.engine.sessions.get(sessionId).cwd, name),
    has: (sessionId, name) => existsSync(rig.inside(sessionId, name)),
    groupOf: (sessionId) => engine.host.running().find((one) => one.sessionId === sessionId)!.pid,
    agentOf(sessionId) {
      const group = rig.groupOf(sessionId)
      // The other child of the shell around it is a shell, too: the one that looks whether there is a daemon.
      return rig.processes().find(({ parent, command }) => parent === group && !/corral-agent/.test(command))!
    },
    processes: () => marked(mark),
    async close() {
      await engine.stop()
      const left = rig.processes().map(({ command }) => command)
      await at.close()
      if (left.length > 0) throw new Error(`left running: ${left.join(' | ')}`)
    },
  }
  return rig
}

function isEnd(event: Event): event is End {
  return (ENDS as readonly string[]).includes(event.type)
}

function isOpenQuestion(event: Event): event is Of<'approval.requested'> {
  return event.type === 'approval.requested' && event.open
}

function toldIn({ mayNotice }: RealAgent, events: Event[]): Told {
  const only = <T extends EventType>(type: T) => events.filter((event): event is Of<T> => event.type === type)
  const said = (kind: string) =>
    only('message.completed')
      .filter((event) => event.kind === kind)
      .map(({ text }) => text)
  return {
    events,
    end: events.find(isEnd)!,
    texts: said('text'),
    thoughts: said('thinking'),
    asked: only('approval.requested'),
    tools: only('tool.started'),
    outputs: only('tool.completed'),
    notices: only('agent.notice')
      .map(({ code }) => code)
      .filter((code) => !mayNotice.includes(code)),
  }
}

/** Who answered the questions of a turn. */
export function deciders({ events }: Told): (string | null)[] {
  return events.flatMap((event) => (event.type === 'approval.resolved' ? [event.by] : []))
}

export const words = (count: number): string =>
  Array.from({ length: count }, (_, index) => `w${index + 1}`).join(' ')

/** A directive that calls tools of the agent's by their names, all in one answer. */
export function call(...calls: [tool: string, input: object][]): string {
  const pairs = calls.map(
    ([tool, input]) => `${tool} ${Buffer.from(JSON.stringify(input)).toString('base64')}`,
  )
  return `[[call ${pairs.join(' ')}]]`
}
