import { EFFORTS } from '../../core/effort.ts'
import { MODES } from '../../core/mode.ts'
import { replaced, type Draft } from './editor.ts'
import type { Abilities } from './state.ts'

/** What can stand in place of what is being typed. */
export interface Menu {
  readonly kind: 'file' | 'command'
  /** As it was typed, with its sign. */
  readonly query: string
  readonly from: number
  readonly choices: readonly Choice[]
  readonly chosen: number
  /** Somebody has moved in it: Enter takes what is chosen. */
  readonly moved: boolean
}

export interface Choice {
  readonly text: string
  readonly hint: string
}

const MAX_CHOICES = 8

/** The commands of this screen. */
export const OWN: readonly (readonly [name: string, values: string, what: string])[] = [
  ['help', '', 'what can be typed'],
  ['mode', 'MODE', 'what the agent may do without asking: auto, code, plan or ask'],
  ['model', 'MODEL', 'which model answers'],
  ['effort', 'LEVEL', 'how long it thinks'],
  ['steer', 'TEXT', 'say something to the turn that runs'],
  ['queue', '[rm N | edit N | steer N]', 'messages that wait'],
  ['diff', '[turn | session | branch | uncommitted]', 'what has changed'],
  ['image', 'PATH', 'attach a picture'],
  ['title', 'TEXT', 'name the session'],
  ['compact', '', 'sum up the conversation'],
  ['interrupt', '', 'stop the running turn, as Esc does'],
  ['quit', '', 'leave; the session goes on'],
]

const SCOPES = ['turn', 'session', 'branch', 'uncommitted']

/** What is being typed before the cursor that can be completed; null: nothing. */
export function typingAt(draft: Draft): Pick<Menu, 'kind' | 'query' | 'from'> | null {
  const before = draft.text.slice(0, draft.cursor)
  const [, file] = /(?:^|[\s(])@([^\s@]*)$/.exec(before) ?? []
  if (file !== undefined) return { kind: 'file', query: `@${file}`, from: draft.cursor - file.length - 1 }
  return /^\/[^\s/]*(?: \S*)?$/.test(before) ? { kind: 'command', query: before, from: 0 } : null
}

export function commandChoices(query: string, abilities: Abilities): Choice[] {
  const [, name = '', value] = /^\/(\S*)(?: (\S*))?$/.exec(query) ?? []
  const fits = (text: string, typed: string): boolean => text.toLowerCase().startsWith(typed.toLowerCase())
  if (value === undefined) {
    const own = OWN.map(([one, values, what]) => ({
      text: values === '' ? `/${one}` : `/${one} `,
      hint: what,
    }))
    const known = new Set(OWN.map(([one]) => one))
    const others = abilities.commands
      .filter(({ name: one }) => !known.has(one))
      .map(({ name: one, about }) => ({ text: `/${one} `, hint: about ?? "the agent's own" }))
    return [...own, ...others].filter(({ text }) => fits(text.slice(1), name)).slice(0, 50)
  }
  return valuesOf(name, abilities)
    .filter(([one]) => fits(one, value))
    .map(([one, hint]) => ({ text: `/${name} ${one}`, hint }))
}

function valuesOf(name: string, { models }: Abilities): (readonly [string, string])[] {
  switch (name) {
    case 'mode':
      return MODES.map((mode) => [mode, ''])
    case 'model':
      return [...models.map(({ id, name: title }) => [id, title] as const), ['default', "the agent's choice"]]
    case 'effort':
      return [...EFFORTS.map((effort) => [effort, ''] as const), ['default', 'as it does by itself']]
    case 'diff':
      return SCOPES.map((scope) => [scope, ''])
    default:
      return []
  }
}

export function menuOf(
  typing: Pick<Menu, 'kind' | 'query' | 'from'>,
  choices: readonly Choice[],
): Menu | null {
  return choices.length === 0 ? null : { ...typing, choices, chosen: 0, moved: false }
}

export function movedIn(menu: Menu, step: -1 | 1): Menu {
  const count = menu.choices.length
  return { ...menu, chosen: (menu.chosen + step + count) % count, moved: true }
}

/** The choices that are shown, and which of them is chosen. */
export function shownChoices({ choices, chosen }: Menu): { choices: readonly Choice[]; chosen: number } {
  const from = Math.max(0, Math.min(chosen - MAX_CHOICES + 1, choices.length - MAX_CHOICES))
  return { choices: choices.slice(from, from + MAX_CHOICES), chosen: chosen - from }
}

/** The text with what was chosen in place of what was typed. */
export function completed(draft: Draft, { from, choices, chosen }: Menu): Draft {
  const { text } = choices[chosen]!
  const isDone = text.endsWith(' ') || draft.text[draft.cursor] === ' ' || /^\/\S+$/.test(text)
  return replaced(draft, from, draft.cursor, isDone ? text : `${text} `)
}
