import { setTimeout as delay } from 'node:timers/promises'
import type { AgentModel } from '../../core/event.ts'
import { NO_RULES } from '../../core/rule.ts'
import { apply, type Session } from '../../core/session.ts'
import type { AgentDriver, AgentService, Detection, LaunchPlan } from '../agent.ts'
import type { DriverOutput } from '../output.ts'
import type { HostDeps } from './deps.ts'
import { openFifo } from './fifo.ts'
import { Journal, MAX_LINE } from './journal.ts'
import type { Launcher } from './launcher.ts'
import { endMarked } from './process.ts'
import { Reading } from './reading.ts'
import { discard, isGone } from './spares.ts'
import { markOf, runFiles, type Launched } from './wrapper.ts'

/** How long an agent may take to answer. */
const ANSWER_MS = 30_000
/** How often its journal is looked at. */
const LOOK_MS = 25

interface InquiryDeps extends Pick<HostDeps, 'catalog' | 'env' | 'newId'> {
  launch: Launcher
  /** Where it works: in a directory that belongs to no session. */
  directory: string
}

/**
 * Asks agents for their models, each in a process of its own that becomes no session's. As with spares, nothing is written
 * down: a daemon that dies leaves it to be swept.
 */
export class Inquiry {
  readonly #deps: InquiryDeps
  readonly #underWay = new Set<Promise<unknown>>()
  readonly #ended = new AbortController()

  constructor(deps: InquiryDeps) {
    this.#deps = deps
  }

  /** Null: there is nobody to ask, since it is not installed or has no account. Fails when it does not answer. */
  models(agent: string): Promise<AgentModel[] | null> {
    const asking = this.#ask(agent).finally(() => this.#underWay.delete(asking))
    this.#underWay.add(asking)
    return asking
  }

  /** Resolves when nobody is being asked any more. */
  async end(): Promise<void> {
    this.#ended.abort(new Error('the daemon stops'))
    await Promise.allSettled(this.#underWay)
  }

  async #ask(agent: string): Promise<AgentModel[] | null> {
    const { catalog, env, launch, directory, newId } = this.#deps
    const driver = catalog.driver(agent)
    const detection = await catalog.find(agent)
    if (!detection.installed || (await catalog.signedIn(agent)).signedIn === false) return null
    const session = nobody(newId(), agent, directory)
    const signal = AbortSignal.any([this.#ended.signal, AbortSignal.timeout(ANSWER_MS)])
    const plan = await this.#planOf(driver, session, detection)
    signal.throwIfAborted()
    const launched = await launch({ ...plan, env: { ...plan.env, ...driver.unrecorded } }, agent)
    const service = driver.serve?.(env)
    try {
      return await hear(launched, driver, service, session, signal)
    } finally {
      service?.end?.()
      await discard(launched)
      endMarked(markOf(launched.id))
    }
  }

  async #planOf(driver: AgentDriver, session: Session, detection: Detection): Promise<LaunchPlan> {
    const { env, directory, newId } = this.#deps
    const { shared } = driver
    if (!shared)
      return { ...driver.plan(session, detection, newId), ...(await driver.prepare?.(session, env)) }
    const plan = shared.plan(detection, directory)
    return { ...plan, greeting: [...plan.greeting, ...shared.join(session)] }
  }
}

async function hear(
  launched: Launched,
  driver: AgentDriver,
  service: AgentService | undefined,
  session: Session,
  signal: AbortSignal,
): Promise<AgentModel[]> {
  const files = runFiles(launched.dir)
  const journal = new Journal(files.journal, 0, MAX_LINE)
  const fifo = openFifo(files.input)
  const reading = new Reading(journal, driver, () => session, UNHEARD)
  try {
    for (;;) {
      const over = isGone(launched)
      for (let page = reading.next(); page; page = reading.next()) {
        const models = modelsIn(page.outputs)
        if (models) return models
        for (const request of requestsIn(driver, page.outputs)) {
          await fifo.write((await service?.answer(request, session)) ?? [])
        }
      }
      if (over) throw new Error(`${driver.title} ended before it told its models`)
      await delay(LOOK_MS, undefined, { signal })
    }
  } finally {
    journal.close()
    fifo.close()
  }
}

const UNHEARD = { barrier() {}, ready() {}, ended() {} }

/** Null: it has not come to that yet. Who is ready for a message has told all that it has to tell. */
function modelsIn(outputs: readonly DriverOutput[]): AgentModel[] | null {
  for (const output of outputs) {
    if (output.type === 'models.told') return output.models
    if (output.type !== 'agent.ready') continue
    if (output.problem) throw new Error(output.problem.message)
    return []
  }
  return null
}

/** What has to be answered before it tells. Who comes into a shared process is told before any conversation is opened. */
function requestsIn({ shared }: AgentDriver, outputs: readonly DriverOutput[]): unknown[] {
  if (shared) return []
  return outputs.flatMap((output) => (output.type === 'agent.request' ? [output.request] : []))
}

/** A session for a driver to look at that is in no log: it has nothing to do and no tools to do it with. */
function nobody(sessionId: string, agent: string, cwd: string): Session {
  return apply(null, {
    type: 'session.created',
    seq: 0,
    at: Date.now(),
    sessionId,
    turnId: null,
    agent,
    cwd,
    mode: 'ask',
    model: null,
    title: null,
    settings: { ownTools: false, questions: false },
    nativeId: null,
    parentId: null,
    forkFrom: null,
    origin: null,
    rules: NO_RULES,
  })
}
