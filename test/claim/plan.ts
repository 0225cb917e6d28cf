/*
 * A random session as data: what is said to the demo agent, and what its users do while it works. The same seed makes the
 * same plan, and a plan can be made smaller.
 */

import { randomly } from '../support/random.ts'

export type Mode = 'auto' | 'code' | 'plan' | 'ask'

/** Something that a user does at a moment when the agent waits. */
export type Command =
  | { do: 'queue'; text: string }
  | { do: 'cancel' }
  | { do: 'move' }
  /** The message that waits last says something else. */
  | { do: 'edit'; text: string }
  /** It is brought to the turn that runs. */
  | { do: 'bring' }
  | { do: 'steer'; text: string }
  | { do: 'pause' }
  | { do: 'mode'; mode: Mode }
  /** What no protocol tells: it is read, done with, out of sight; or something is typed and not sent. */
  | { do: 'mark' }
  | { do: 'draft'; text: string }
  | { do: 'crash' }

export type Answer = 'allow' | 'session' | 'deny' | 'edit' | 'respond' | 'interrupt' | 'clear'

/** The agent waits, for a human or for nothing: what is done then, and how it goes on. */
export interface Station {
  before: Command[]
  answer: Answer
}

/** One answer of the agent: the last round of a turn says something, all before make calls. */
export type Round =
  | { kind: 'say'; text: string }
  | { kind: 'words'; count: number }
  | { kind: 'drip'; count: number }
  | { kind: 'think'; text: string }
  | { kind: 'fail' }
  | { kind: 'sayfail'; text: string }
  | { kind: 'hang' }
  /** It talks until it is interrupted. */
  | { kind: 'endless' }
  | { kind: 'ask'; question: string }
  | { kind: 'calls'; say: string | null; tools: Tool[] }

export type Tool = 'Shell' | 'Write' | 'Edit' | 'Fail' | 'Task'

export type Act =
  | { act: 'turn'; rounds: Round[]; stations: Station[] }
  /** A call to the relay: the agent uses the caller's tool so often, then says something. */
  | { act: 'relay'; uses: number; last: Round }
  | { act: 'compact' }
  /** `turn`: from after its first turn; else from where it is. */
  | { act: 'fork'; turn: boolean }
  | { act: 'crash' }

export interface Plan {
  seed: number
  mode: Mode
  /** Its messages go through Codecast: read as they come, or cut off and read by `session.reconnect`. */
  codecast: 'live' | 'reconnect' | null
  /** It is a session of the relay's, whose caller gets answers whole or as a stream. */
  relay: 'whole' | 'stream' | null
  acts: Act[]
}

export function planOf(seed: number): Plan {
  const random = randomly(seed)
  for (let i = 0; i < 3; i++) random(2)
  const among = <T>(...list: T[]): T => list[random(list.length)]!
  const some = <T>(most: number, make: () => T): T[] => Array.from({ length: random(most + 1) }, make)
  let said = 0
  const thought = (): string => `thought ${++said}`
  const words = (): string => `${among('alpha', 'beta', 'gamma', 'delta')} ${++said}`

  const command = (): Command =>
    among<() => Command>(
      () => ({ do: 'queue', text: `[[say ${words()}]]` }),
      () => ({ do: 'queue', text: words() }),
      () => ({ do: 'queue', text: words() }),
      () => ({ do: 'cancel' }),
      () => ({ do: 'move' }),
      () => ({ do: 'edit', text: words() }),
      () => ({ do: 'edit', text: `[[say ${words()}]]` }),
      () => ({ do: 'bring' }),
      () => ({ do: 'bring' }),
      () => ({ do: 'steer', text: `[[say ${words()}]]` }),
      () => ({ do: 'pause' }),
      () => ({ do: 'mode', mode: among<Mode>('auto', 'code', 'plan', 'ask') }),
      () => (random(2) ? { do: 'mark' } : { do: 'draft', text: words() }),
      () => ({ do: random(8) === 0 ? 'crash' : 'pause' }),
    )()
  const station = (): Station => ({
    before: some(3, command),
    answer: among<Answer>(
      'allow',
      'allow',
      'allow',
      'session',
      'deny',
      'edit',
      'respond',
      'interrupt',
      'clear',
    ),
  })
  const tools = (): Tool[] => [
    ...some(2, () => among<Tool>('Shell', 'Write', 'Edit', 'Fail', 'Task')),
    // Its result is the script of the next round.
    'Shell',
  ]
  const middle = (): Round =>
    random(4) === 0
      ? { kind: 'ask', question: `${words()}?` }
      : { kind: 'calls', say: random(2) ? thought() : null, tools: tools() }
  const last = (): Round =>
    among<() => Round>(
      () => ({ kind: 'say', text: words() }),
      () => ({ kind: 'say', text: words() }),
      () => ({ kind: 'words', count: 1 + random(20) }),
      () => ({ kind: 'drip', count: 1 + random(5) }),
      () => ({ kind: 'think', text: thought() }),
      () => ({ kind: 'fail' }),
      () => ({ kind: 'sayfail', text: words() }),
      () => ({ kind: 'hang' }),
      () => ({ kind: 'endless' }),
    )()
  const turn = (): Act => {
    const rounds = [...some(2, middle), last()]
    return { act: 'turn', rounds, stations: some(4, station) }
  }
  const act = (): Act =>
    among<() => Act>(
      turn,
      turn,
      turn,
      turn,
      () => ({ act: 'compact' }),
      () => ({ act: 'fork', turn: random(2) === 0 }),
      () => (random(4) === 0 ? { act: 'crash' } : turn()),
    )()
  const relayed = (): Act => {
    const said: Round[] = [
      { kind: 'say', text: words() },
      { kind: 'words', count: 1 + random(20) },
      { kind: 'drip', count: 1 + random(5) },
      { kind: 'think', text: thought() },
    ]
    return { act: 'relay', uses: random(3), last: among(...said) }
  }
  if (random(8) === 0) {
    const crash = (): Act => (random(4) === 0 ? { act: 'crash' } : relayed())
    const acts = [relayed(), ...some(2, crash)]
    return { seed, mode: 'auto', codecast: null, relay: among('whole', 'stream'), acts }
  }
  return {
    seed,
    relay: null,
    mode: among<Mode>('auto', 'code', 'plan', 'ask', 'ask', 'ask'),
    codecast: among('live', 'reconnect', null, null),
    acts: [turn(), ...some(2, act)],
  }
}

