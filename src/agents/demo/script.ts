import { isAbsolute, relative, resolve, sep } from 'node:path'
import { type Directive, directivesIn, markersIn } from './directive.ts'
import { type Stage, tourOf } from './tour.ts'

/** Something said since the last answer, in order: by the user, or by a tool. */
export interface Utterance {
  by: 'user' | 'tool'
  text: string
}

export interface Attachment {
  mediaType: string
  /** Decoded size. */
  bytes: number
}

/** What else a directive may ask about. */
export interface Facts {
  system: readonly string[]
  /** How long it is to think, in words of its own; null: nobody has said. */
  effort: string | null
  /** The last `[[remember X]]` of the conversation. */
  remembered: string | null
  attachments: readonly Attachment[]
  /** The session's directory; null when it is not known, and then no path is safe. */
  directory: string | null
  /** What it is to the tour (`tour.ts`), if it was made for it. */
  stage?: Stage | null
}

/** A tool call, by what it is for; who plays the script gives it the name the agent at hand has for it. */
export type Call =
  | { tool: 'shell'; command: string }
  | { tool: 'write'; path: string; text: string }
  | { tool: 'edit'; path: string; before: string; after: string }
  | { tool: 'ask'; question: string }
  | { tool: 'named'; name: string; input: Record<string, unknown> }

export type Action =
  | { do: 'say'; text: string }
  | { do: 'think'; text: string }
  | { do: 'drip'; words: number; everyMs: number }
  /** Word by word. */
  | { do: 'tell'; text: string; everyMs: number }
  | { do: 'burst'; count: number; bytes: number }
  /** `real`: in the session's directory, and not only as pretence. */
  | { do: 'call'; call: Call; real?: true }
  | { do: 'wait'; ms: number }
  | { do: 'fail'; status: number }
  | { do: 'hang' }

const TOOL_SAID_CHARS = 400
const MAX_WORDS = 1_000_000
const MAX_WAIT_MS = 3_600_000
const MAX_BURST_BYTES = 256 * 1024 * 1024

/** A directive that cannot be obeyed; the answer says so. */
class Refusal extends Error {}

type Rule = (argument: string, facts: Facts) => Action[]

const RULES: Record<string, Rule> = {
  say: (text) => [{ do: 'say', text }],
  say64: (argument) => [{ do: 'say', text: decoded(argument) }],
  words: (argument) => [{ do: 'say', text: wordsUpTo(numbers(argument, [MAX_WORDS])[0]!) }],
  drip: (argument) => {
    const [words, everyMs] = numbers(argument, [MAX_WORDS, MAX_WAIT_MS])
    return [{ do: 'drip', words: words!, everyMs: everyMs! }]
  },
  tell64: (argument) => {
    const [everyMs, text] = head(argument)
    return [{ do: 'tell', text: decoded(text), everyMs: numbers(everyMs, [MAX_WAIT_MS])[0]! }]
  },
  burst: (argument) => {
    const [count, bytes] = numbers(argument, [MAX_BURST_BYTES, MAX_BURST_BYTES])
    if (count! * bytes! > MAX_BURST_BYTES) throw new Refusal(`more than ${MAX_BURST_BYTES} bytes`)
    return [{ do: 'burst', count: count!, bytes: bytes! }]
  },
  call: (argument) => calls(tokens(argument)),
  saycall: (argument) => {
    const [text, ...pair] = tokens(argument)
    if (pair.length !== 2) throw new Refusal('expected B64TEXT NAME B64')
    return [{ do: 'say', text: decoded(text!) }, ...calls(pair)]
  },
  slowcall: (argument) => {
    const [ms, rest] = head(argument)
    const wait: Action = { do: 'wait', ms: numbers(ms, [MAX_WAIT_MS])[0]! }
    return calls(tokens(rest)).flatMap((call, at) => (at === 0 ? [call] : [wait, call]))
  },
  shell: (command) => [{ do: 'call', call: { tool: 'shell', command } }],
  write: (argument, facts) => {
    const [path, text] = head(argument)
    return [{ do: 'call', call: { tool: 'write', path: safePath(path, facts.directory), text } }]
  },
  edit: (argument, facts) => {
    const [path, rest] = head(argument)
    const [before, after] = head(rest)
    if (before === '') throw new Refusal('expected PATH OLD NEW')
    return [{ do: 'call', call: { tool: 'edit', path: safePath(path, facts.directory), before, after } }]
  },
  ask: (question) => [{ do: 'call', call: { tool: 'ask', question } }],
  system: (_, facts) => {
    const words = facts.system.flatMap((text) => markersIn(text, 'sysword'))
    return [{ do: 'say', text: `system: ${words.join(' ') || 'none'}` }]
  },
  attachments: (_, facts) => {
    const list = facts.attachments.map((one) => ` ${one.mediaType}/${one.bytes}`)
    return [{ do: 'say', text: `attachments: ${list.length}${list.join('')}` }]
  },
  effort: (_, facts) => [{ do: 'say', text: `effort: ${facts.effort ?? 'none'}` }],
  recall: (_, facts) => [{ do: 'say', text: `recall: ${facts.remembered ?? 'none'}` }],
  fail: (argument) => [{ do: 'fail', status: httpStatus(argument) }],
  sayfail: (argument) => {
    const [code, text] = head(argument)
    return [
      { do: 'say', text },
      { do: 'fail', status: httpStatus(code) },
    ]
  },
  hang: () => [{ do: 'hang' }],
}

