import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Memory } from '../../src/system/memory.ts'
import {
  levelOf,
  limitsOf,
  type PressureDeps,
  type PressureSettings,
  toCool,
  watchPressure,
} from '../../src/system/pressure.ts'
import { createResources, type Resources, type SessionResources } from '../../src/system/resources.ts'
import { newSession } from '../support/asking.ts'
import { startEngine } from '../support/engine.ts'
import { until } from '../support/wait.ts'
import { heavyDemo, MIB } from './holder.ts'

const GIB = 1024 ** 3
const MINUTE = 60_000
const NOW = 1000 * MINUTE
const DEFAULTS: PressureSettings = { maxMemoryPercent: null, emergencyMemoryPercent: null }
const AT_70: PressureSettings = { maxMemoryPercent: 70, emergencyMemoryPercent: 90 }

const session = (
  id: string,
  minutesAgo: number,
  given: Partial<SessionResources> = {},
): SessionResources => ({
  sessionId: id,
  agent: 'demo',
  tier: 'warm',
  pid: id.charCodeAt(0),
  bytes: 3,
  activeAt: NOW - minutesAgo * MINUTE,
  ...given,
})

/** A machine with a hundred bytes. */
const resources = (usedBytes: number, sessions: SessionResources[]): Resources => ({
  at: NOW,
  totalBytes: 100,
  usedBytes,
  daemonBytes: 1,
  agentsBytes: 0,
  active: 0,
  warm: 0,
  cold: 0,
  sessions,
})

test('by default a small laptop keeps a fifth for others, a large machine 4 GiB', () => {
  assert.deepEqual(limitsOf(10 * GIB, DEFAULTS), { maxBytes: 8 * GIB, emergencyBytes: 9 * GIB })
  assert.deepEqual(limitsOf(128 * GIB, DEFAULTS), { maxBytes: 124 * GIB, emergencyBytes: 126 * GIB })
  assert.deepEqual(limitsOf(100, AT_70), { maxBytes: 70, emergencyBytes: 90 })
  const odd = { maxMemoryPercent: 95, emergencyMemoryPercent: 50 }
  assert.deepEqual(limitsOf(100, odd), { maxBytes: 95, emergencyBytes: 95 }, 'an emergency is no less')
})

test('levels', () => {
  const levels = [66, 67, 70, 89, 90].map((usedBytes) => levelOf({ totalBytes: 100, usedBytes }, AT_70))
  assert.deepEqual(levels, ['normal', 'warning', 'critical', 'critical', 'emergency'])
})

test('the least recently used go first, and no more than it takes', () => {
  const sessions = [session('b', 20), session('a', 30), session('c', 10)]
  assert.deepEqual(toCool(resources(69, sessions), AT_70), [], 'close to the limit nobody has to go')
  assert.deepEqual(toCool(resources(71, sessions), AT_70), ['a', 'b'])
  assert.deepEqual(toCool(resources(85, sessions), AT_70), ['a', 'b', 'c'])
})

test('an active session never goes, not even in an emergency; a fresh one only then', () => {
  const sessions = [session('a', 30, { tier: 'active', bytes: 50 }), session('b', 20), session('c', 1)]
  assert.deepEqual(toCool(resources(89, sessions), AT_70), ['b'])
  assert.deepEqual(toCool(resources(99, sessions), AT_70), ['b', 'c'])
})

test('sessions in one process go together, when none of them is active, by the one that was used last', () => {
  const sessions = [
    session('a', 30, { pid: 1 }),
    session('b', 5, { pid: 1 }),
    session('c', 10, { pid: 2 }),
    session('d', 40, { pid: 3 }),
    session('e', 40, { pid: 3, tier: 'active' }),
  ]
  assert.deepEqual(toCool(resources(69.5, sessions), { ...AT_70, maxMemoryPercent: 69.5 }), ['c', 'a', 'b'])
  assert.deepEqual(toCool(resources(95, sessions), AT_70), ['c', 'a', 'b'])
})

type Watch = Pick<PressureDeps, 'memory' | 'resources' | 'cool'> & Partial<PressureDeps>

