import { isDeepStrictEqual } from 'node:util'
import type { AgentCommand, AgentFact } from '../core/event.ts'
import { asArray, asObject, asString } from './json.ts'

const MAX_COMMANDS = 200
const MAX_NAME = 100
const MAX_ABOUT = 300

/** The commands that an agent names: by their names alone, or with what they are about. */
export function commandsOf(list: unknown): AgentCommand[] {
  return asArray(list).flatMap(commandOf).slice(0, MAX_COMMANDS)
}

function commandOf(told: unknown): AgentCommand[] {
  const { name, description } = typeof told === 'string' ? { name: told } : asObject(told)
  const word = (asString(name) ?? '').replace(/^\//, '')
  if (word === '' || word.length > MAX_NAME || /\s/.test(word)) return []
  const about = asString(description)?.trim().slice(0, MAX_ABOUT)
  return [{ name: word, about: about || null }]
}

/** They are said when they are not those that were said last; undefined: none were. */
export function commandsTold(
  last: readonly AgentCommand[] | undefined,
  commands: AgentCommand[],
): AgentFact[] {
  return isDeepStrictEqual(last ?? [], commands) ? [] : [{ type: 'agent.commands', commands }]
}
