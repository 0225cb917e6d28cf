import { existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Approval } from '../../src/core/approval.ts'
import type { Content } from '../../src/core/content.ts'
import type { Event, EventType } from '../../src/core/event.ts'
import type { Mode } from '../../src/core/mode.ts'
import { startEngine, type TestEngine } from '../../test/support/engine.ts'
import type { Watched } from './agents.ts'
import type { Showing } from './baseline.ts'
import { observed, type Observations } from './observed.ts'

const WAIT_MS = 120_000
const LOOK_MS = 20
/** If this is interrupted, its agents end by themselves. */
const ORPHAN_MS = 120_000
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** A message to an agent whose model obeys the script in it. */
interface Turn {
  name: string
  say: string
  picture?: boolean
  deny?: boolean
  /** Interrupted when this comes, or when this file is there. */
  stopAt?: EventType
  stopWith?: string
}

const TALK: Turn[] = [
  { name: 'text', say: '[[say hello]]' },
  { name: 'thought', say: '[[think deep thought]] [[drip 5 5]]' },
  { name: 'command allowed', say: '[[shell touch yes.txt && echo done]]' },
  { name: 'command denied', say: '[[shell touch no.txt && echo done]]', deny: true },
  { name: 'command failing', say: '[[shell touch more.txt && false]]' },
  { name: 'file written', say: '[[write notes.txt old]]' },
  { name: 'file edited', say: '[[edit notes.txt old new]]' },
  { name: 'edit denied', say: '[[edit notes.txt new newer]]', deny: true },
  { name: 'question', say: '[[ask Shall we?]]' },
  { name: 'picture', say: '[[attachments]]', picture: true },
  { name: 'text stopped', say: '[[drip 500 20]]', stopAt: 'message.delta' },
  { name: 'question stopped', say: '[[shell touch open.txt && true]]', stopAt: 'approval.requested' },
  { name: 'command stopped', say: '[[shell touch began.txt && sleep 300]]', stopWith: 'began.txt' },
  { name: 'model error', say: '[[fail 500]]' },
  { name: 'model error for good', say: '[[fail 400]]' },
  { name: 'model refuses the key', say: '[[fail 401]]' },
  { name: 'text again', say: '[[remember PLUM]] [[say noted]]' },
]

/** Plays the fixed set of turns on a real agent, through a real engine, and tells what it wrote. */
export async function playTurns(agent: Watched, program: string): Promise<Showing> {
  const at = await agent.home()
  try {
    const env = { ...at.env, [agent.variable]: program }
    const { version, problem, installed } = await agent.driver.detect({ PATH: process.env['PATH'], ...env })
    if (!installed || version === null) throw new Error(problem ?? `${program} names no version`)
    return { version, ...(await playIn(agent, env)) }
  } finally {
    await at.close()
  }
}

async function playIn(agent: Watched, env: NodeJS.ProcessEnv): Promise<Omit<Showing, 'version'>> {
  const seen: Observations = new Map()
  const turns: Record<string, string> = {}
  const drivers = [observed(agent.driver, agent.typeOf, seen)]
  const home = mkdtempSync(join(tmpdir(), `corral-drift-${agent.name}-`))
  const start = () => startEngine({ home, drivers, env, options: { orphanMs: ORPHAN_MS } })
  let engine = await start()
  try {
    const talk = await newSession(engine, agent, 'ask')
    await playAll(engine, talk, TALK, turns)
    const work = await newSession(engine, agent, 'auto')
    await playAll(engine, work, ownTurns(agent), turns)
    await engine.engine.sessions.configure({ sessionId: work, mode: 'plan', model: agent.model })
    await playAll(engine, work, [{ name: 'other mode and model', say: '[[write plan.txt x]]' }], turns)
    await close(engine)
    engine = await start()
    await playAll(engine, talk, [{ name: 'resumed', say: '[[recall]]' }], turns)
    if (agent.driver.capabilities.fork) {
      const fork = await engine.engine.sessions.fork({ sessionId: talk })
      await playAll(engine, fork.id, [{ name: 'forked', say: '[[recall]]' }], turns)
    }
    return { turns, seen }
  } finally {
    await engine.stop()
  }
}

function ownTurns({ turns }: Watched): Turn[] {
  const first: Turn = { name: 'file written unasked', say: '[[write notes.txt text]]' }
  return [first, ...Object.entries(turns).map(([name, say]) => ({ name, say }))]
}

async function newSession({ engine, cwd }: TestEngine, agent: Watched, mode: Mode): Promise<string> {
  const own = mkdtempSync(join(cwd, 'session-'))
  writeFileSync(join(own, 'pixel.png'), PIXEL, 'base64')
  return (await engine.sessions.create({ agent: agent.name, cwd: own, mode })).id
}

/** As `stop` of the engine does, but its files stay. */
async function close({ host, log }: TestEngine): Promise<void> {
  await host.endAll()
  host.release()
  await log.close(true)
}

/** After a turn that never ends nothing more can be learned from its session. */
async function playAll(
  engine: TestEngine,
  sessionId: string,
  turns: Turn[],
  into: Record<string, string>,
): Promise<void> {
  for (const turn of turns) {
    const end = await play(engine, sessionId, turn)
    into[turn.name] = end ?? 'never ended'
    if (end === null) return
  }
}

/** How the turn ended; null when it did not. */
async function play({ engine }: TestEngine, sessionId: string, turn: Turn): Promise<string | null> {
  const { turnId, seq } = await engine.turns.send({ sessionId, input: inputOf(turn) })
  const file = join(engine.sessions.get(sessionId).cwd, turn.stopWith ?? '')
  let failedTool = false
  let stopped = false
  const stop = (): void => {
    if (!stopped) engine.turns.interrupt({ sessionId }).catch(tooLate)
    stopped = true
  }
  const decide = ({ id: approvalId, kind }: Approval): void => {
    const allow = kind === 'question' ? { ...ALLOW, answers: { 'Shall we?': 'Yes' } } : ALLOW
    engine.approvals.decide({ approvalId, decision: turn.deny ? DENY : allow, by: 'drift' }).catch(tooLate)
  }
  return new Promise((resolve) => {
    const look = setInterval(() => turn.stopWith && existsSync(file) && stop(), LOOK_MS)
    const done = (end: string | null): void => {
      clearTimeout(timer)
      clearInterval(look)
      subscription.close()
      resolve(end)
    }
    const timer = setTimeout(done, WAIT_MS, null)
    const subscription = engine.events.subscribe({ sessionId, after: seq - 1 }, (events) => {
      for (const { event } of events) {
        if (event.turnId !== turnId) continue
        const end = endOf(event)
        if (end !== null) return done(failedTool ? `${end}, a tool failed` : end)
        failedTool ||= event.type === 'tool.completed' && event.isError
        if (event.type === turn.stopAt) stop()
        else if (event.type === 'approval.requested' && event.open) decide(event.approval)
      }
    })
  })
}

/** The agent was faster, and the turn shows it. */
const tooLate = (): void => undefined
const ALLOW = { behavior: 'allow' } as const
const DENY = { behavior: 'deny', comment: 'rather not' } as const

function inputOf({ say, picture }: Turn): Content[] {
  const text: Content = { type: 'text', text: say }
  return picture ? [text, { type: 'image', mediaType: 'image/png', data: PIXEL }] : [text]
}

function endOf(event: Event): string | null {
  switch (event.type) {
    case 'turn.completed':
    case 'turn.interrupted':
    case 'turn.cancelled':
      return event.type.replace('turn.', '')
    case 'turn.failed':
      return `failed: ${event.error.code}`
    default:
      return null
  }
}
