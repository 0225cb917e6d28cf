import type { AgentCommand } from '../../src/core/event.ts'
import { EFFORTS } from '../../src/core/effort.ts'
import { MODES } from '../../src/core/mode.ts'

/** What is being typed that can be completed: a file (`@src/…`) or a command (`/mo…`), and where it stands. */
export interface Typing {
  kind: 'file' | 'command'
  query: string
  from: number
  to: number
}

/** Null: nothing that can be completed stands before the cursor. */
export function typingAt(text: string, cursor: number): Typing | null {
  const before = text.slice(0, cursor)
  const [, file] = /(?:^|[\s(])@([^\s@]*)$/.exec(before) ?? []
  if (file !== undefined) return { kind: 'file', query: file, from: cursor - file.length - 1, to: cursor }
  const isCommand = /^\/[^\n]*$/.test(before)
  return isCommand ? { kind: 'command', query: before, from: 0, to: cursor } : null
}

/** The text with what was chosen in place of what was typed, and where the cursor stands then. */
export function completed(text: string, typing: Typing, chosen: string): { text: string; cursor: number } {
  const end = chosen.endsWith(' ') || text[typing.to] === ' ' ? chosen : `${chosen} `
  return { text: text.slice(0, typing.from) + end + text.slice(typing.to), cursor: typing.from + end.length }
}

export interface Suggestion {
  /** What stands in the text when it is chosen. */
  text: string
  label: string
  hint: string
}

/** A command of Corral's own: the dashboard does it, and the agent never sees it. */
export type OwnCommand =
  | { do: 'compact' }
  | { do: 'mode'; value: (typeof MODES)[number] }
  | { do: 'model'; value: string | null }
  | { do: 'effort'; value: (typeof EFFORTS)[number] | null }

export interface CommandFacts {
  models: readonly { id: string; name: string }[]
  efforts: readonly string[]
  canCompact: boolean
  /** Those of the agent's own. */
  agents: readonly AgentCommand[]
}

const MAX_SUGGESTIONS = 12

/** What can be written after a slash, by what was written so far: names first, then what they take. */
export function commandSuggestions(query: string, facts: CommandFacts): Suggestion[] {
  const [, name, typed] = /^\/(\w+) +(\S*)$/.exec(query) ?? []
  const all = name === undefined ? names(facts) : values(name, facts)
  const start = (name === undefined ? query.slice(1) : typed!).toLowerCase()
  return all.filter(({ key }) => key.toLowerCase().startsWith(start)).slice(0, MAX_SUGGESTIONS)
}

interface Keyed extends Suggestion {
  key: string
}

function names({ models, efforts, canCompact, agents }: CommandFacts): Keyed[] {
  const own: [name: string, hint: string, isThere: boolean][] = [
    ['mode', 'what it may do without asking', true],
    ['model', 'which model answers', models.length > 0],
    ['effort', 'how long it thinks', efforts.length > 0],
    ['compact', 'sum up the conversation', canCompact],
  ]
  const ours = own.flatMap(([name, hint, isThere]): Keyed[] =>
    isThere
      ? [{ key: name, text: name === 'compact' ? '/compact' : `/${name} `, label: `/${name}`, hint }]
      : [],
  )
  const known = new Set(own.map(([name]) => name))
  const others = agents
    .filter(({ name }) => !known.has(name))
    .map(({ name, about }) => {
      return { key: name, text: `/${name} `, label: `/${name}`, hint: about ?? "the agent's own" }
    })
  return [...ours, ...others]
}

function values(name: string, { models, efforts }: CommandFacts): Keyed[] {
  const of = (value: string, hint: string): Keyed => {
    const text = `/${name} ${value}`
    return { key: value, text, label: text, hint }
  }
  if (name === 'mode') return MODES.map((mode) => of(mode, ''))
  if (name === 'model')
    return [...models.map((model) => of(model.id, model.name)), of('default', "the agent's choice")]
  return name === 'effort'
    ? [...efforts.map((effort) => of(effort, '')), of('default', 'as it does by itself')]
    : []
}

/** The command of Corral's own that a message is; null: it is a message. */
export function ownCommand(text: string, canCompact: boolean): OwnCommand | null {
  const [, name, value = ''] = /^\/(compact|mode|model|effort)(?:\s+(\S+))?\s*$/.exec(text.trim()) ?? []
  if (name === 'compact') return canCompact && value === '' ? { do: 'compact' } : null
  if (name === 'mode') {
    const mode = MODES.find((one) => one === value)
    return mode ? { do: 'mode', value: mode } : null
  }
  if (name === 'model')
    return value === '' ? null : { do: 'model', value: value === 'default' ? null : value }
  if (name !== 'effort') return null
  if (value === 'default') return { do: 'effort', value: null }
  const effort = EFFORTS.find((one) => one === value)
  return effort ? { do: 'effort', value: effort } : null
}
