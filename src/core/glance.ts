import { aboutTool } from './about.ts'
import { textOf } from './content.ts'
import type { EventOf } from './event.ts'
import { excerpt, firstLine, lastLine } from './excerpt.ts'
import { inertOutput } from './inert.ts'
import { within } from './path.ts'
import type { Session } from './session.ts'

const MAX_NAME = 60
const MAX_LINE = 200
const MAX_DOING = 120
/** Of calls that run side by side the newest are remembered. */
const MAX_CALLS = 8

/** What a list shows of a session: small and bounded, kept in its state, so that no list has to read histories. */
export interface Glance {
  /** The beginning of its first message. */
  opening: string | null
  /** The last line that the user has said, and in which turn; and the agent's. */
  user: { turnId: string; text: string } | null
  agent: string | null
  /** Who spoke last. */
  last: 'user' | 'agent'
  /** Calls under way, the newest last. */
  calls: readonly { callId: string; about: string }[]
}

const NOTHING: Glance = { opening: null, user: null, agent: null, last: 'user', calls: [] }

/** What to call a session: as somebody has named it, as its agent calls it, or by how it began. */
export function nameOf({
  title,
  toldTitle,
  glance,
}: Pick<Session, 'title' | 'toldTitle' | 'glance'>): string | null {
  // A title without a word in it names nothing.
  return (title?.trim() ? title : null) ?? toldTitle ?? glance?.opening ?? null
}

/** A title made of the beginning of a text: one short line with nothing hidden in it. Null: there is no word in it. */
export function titleFrom(text: string): string | null {
  return firstLine(inertOutput(text), MAX_NAME)
}

/** The last line that was said; null: nothing was, or it is not known. */
export function lastLineOf({ user, agent, last }: Glance = NOTHING): string | null {
  return last === 'user' ? (user?.text ?? agent) : (agent ?? user?.text ?? null)
}

/** The last line of a text, as long as a list shows it. */
export function lineOf(text: string): string | null {
  return lastLine(text, MAX_LINE)
}

/** What the call is about that began last and still runs; null: none does. */
export function doingOf({ calls }: Glance = NOTHING): string | null {
  return calls.at(-1)?.about ?? null
}

/** The user says something, to be taken up now or later. */
export function said(
  glance: Glance = NOTHING,
  turnId: string,
  { input }: Pick<EventOf<'turn.queued'>, 'input'>,
): Glance {
  const words = textOf(input)
  const text = lineOf(words)
  if (text === null) return glance
  const opening = glance.opening ?? titleFrom(words)
  return { ...glance, opening, user: { turnId, text }, last: 'user' }
}

/** What the user took back was never said. */
export function unsaid(glance: Glance = NOTHING, turnId: string): Glance {
  return glance.user?.turnId === turnId ? { ...glance, user: null } : glance
}

/** The agent itself says something; what it thinks, and what its sub-agents say, is no part of the talk. */
export function spoke(
  glance: Glance = NOTHING,
  { kind, text, parent }: EventOf<'message.completed'>,
): Glance {
  const line = kind === 'text' && parent === null ? lineOf(text) : null
  return line === null ? glance : { ...glance, agent: line, last: 'agent' }
}

export function began(
  glance: Glance = NOTHING,
  { callId, tool, input }: EventOf<'tool.started'>,
  cwd: string,
): Glance {
  const others = glance.calls.filter((call) => call.callId !== callId)
  const call = { callId, about: aboutCall(tool, input, cwd) }
  return { ...glance, calls: [...others.slice(1 - MAX_CALLS), call] }
}

export function finished(glance: Glance = NOTHING, callId: string): Glance {
  const calls = glance.calls.filter((call) => call.callId !== callId)
  return calls.length === glance.calls.length ? glance : { ...glance, calls }
}

/** Nothing is under way any more. */
export function rested(glance: Glance = NOTHING): Glance {
  return glance.calls.length === 0 ? glance : { ...glance, calls: [] }
}

/** `Bash: npm test`; files are told as seen from the session's directory. */
export function aboutCall(tool: string, input: unknown, cwd: string): string {
  const [subject = described(input)] = aboutTool(tool, input).subjects
  const short = within(subject, cwd) ?? subject
  return excerpt(short === '' ? tool : `${excerpt(tool, MAX_DOING / 2)}: ${short}`, MAX_DOING)
}

/** Some agents say in words what a call is for. */
function described(input: unknown): string {
  if (typeof input !== 'object' || input === null) return ''
  const { description, title, prompt } = input as Record<string, unknown>
  const found = [description, title, prompt].find((text) => typeof text === 'string')
  return typeof found === 'string' ? found : ''
}
