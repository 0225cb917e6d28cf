import { textOf } from '../../core/content.ts'
import { EFFORTS } from '../../core/effort.ts'
import { MODES } from '../../core/mode.ts'
import { oneLine } from '../format.ts'
import { draftOf } from './editor.ts'
import { OWN } from './menu.ts'
import { sending } from './sending.ts'
import { stay, stopping, type Scope, type State, type Step } from './state.ts'
import { noted } from './transcript.ts'

/** A command that somebody typed: its name, and what stands behind it. */
export interface Typed {
  readonly name: string
  readonly value: string
}

/** Null: it is a message. `/usr/bin/env is gone` is one. */
export function commandIn(text: string): Typed | null {
  const [, name, value = ''] = /^\/([a-z][\w:-]*)(?:\s+([^]*))?$/i.exec(text.trim()) ?? []
  return name === undefined ? null : { name, value: value.trim() }
}

type Run = (state: State, value: string) => Step

const HELP_KEYS = `Enter             send; while a turn runs, the message waits in the queue
Ctrl+J, Alt+Enter begin another line; so do Shift+Enter, and \\ before Enter
Tab               complete @file or /command
Up, Down          what was sent before
Esc               stop the running turn
Ctrl+O            show or hide what is in tool calls
Ctrl+V            attach the picture in the clipboard
Ctrl+L            draw the screen again
Ctrl+C            clear the input, then leave; the session goes on`

const COMMANDS: Readonly<Record<string, Run>> = {
  help: (state) => said(state, helpText()),
  quit: (state) => stay(state, { do: 'leave', ending: state.following?.ending ?? 'left' }),
  interrupt: (state) => stay(state, stopping(state)),
  mode: (state, value) => {
    const mode = MODES.find((one) => one === value)
    if (mode) return stay(state, { do: 'configure', change: { mode } })
    return hinted(state, `/mode is one of ${MODES.join(', ')}; now it is ${state.facts.mode}`)
  },
  model: (state, value) => {
    if (value !== '')
      return stay(state, { do: 'configure', change: { model: value === 'default' ? null : value } })
    const names = state.abilities.models.map(({ id }) => id)
    const known = names.length > 0 ? `models: ${names.join(', ')}` : 'the agent names no models'
    return hinted(state, `${known}; now it is ${state.facts.model ?? "the agent's choice"}`)
  },
  effort: (state, value) => {
    const effort = EFFORTS.find((one) => one === value)
    if (effort || value === 'default')
      return stay(state, { do: 'configure', change: { effort: effort ?? null } })
    return hinted(
      state,
      `/effort is one of ${EFFORTS.join(', ')} or default; now it is ${state.facts.effort ?? 'default'}`,
    )
  },
  title: (state, value) =>
    value === ''
      ? hinted(state, '/title needs a text')
      : stay(state, { do: 'configure', change: { title: value } }),
  compact: (state) => {
    if (!state.abilities.compact) return hinted(state, 'this agent cannot sum up its conversation')
    return stay({ ...state, sent: state.sent + 1 }, { do: 'compact', key: `${state.nonce}:${state.sent}` })
  },
  steer: (state, value) => {
    if (value === '') return hinted(state, '/steer needs a text')
    if (state.turn === null) return sending(state, value)
    return stay(
      { ...state, sent: state.sent + 1 },
      { do: 'steer', key: `${state.nonce}:${state.sent}`, text: value },
    )
  },
  diff: (state, value) => {
    const scopes: readonly Scope[] = ['turn', 'session', 'branch', 'uncommitted']
    const scope = scopes.find((one) => one === (value || 'turn'))
    return scope ? stay(state, { do: 'diff', scope }) : hinted(state, `/diff is one of ${scopes.join(', ')}`)
  },
  image: (state, value) =>
    value === '' ? hinted(state, '/image needs a path') : stay(state, { do: 'image', path: value, text: '' }),
  queue: (state, value) => queue(state, value),
}

const ALIASES: Readonly<Record<string, string>> = {
  exit: 'quit',
  detach: 'quit',
  rename: 'title',
  stop: 'interrupt',
}

/** What a command of this screen does; null: it is none. */
export function runOwn(state: State, { name, value }: Typed): Step | null {
  return COMMANDS[ALIASES[name] ?? name]?.(state, value) ?? null
}

function hinted(state: State, hint: string): Step {
  return stay({ ...state, hint })
}

function said(state: State, text: string): Step {
  return stay({ ...state, transcript: noted(state.transcript, text, 'plain') })
}

function helpText(): string {
  const commands = OWN.map(([name, values, what]) => [`/${name} ${values}`.trim(), what] as const)
  const wide = 18
  const lines = commands.map(([name, what]) =>
    name.length < wide ? `${name.padEnd(wide)}${what}` : `${name}\n${' '.repeat(wide)}${what}`,
  )
  return `${lines.join('\n')}\n\n${HELP_KEYS}`
}

/** Messages that wait for their turn, in order. */
function queued({ waiting }: State): State['waiting'] {
  return waiting.filter(({ steer }) => !steer)
}

function queue(state: State, value: string): Step {
  const list = queued(state)
  const [verb = '', number = ''] = value.split(/\s+/)
  if (verb === '') {
    if (list.length === 0) return hinted(state, 'no message waits in the queue')
    return said(
      state,
      list.map(({ content }, at) => `${at + 1}. ${oneLine(textOf(content), 200)}`).join('\n'),
    )
  }
  const chosen = list[Number(number) - 1]
  if (!['rm', 'edit', 'steer'].includes(verb))
    return hinted(state, '/queue, /queue rm N, /queue edit N or /queue steer N')
  if (!chosen) return hinted(state, `no message ${number} waits in the queue`)
  if (verb === 'steer') return stay(state, { do: 'steer-queued', turnId: chosen.id })
  const text = textOf(chosen.content)
  const next = verb === 'edit' ? { ...state, draft: draftOf(text, state.draft.killed) } : state
  return stay(next, { do: 'unqueue', turnId: chosen.id })
}
