import type { Command as Action } from '../cli.ts'

/** The parts of `corral --help`, in their order. */
export const GROUPS = [
  'Everyday',
  'Sessions',
  'Decisions',
  'Agents and access',
  'Daemon',
  'Protocols',
] as const
type Group = (typeof GROUPS)[number]

/** `many` may be given several times; `old` works but is in no help. */
export type OptionSpec = readonly [flags: string, description: string, kind?: 'many' | 'old']

/** One command, as data: help, completion and documentation come from here; its code is loaded when it runs. */
export interface CommandSpec {
  /** `send`, or `project add`: a verb of the noun `project`. */
  name: string
  /** The noun of a short command: `session` makes `corral session send` the same as `corral send`. */
  noun?: string
  /** Only for short commands: the others are in the group of their noun. */
  group?: Group
  /** In commander's notation: `<session> [message...]`. */
  args: string
  summary: string
  /** When to use it, in whole sentences. */
  use: string
  examples: readonly string[]
  options?: readonly OptionSpec[]
  /** Older names, whole: they work, but are in no help. */
  old?: readonly string[]
  load(): Promise<Action>
}

/** What commands are about: its verbs are commands. */
export interface NounSpec {
  name: string
  plural: string
  group: Group
  summary: string
  /** What the noun does without a verb: older versions had no verbs for it. */
  bare: { args: string; options: readonly OptionSpec[]; load(): Promise<Action> }
}

export const COMMON: readonly OptionSpec[] = [
  ['--home <directory>', 'where Corral keeps its data (CORRAL_HOME or ~/.corral)'],
  ['--json', 'print JSON, one value per line'],
]

export const QUIET: readonly OptionSpec[] = [['-q, --quiet', 'print ids only']]