/** Looks all the time; resolves when `done`. */
async function watch(given: Watch, done: () => boolean): Promise<string[]> {
  const heard: string[] = []
  const stop = watchPressure({
    settings: AT_70,
    notice: (level, cooled) => void heard.push([level, ...cooled].join(' ')),
    warn: (message, error) => void heard.push(`${message}: ${String(error)}`),
    pace: { calmMs: 1, tightMs: 1 },
    ...given,
  })
  try {
    await until(done, () => `${String(done)}; heard: ${heard.join(', ')}`)
  } finally {
    stop()
  }
  return heard
}

test('what was cooled is gone before the next look, so no more goes than need be', async () => {
  let sessions = [session('a', 30), session('b', 20), session('c', 10)]
  let looks = 0
  const used = (): number => 65 + sessions.reduce((sum, { bytes }) => sum + bytes, 0)
  const heard = await watch(
    {
      memory: async () => {
        looks += 1
        return { totalBytes: 100, availableBytes: 100 - used() }
      },
      resources: async () => resources(used(), sessions),
      cool: async (ids) => {
        const before = looks
        await new Promise((resolve) => setTimeout(resolve, 30)) // processes take their time
        assert.equal(looks, before)
        sessions = sessions.filter(({ sessionId }) => !ids.includes(sessionId))
      },
    },
    () => looks > 10,
  )
  assert.deepEqual(heard, ['critical a b c', 'normal'])
})

test('a machine that is always full is not searched all the time, unless it gets worse', async () => {
  let looks = 0
  let searches = 0
  await watch(
    {
      memory: async () => {
        if (looks === 60) await new Promise(() => undefined) // what comes later is not counted, however long the test takes
        return { totalBytes: 100, availableBytes: ++looks > 40 ? 5 : 20 }
      },
      resources: async () => {
        searches += 1
        return resources(looks > 40 ? 95 : 80, [session('a', 1, { tier: 'active' })])
      },
      cool: async () => assert.fail('nobody may go'),
    },
    () => looks === 60,
  )
  assert.equal(searches, 3, 'at once, after thirty looks, and when it became an emergency')
})

test('a look that fails is a warning, and the next one is made', async () => {
  let looks = 0
  const memory = async (): Promise<Memory> => {
    if (++looks === 1) throw new Error('not now')
    return { totalBytes: 100, availableBytes: 90 }
  }
  const never = async (): Promise<never> => assert.fail('nothing is short')
  const heard = await watch({ memory, resources: never, cool: never }, () => looks > 3)
  assert.deepEqual(heard, ['making room in memory: Error: not now'])
})

test('real agents that hold memory are ended when it gets short, and talk on afterwards', async (t) => {
  const rig = await startEngine({ drivers: [heavyDemo] })
  t.after(() => rig.stop())
  const [old, young, busy] = [
    await newSession(rig, { title: '120' }),
    await newSession(rig, { title: '120' }),
    await newSession(rig, { title: '120' }),
  ]
  await rig.turn(old, '[[remember plums]]')
  await rig.turn(young, '[[say hello]]')
  await rig.engine.turns.send({ sessionId: busy, input: [{ type: 'text', text: '[[hang]]' }] })
  await rig.event('turn.accepted', { sessionId: busy })

  // The machine is as large as these agents need and a bit less, and nothing else is on it.
  const real = createResources({ log: rig.log })
  const { agentsBytes } = await real()
  const totalBytes = Math.round(agentsBytes - 60 * MIB)
  const memory = async (): Promise<Memory> => ({
    totalBytes,
    availableBytes: Math.max(0, totalBytes - (await real()).agentsBytes),
  })
  const small = createResources({ log: rig.log, memory })
  const settings = { maxMemoryPercent: 96, emergencyMemoryPercent: 97 }
  let rests = 0
  const heard = await watch({ settings, memory, resources: small, cool: rig.host.cool, notice: (level) => {
    if (level === 'normal') rests += 1
  } }, () => rests > 0) // prettier-ignore
  assert.deepEqual(heard, [])

  assert.deepEqual(
    rig.host.running().map(({ sessionId }) => sessionId),
    [young, busy],
    'the least recently used one is gone, and nobody else',
  )
  assert.equal(rig.engine.sessions.get(busy).turn !== null, true)
  const answer = await rig.turn(old, '[[recall]]')
  const said = answer.flatMap((event) => (event.type === 'message.completed' ? [event.text] : []))
  assert.deepEqual(said, ['recall: plums'])
})
