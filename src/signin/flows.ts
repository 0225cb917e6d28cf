import { setTimeout as delay } from 'node:timers/promises'
import { CorralError } from '../core/error.ts'
import type {
  Account,
  FlowEvent,
  FlowStep,
  FlowView,
  LoginMethod,
  Provider,
  SignInMode,
} from '../core/signin.ts'
import { openIssuer, type Grant } from './issuer.ts'
import type { ProviderSettings } from './provider.ts'
import { Cancelled, reasonOf } from './reason.ts'
import { byBrowser, byDevice, type FlowContext } from './ways.ts'

export interface FlowsOptions {
  settings(provider: Provider): ProviderSettings
  timeoutMs: number
  newId(): string
  keep(account: Account, grant: Grant): Promise<void>
  sleep?: FlowContext['sleep']
}

interface FlowRequest {
  provider: Provider
  mode: SignInMode
  headless: boolean
}

/** Flows under way, and the last few that are over. */
export interface Flows {
  start(request: FlowRequest): { flowId: string; joined: boolean }
  view(flowId: string, after: number, waitMs: number): Promise<FlowView>
  cancel(flowId: string, why?: string): boolean
  running(): { flowId: string; provider: Provider }[]
  /** All end; resolves when they have. */
  close(): Promise<void>
}

const REMEMBERED = 50

export function createFlows(options: FlowsOptions): Flows {
  const flows = new Map<string, Flow>()

  function begin(request: FlowRequest, after: Promise<void> | undefined): Flow {
    const flow = new Flow(options, request, after)
    flows.set(flow.id, flow)
    const old = [...flows.values()].filter(({ state }) => state !== 'running')
    for (const { id } of old.slice(0, Math.max(0, flows.size - REMEMBERED))) flows.delete(id)
    return flow
  }

  function find(flowId: string): Flow {
    const flow = flows.get(flowId)
    if (!flow) throw new CorralError('invalid', 'There is no such sign-in', { field: 'flowId' })
    return flow
  }

  const underWay = (): Flow[] => [...flows.values()].filter(({ state }) => state === 'running')

  return {
    start(request) {
      const others = underWay().filter(({ provider }) => provider === request.provider)
      const current = others.findLast(({ aborted }) => !aborted)
      if (current && (request.mode === 'auto' || request.mode === current.mode)) {
        return { flowId: current.id, joined: true }
      }
      current?.cancel('another sign-in took its place')
      return { flowId: begin(request, others.at(-1)?.over).id, joined: false }
    },
    async view(flowId, after, waitMs) {
      const flow = find(flowId)
      if (flow.events.length <= after && flow.state === 'running' && waitMs > 0) {
        const stop = new AbortController()
        const timer = delay(waitMs, undefined, { signal: stop.signal }).catch(() => {})
        await Promise.race([flow.nextEvent(), timer])
        stop.abort()
      }
      const { id, provider, state, events } = flow
      return { flowId: id, provider, state, events: events.slice(after) }
    },
    cancel: (flowId, why = 'it was cancelled') => find(flowId).cancel(why),
    running: () => underWay().map(({ id: flowId, provider }) => ({ flowId, provider })),
    async close() {
      const all = underWay()
      for (const flow of all) flow.cancel('the daemon stops')
      await Promise.all(all.map(({ over }) => over))
    },
  }
}

class Flow {
  readonly id: string
  readonly provider: Provider
  readonly mode: SignInMode
  readonly events: FlowEvent[] = []
  state: FlowView['state'] = 'running'
  readonly over: Promise<void>
  readonly #options: FlowsOptions
  readonly #abort = new AbortController()
  /** What was granted is being kept: it is too late to cancel. */
  #keeping = false
  /** Resolved by the next event, and then another one. */
  #next = Promise.withResolvers<void>()

  constructor(
    options: FlowsOptions,
    { provider, mode, headless }: FlowRequest,
    after: Promise<void> | undefined,
  ) {
    this.id = options.newId()
    this.provider = provider
    this.mode = mode
    this.#options = options
    // The one before gives back its port first.
    this.over = Promise.resolve(after).then(() => this.#run(headless))
  }

  get aborted(): boolean {
    return this.#abort.signal.aborted
  }

  nextEvent(): Promise<void> {
    return this.#next.promise
  }

  cancel(why: string): boolean {
    if (this.state !== 'running' || this.#keeping) return false
    this.#abort.abort(new Cancelled(why))
    return true
  }

  async #run(headless: boolean): Promise<void> {
    const { signal } = this.#abort
    const timer = setTimeout(() => {
      this.#abort.abort(new CorralError('invalid', 'nobody has signed in in time'))
    }, this.#options.timeoutMs)
    try {
      await this.#signIn(headless, signal)
    } catch (thrown) {
      // Whatever an abort breaks off says so in words of its own.
      const error: unknown = signal.aborted ? signal.reason : thrown
      this.#tell({ type: 'failed', message: reasonOf(error), cancelled: error instanceof Cancelled })
    } finally {
      clearTimeout(timer)
    }
  }

  async #signIn(headless: boolean, signal: AbortSignal): Promise<void> {
    const { provider, mode } = this
    const options = this.#options
    signal.throwIfAborted()
    this.#tell({ type: 'started' })
    const settings = options.settings(provider)
    const issuer = await openIssuer(settings, signal)
    const loginMethod = methodFor(mode, headless, issuer.hasDeviceFlow)
    const signInBy = loginMethod === 'device_code' ? byDevice : byBrowser
    let granted: Grant | null = null
    await signInBy({
      issuer,
      settings,
      signal,
      tell: (step) => this.#tell(step),
      keep: async (grant) => {
        signal.throwIfAborted()
        this.#keeping = true
        const { accountId, profile } = grant
        await options.keep({ provider, accountId, profile, loginMethod, signedInAt: Date.now() }, grant)
        granted = grant
      },
      sleep: options.sleep ?? ((ms, stop) => delay(ms, undefined, { signal: stop })),
    })
    const { accountId, profile } = granted!
    this.#tell({ type: 'completed', loginMethod, accountId, profile })
  }

  #tell(step: FlowStep): void {
    const { id: flowId, provider, events } = this
    events.push({ ...step, flowId, provider, index: events.length + 1, at: Date.now() })
    if (step.type === 'completed' || step.type === 'failed') this.state = step.type
    this.#next.resolve()
    this.#next = Promise.withResolvers()
  }
}

/** Without a browser on this machine a code is the better way, if the issuer has one. */
function methodFor(mode: SignInMode, headless: boolean, hasDeviceFlow: boolean): LoginMethod {
  if (mode === 'device_code' && !hasDeviceFlow)
    throw new CorralError('unsupported', 'the issuer has no sign-in with a code; use the browser')
  if (mode !== 'auto') return mode
  return headless && hasDeviceFlow ? 'device_code' : 'browser'
}