/** The tool that callers of the relay have. */
export const LOOKUP = 'lookup'

/** What makes the demo agent use that tool so often; what it finds is the next script. */
export function relayScriptOf(uses: number, last: Round): string {
  return uses === 0 ? scriptOf([last]) : `[[call ${LOOKUP} ${base64('{}')}]]`
}

export const HANG = '[[hang]]'
export const ENDLESS = '[[drip 100000 2]]'

/** The message that makes the demo agent do it. */
export function scriptOf([round, ...rest]: readonly Round[]): string {
  if (!round) return 'the end'
  switch (round.kind) {
    case 'say':
      return `[[say ${round.text}]]`
    case 'words':
      return `[[words ${round.count}]]`
    case 'drip':
      return `[[drip ${round.count} 2]]`
    case 'think':
      return `[[think ${round.text}]]`
    case 'fail':
      return '[[fail 529]]'
    case 'sayfail':
      return `[[sayfail 500 ${round.text}]]`
    case 'hang':
      return HANG
    case 'endless':
      return ENDLESS
    case 'ask':
      return `[[ask ${round.question}]]`
    case 'calls': {
      const pairs = round.tools.map((tool, at) => {
        const input = at === round.tools.length - 1 ? { command: scriptOf(rest) } : inputOf(tool)
        return `${tool} ${base64(JSON.stringify(input))}`
      })
      const calls = `[[call ${pairs.join(' ')}]]`
      return round.say === null ? calls : `[[think ${round.say}]] ${calls}`
    }
  }
}

function inputOf(tool: Tool): Record<string, string> {
  if (tool === 'Write') return { path: 'a.txt', content: 'text' }
  if (tool === 'Edit') return { path: 'a.txt', before: 'a', after: 'b' }
  // A sub-agent, which thinks, makes a call of its own and then says something.
  if (tool === 'Task')
    return { prompt: `[[think thought 0]] [[call Shell ${base64('{"command":"[[say helped]]"}')}]]` }
  return { command: `run ${tool}` }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

/** All plans that have one thing less. */
export function* smaller(plan: Plan): Generator<Plan> {
  const least = plan.relay === null ? 0 : 1
  for (let at = plan.acts.length - 1; at >= least; at--) yield { ...plan, acts: plan.acts.toSpliced(at, 1) }
  for (const [at, act] of plan.acts.entries()) {
    for (const less of smallerAct(act)) yield { ...plan, acts: plan.acts.with(at, less) }
  }
  if (plan.codecast !== null) yield { ...plan, codecast: null }
}

function* smallerAct(act: Act): Generator<Act> {
  if (act.act === 'relay' && act.uses > 0) yield { ...act, uses: act.uses - 1 }
  if (act.act !== 'turn') return
  const { rounds, stations } = act
  for (const at of rounds.keys()) {
    if (rounds.length > 1) yield { ...act, rounds: rounds.toSpliced(at, 1) }
    const round = rounds[at]!
    if (round.kind !== 'calls') continue
    if (round.say !== null) yield { ...act, rounds: rounds.with(at, { ...round, say: null }) }
    for (const tool of round.tools.keys()) {
      if (round.tools.length > 1) {
        yield { ...act, rounds: rounds.with(at, { ...round, tools: round.tools.toSpliced(tool, 1) }) }
      }
    }
  }
  for (const [at, station] of stations.entries()) {
    yield { ...act, stations: stations.toSpliced(at, 1) }
    for (const command of station.before.keys()) {
      const before = station.before.toSpliced(command, 1)
      yield { ...act, stations: stations.with(at, { ...station, before }) }
    }
  }
}
