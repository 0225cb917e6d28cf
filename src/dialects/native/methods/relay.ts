import { z } from 'zod'
import { CorralError } from '../../../core/error.ts'
import type { CallRecord } from '../../../relay/records/call-records.ts'
import type { Relay } from '../../../relay/relay.ts'
import type { RelayPlace } from '../../ports.ts'
import { method } from '../method.ts'
import { patchOf, refusedSettings, settingsView } from '../relay-settings.ts'
import * as wire from '../wire.ts'

type Overview = z.output<typeof wire.relayOverview>

const nothing = z.strictObject({})
const MAX_RUNNING = 100

const NOT_OPEN: Omit<Overview, 'state' | 'address'> = {
  agent: null,
  missing: null,
  pool: null,
  providers: [],
  license: null,
  runningCount: 0,
  running: [],
}

export const relayMethods = [
  method({
    name: 'relay.overview',
    scope: 'read',
    repeat: 'read',
    errors: [],
    summary: 'How the relay is doing: who answers, the agents that wait, the calls under way.',
    params: nothing,
    result: wire.relayOverview,
    async handler(_, { relay: { port } }): Promise<Overview> {
      if (!port) return { state: 'off', address: null, ...NOT_OPEN }
      if (!port.isUsed()) return { state: 'unused', address: port.address, ...NOT_OPEN }
      return overviewOf(port.address, await port.open())
    },
  }),
  method({
    name: 'relay.calls',
    scope: 'read',
    repeat: 'read',
    errors: [],
    summary: 'Calls that are over, the newest first; the relay keeps the last 1,000.',
    params: z.strictObject({
      limit: z.int().min(1).max(200).default(50),
      after: z.int().min(0).exactOptional().describe('a `seq`: only newer ones'),
      before: z.int().min(0).exactOptional().describe('a `seq`: only older ones'),
    }),
    result: z.object({ calls: z.array(wire.relayCall), more: z.boolean() }),
    async handler({ limit, after = 0, before = Infinity }, { relay }) {
      const found = ((await used(relay))?.calls.list() ?? []).filter(({ seq }) => seq > after && seq < before)
      return { calls: found.slice(-limit).reverse().map(callView), more: found.length > limit }
    },
  }),
  method({
    name: 'relay.series',
    scope: 'read',
    repeat: 'read',
    errors: [],
    summary:
      'Calls, tokens and cost avoided by the hour or by the day, the oldest first, for about three months. Times without a call are left out.',
    params: z.strictObject({
      since: wire.time.default(0),
      until: wire.time.exactOptional(),
      by: z.enum(['hour', 'day']).default('hour').describe("days are those of the daemon's time zone"),
    }),
    result: z.object({ points: z.array(wire.relayPoint) }),
    async handler({ since, until = Infinity, by }, { relay }) {
      return { points: (await used(relay))?.series.list({ since, until, by }) ?? [] }
    },
  }),
  method({
    name: 'relay.settings.get',
    scope: 'read',
    repeat: 'read',
    errors: ['unsupported'],
    summary: "The relay's settings. Of a key it says only that there is one.",
    params: nothing,
    result: wire.relaySettings,
    async handler(_, { relay }) {
      return settingsView((await opened(relay)).settings.current())
    },
  }),
  method({
    name: 'relay.settings.set',
    scope: 'manage',
    repeat: 'idempotent',
    errors: ['unsupported'],
    summary: 'Changes the settings that are named, all of them or none. They hold from the next call on.',
    params: wire.relaySettingsPatch,
    result: wire.relaySettings,
    async handler(patch, { relay: place }) {
      const relay = await opened(place)
      try {
        await relay.changeSettings(patchOf(patch, relay.settings.view()))
      } catch (thrown) {
        throw refusedSettings(thrown)
      }
      return settingsView(relay.settings.current())
    },
  }),
]

async function overviewOf(address: string, relay: Relay): Promise<Overview> {
  const { license, refreshedAt: _, ...view } = relay.license.view()
  const { valid, tier, usageThisMonth, usageCap } = license
  const running = relay.running()
  return {
    state: 'open',
    address,
    agent: relay.settings.current().agent,
    missing: await relay.missing(),
    pool: relay.pool.counts(),
    providers: await relay.cascade.status(),
    license: { ...view, valid, tier, usageThisMonth, usageCap },
    runningCount: running.length,
    running: running.slice(0, MAX_RUNNING),
  }
}

/** The relay where somebody has used it; whoever only looks does not load it. */
async function used({ port }: RelayPlace): Promise<Relay | null> {
  return port?.isUsed() ? port.open() : null
}

async function opened({ port }: RelayPlace): Promise<Relay> {
  if (port) return port.open()
  throw new CorralError('unsupported', 'The relay does not listen: set relay.enabled, and restart the daemon')
}

function callView(call: CallRecord): z.output<typeof wire.relayCall> {
  const { rawTranscript: _, ...view } = call
  return view
}