/** What to do about what was said. The last directive decides; thoughts before it come first. */
export function planOf(said: readonly Utterance[], facts: Facts): Action[] {
  const tour = facts.stage ? tourOf(said, facts.stage) : null
  if (tour) return tour
  const script = said.flatMap((one) => directivesIn(one.text)).filter(isDirective)
  if (script.length === 0) return [{ do: 'say', text: undirected(said) }]
  const thoughts = script.filter((one) => one.name === 'think').map((one) => one.argument)
  const last = script.at(-1)!
  const steps: Action[] = last.name === 'think' ? [{ do: 'say', text: 'done' }] : obey(last, facts)
  return [...thoughts.map((text): Action => ({ do: 'think', text })), ...steps]
}

/** The last `[[remember X]]` of a text; null when there is none. */
export function rememberedIn(text: string): string | null {
  return markersIn(text, 'remember').at(-1) ?? null
}

export function wordsUpTo(count: number): string {
  return Array.from({ length: count }, (_, index) => `w${index + 1}`).join(' ')
}

function isDirective(directive: Directive): boolean {
  return directive.name === 'think' || Object.hasOwn(RULES, directive.name)
}

function obey(directive: Directive, facts: Facts): Action[] {
  try {
    return RULES[directive.name]!(directive.argument, facts)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return [{ do: 'say', text: `refused: ${directive.name}: ${error.message}` }]
  }
}

function undirected(said: readonly Utterance[]): string {
  const by = said.at(-1)?.by ?? 'user'
  const start = said.findLastIndex((one) => one.by !== by) + 1
  const text = said
    .slice(start)
    .map((one) => one.text)
    .join('\n')
  return by === 'user' ? `echo: ${text}` : `tool said: ${text.slice(0, TOOL_SAID_CHARS)}`
}

function safePath(path: string, directory: string | null): string {
  if (directory === null)
    throw new Refusal(`the session's directory is not known, so ${path} may be outside it`)
  const inside = relative(directory, resolve(directory, path))
  const outside = inside === '' || inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside)
  if (path === '' || path.includes('\0') || outside) {
    throw new Refusal(`${path || 'an empty path'} is not inside the session's directory`)
  }
  return resolve(directory, path)
}

function calls(list: string[]): Action[] {
  if (list.length === 0 || list.length % 2 !== 0) throw new Refusal('expected pairs of NAME B64')
  const steps: Action[] = []
  for (let i = 0; i < list.length; i += 2) {
    steps.push({ do: 'call', call: { tool: 'named', name: list[i]!, input: decodedObject(list[i + 1]!) } })
  }
  return steps
}

function tokens(argument: string): string[] {
  return argument.split(/\s+/).filter((token) => token !== '')
}

/** The first word, and the rest as it is after one separator. */
function head(argument: string): [string, string] {
  const match = /^\s*(\S*)(?:\s([^]*))?$/.exec(argument)
  return [match?.[1] ?? '', match?.[2] ?? '']
}

function numbers(argument: string, limits: number[]): number[] {
  const list = tokens(argument)
  const right =
    list.length === limits.length && list.every((token, i) => /^\d+$/.test(token) && +token <= limits[i]!)
  if (!right) throw new Refusal(`expected whole numbers up to ${limits.join(' and ')}`)
  return list.map(Number)
}

function httpStatus(argument: string): number {
  const status = Number(argument)
  if (!Number.isInteger(status) || status < 400 || status > 599)
    throw new Refusal('expected a status from 400 to 599')
  return status
}

function decoded(base64: string): string {
  try {
    if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(base64.trim())) throw new TypeError('not base64')
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(base64, 'base64'))
  } catch {
    throw new Refusal('expected base64 of UTF-8')
  }
}

function decodedObject(base64: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(decoded(base64))
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>
  } catch {
    // said below
  }
  throw new Refusal('expected base64 of a JSON object')
}
