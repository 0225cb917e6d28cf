import { ACCESS_COMMANDS, ACCESS_NOUNS } from './program/access.ts'
import { CHECKPOINT_COMMANDS, CHECKPOINT_NOUNS } from './program/checkpoints.ts'
import { DAEMON_COMMANDS, PROTOCOL_COMMANDS } from './program/daemon.ts'
import { DECISION_COMMANDS, DECISION_NOUNS } from './program/decisions.ts'
import { LIFE_COMMANDS, LIFE_NOUNS } from './program/life.ts'
import { MACHINE_COMMANDS, MACHINE_NOUNS } from './program/machines.ts'
import { SESSION_COMMANDS, SESSION_NOUNS } from './program/sessions.ts'
import type { CommandSpec, NounSpec } from './program/spec.ts'
import { WORKSPACE_COMMANDS, WORKSPACE_NOUNS } from './program/workspace.ts'

export const COMMANDS: readonly CommandSpec[] = [
  ...SESSION_COMMANDS,
  ...CHECKPOINT_COMMANDS,
  ...WORKSPACE_COMMANDS,
  ...DECISION_COMMANDS,
  ...ACCESS_COMMANDS,
  ...DAEMON_COMMANDS,
  ...MACHINE_COMMANDS,
  ...LIFE_COMMANDS,
  ...PROTOCOL_COMMANDS,
]

export const NOUNS: readonly NounSpec[] = [
  ...SESSION_NOUNS,
  ...CHECKPOINT_NOUNS,
  ...WORKSPACE_NOUNS,
  ...DECISION_NOUNS,
  ...ACCESS_NOUNS,
  ...LIFE_NOUNS,
  ...MACHINE_NOUNS,
]

/** The names of a command that help and completion show: `send` and `session send`. */
export function namesOf({ name, noun }: CommandSpec): string[] {
  return noun === undefined ? [name] : [name, `${noun} ${name}`]
}

/** The part of the help that a command is in. */
export function groupOf({ name, group }: CommandSpec): NounSpec['group'] | undefined {
  return group ?? NOUNS.find((noun) => name.startsWith(`${noun.name} `))?.group
}
