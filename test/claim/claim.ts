import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Change } from '../../src/core/conversation/item.ts'
import type { Event } from '../../src/core/event.ts'
import type { TurnView } from '../../src/dialects/native/wire.ts'
import { randomly } from '../support/random.ts'
import { planOf, smaller, type Plan } from './plan.ts'
import { play, type Played } from './play.ts'
import { through, toldBy, type Silence } from './told.ts'
import type { View } from './view.ts'
import { acpViews } from './views/acp.ts'
import { clawdeViews } from './views/clawde.ts'
import { codecastViews } from './views/codecast.ts'
import { humanlayerViews } from './views/humanlayer.ts'
import { loafViews } from './views/loaf.ts'
import { nativeViews } from './views/native.ts'
import { relayView } from './views/relay.ts'
import { forget, openWorld, type World } from './world.ts'

/** Only views whose names begin like this. */
const ONLY = process.env['VIEW']
const LIVE_MS = 5000

/** One view that tells something else than the log. */
export interface Disagreement {
  plan: Plan
  view: string
  when: Moment
  expected: string[]
  told: string[]
}

async function openViews(world: World): Promise<{ views: View[]; watch(sessionId: string): Promise<void> }> {
  const loaf = loafViews(world)
  const acp = acpViews(world)
  const views = [
    ...nativeViews,
    ...(await clawdeViews(world)),
    ...(await humanlayerViews(world)),
    ...codecastViews,
    ...loaf.views,
    ...acp.views,
    relayView,
  ]
  return {
    views: views.filter(({ name }) => ONLY === undefined || name.startsWith(ONLY)),
    watch: async (sessionId) => void (await Promise.all([loaf.watch(sessionId), acp.watch(sessionId)])),
  }
}

export const MOMENTS = ['at the end', 'after a restart', 'after retention'] as const
export type Moment = (typeof MOMENTS)[number]

/** Plays all of them at once in one daemon, and reads each through every view, up to this moment. */
export async function claim(
  plans: readonly Plan[],
  last: Moment = 'after retention',
): Promise<Disagreement[]> {
  const world = await openWorld()
  let found: Disagreement[] | null = null
  try {
    return (found = await lookedAt(world, plans, last))
  } finally {
    // What was found, or went wrong before, is the news.
    await world.close().catch((error: unknown) => {
      if (found?.length === 0) throw error
    })
  }
}

async function lookedAt(world: World, plans: readonly Plan[], last: Moment): Promise<Disagreement[]> {
  const { views, watch } = await openViews(world)
  const played = await atATime(8, plans, (plan) => play(world, plan, watch))
  const found = await readAll(world, views, played, 'at the end')
  if (last === 'at the end') return found
  const replays = views.filter(({ live }) => !live)
  await world.crash()
  found.push(...(await readAll(world, replays, played, 'after a restart')))
  if (last === 'after a restart') return found
  const moment = played[Math.floor(played.length / 2)]!.lastActAt
  await world.crash(() => forget(world.daemon, moment))
  found.push(...(await readAll(world, replays, played, 'after retention')))
  return found
}

async function readAll(
  world: World,
  views: readonly View[],
  all: readonly Played[],
  when: Moment,
): Promise<Disagreement[]> {
  const found = await atATime(4, all, async (played) => {
    const sessions = [played.sessionId, ...played.forks]
    const each = await Promise.all(sessions.map((id) => compared(world, views, played, id, when)))
    return each.flat()
  })
  return found.flat()
}

async function compared(
  world: World,
  views: readonly View[],
  played: Played,
  sessionId: string,
  when: Moment,
): Promise<Disagreement[]> {
  const random = randomly(played.plan.seed)
  const { turns } = await world.native.call('turn.list', { sessionId, limit: 100 })
  const events = await eventsOf(world, sessionId)
  const found: Disagreement[] = []
  for (const view of views) {
    const { name, silence, live, forgets } = view
    const expected = through(silence, toldBy(events, forgets ? [] : turns, toldTo(silence, turns)))
    const read = async (): Promise<string[] | null> => {
      try {
        const told = await view.read({ world, played, sessionId, random })
        return told && through(silence, told)
      } catch (error) {
        return [`error: ${String(error)}`]
      }
    }
    const told = live ? await settled(read, expected) : await read()
    if (told === null || isDeepStrictEqual(told, expected)) continue
    found.push({ plan: played.plan, view: name, when, expected, told })
  }
  return found
}

/** Of a view that knows only turns of its own: what it tells. It tells answers to questions that it has told. */
function toldTo({ ours }: Silence, turns: readonly TurnView[]) {
  const own = new Set(turns.filter(({ origin }) => origin === 'codecast').map(({ id }) => id))
  return (change: Change, event: Event): boolean => {
    if (!ours) return true
    if (change.type === 'decided' && change.question === null) return false
    return own.has(event.turnId ?? '') && (change.type !== 'said' || change.message.steer)
  }
}

/** What is told live comes when it comes; what has not come by then does not. */
async function settled(read: () => Promise<string[] | null>, expected: string[]): Promise<string[] | null> {
  for (let left = LIVE_MS / 50; ; left--) {
    const told = await read()
    if (told === null || left <= 0 || isDeepStrictEqual(told, expected)) return told
    await sleep(50)
  }
}

async function eventsOf({ native }: World, sessionId: string): Promise<Event[]> {
  const events: Event[] = []
  for (let more = true; more;) {
    const after = events.at(-1)?.seq ?? 0
    const page = await native.call('events.read', { sessionId, after, limit: 1000 })
    events.push(...page.events)
    more = page.more && page.events.length > 0
  }
  return events
}

async function atATime<T, R>(most: number, list: readonly T[], work: (one: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  const left = [...list.entries()]
  const worker = async (): Promise<void> => {
    for (let next = left.shift(); next; next = left.shift()) results[next[0]] = await work(next[1])
  }
  await Promise.all(Array.from({ length: most }, worker))
  return results
}

/** The smallest plan that still fails, within so many tries. */
export async function shrunk({ plan, when }: Disagreement, tries: number): Promise<Plan> {
  let smallest = plan
  for (let left = tries, isSmaller = true; isSmaller && left > 0;) {
    isSmaller = false
    for (const less of smaller(smallest)) {
      if (left-- <= 0) break
      if ((await claim([less], when)).length === 0) continue
      smallest = less
      isSmaller = true
      break
    }
  }
  return smallest
}

export function plansFrom(seed: number, count: number): Plan[] {
  return Array.from({ length: count }, (_, at) => planOf(seed + at))
}
