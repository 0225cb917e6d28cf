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
import { byBrowser, byDevice, type Way } from './ways.ts'

export interface FlowsOptions {
  settings(provider: Provider): ProviderSettings
  timeoutMs: number
  newId(): string
  keep(account: Account, grant: Grant): Promise<void>
  sleep?: Way['sleep']
}

export interface Wish {
  provider: Provider
  mode: SignInMode
  headless: boolean
}

/** Flows under way, and the last few that are over. */
export interface Flows {
  start(wish: Wish): { flowId: string; joined: boolean }
  view(flowId: string, after: number, waitMs: number): Promise<FlowView>
  cancel(flowId: string, why?: string): boolean
  running(): { flowId: string; provider: Provider }[]
  /** All end; resolves when they have. */
  close(): Promise<void>
}

interface Flow {
  id: string
  provider: Provider
  mode: SignInMode
  events: FlowEvent[]
  state: FlowView['state']
  abort: AbortController
  /** What was granted is being kept: it is too late to cancel. */
  keeping: boolean
  /** Resolved by the next event, and then another one. */
  next: PromiseWithResolvers<void>
  over: Promise<void>
}

const REMEMBERED = 50

export function createFlows(options: FlowsOptions): Flows {
  const flows = new Map<string, Flow>()

  function tell(flow: Flow, step: FlowStep): void {
    const { id: flowId, provider } = flow
    flow.events.push({ ...step, flowId, provider, index: flow.events.length + 1, at: Date.now() })
    if (step.type === 'completed' || step.type === 'failed') flow.state = step.type
    flow.next.resolve()
    flow.next = Promise.withResolvers()
  }

  async function run(flow: Flow, headless: boolean): Promise<void> {
    const timer = setTimeout(() => {
      flow.abort.abort(new CorralError('invalid', 'nobody has signed in in time'))
    }, options.timeoutMs)
    try {
      await signIn(flow, headless)
    } catch (thrown) {
      // Whatever an abort breaks off says so in words of its own.
      const error: unknown = flow.abort.signal.aborted ? flow.abort.signal.reason : thrown
      tell(flow, { type: 'failed', message: reasonOf(error), cancelled: error instanceof Cancelled })
    } finally {
      clearTimeout(timer)
    }
  }

  async function signIn(flow: Flow, headless: boolean): Promise<void> {
    const { provider, mode, abort } = flow
    const { signal } = abort
    signal.throwIfAborted()
    tell(flow, { type: 'started' })
    const settings = options.settings(provider)
    const issuer = await openIssuer(settings, signal)
    const loginMethod = methodFor(mode, headless, issuer.hasDeviceFlow)
    const way = loginMethod === 'device_code' ? byDevice : byBrowser
    let granted: Grant | null = null
    await way({
      issuer,
      settings,
      signal,
      tell: (step) => tell(flow, step),
      async keep(grant) {
        signal.throwIfAborted()
        flow.keeping = true
        const { accountId, profile } = grant
        await options.keep({ provider, accountId, profile, loginMethod, signedInAt: Date.now() }, grant)
        granted = grant
      },
      sleep: options.sleep ?? ((ms, stop) => delay(ms, undefined, { signal: stop })),
    })
    const { accountId, profile } = granted!
    tell(flow, { type: 'completed', loginMethod, accountId, profile })
  }

  function cancel(flow: Flow, why: string): boolean {
    if (flow.state !== 'running' || flow.keeping) return false
    flow.abort.abort(new Cancelled(why))
    return true
  }

  function begin({ provider, mode, headless }: Wish, after: Promise<void> | undefined): Flow {
    const flow: Flow = {
      id: options.newId(),
      provider,
      mode,
      events: [],
      state: 'running',
      abort: new AbortController(),
      keeping: false,
      next: Promise.withResolvers(),
      over: Promise.resolve(),
    }
    flows.set(flow.id, flow)
    // The one before gives back its port first.
    flow.over = Promise.resolve(after).then(() => run(flow, headless))
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
    start(wish) {
      const current = underWay().findLast(
        ({ provider, abort }) => provider === wish.provider && !abort.signal.aborted,
      )
      if (current && (wish.mode === 'auto' || wish.mode === current.mode)) {
        return { flowId: current.id, joined: true }
      }
      if (current) cancel(current, 'another sign-in took its place')
      const before = underWay().findLast(({ provider }) => provider === wish.provider)
      return { flowId: begin(wish, before?.over).id, joined: false }
    },
    async view(flowId, after, waitMs) {
      const flow = find(flowId)
      if (flow.events.length <= after && flow.state === 'running' && waitMs > 0) {
        const stop = new AbortController()
        const timer = delay(waitMs, undefined, { signal: stop.signal }).catch(() => {})
        await Promise.race([flow.next.promise, timer])
        stop.abort()
      }
      const { id, provider, state, events } = flow
      return { flowId: id, provider, state, events: events.slice(after) }
    },
    cancel: (flowId, why = 'it was cancelled') => cancel(find(flowId), why),
    running: () => underWay().map(({ id: flowId, provider }) => ({ flowId, provider })),
    async close() {
      const all = underWay()
      for (const flow of all) cancel(flow, 'the daemon stops')
      await Promise.all(all.map(({ over }) => over))
    },
  }
}

/** Without a browser on this machine a code is the better way, if the issuer has one. */
function methodFor(mode: SignInMode, headless: boolean, hasDeviceFlow: boolean): LoginMethod {
  if (mode === 'device_code' && !hasDeviceFlow)
    throw new CorralError('unsupported', 'the issuer has no sign-in with a code; use the browser')
  if (mode !== 'auto') return mode
  return headless && hasDeviceFlow ? 'device_code' : 'browser'
}
