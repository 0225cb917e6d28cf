import { pressedAnswer } from './answering.ts'
import { edited, inserted, replaced } from './editor.ts'
import { imagePaths } from './image-path.ts'
import type { Press } from './keys.ts'
import { commandChoices, completed, menuOf, movedIn, typingAt, type Menu } from './menu.ts'
import { commandIn, runOwn } from './own.ts'
import { recalled } from './recall.ts'
import { putAway, sending } from './sending.ts'
import { stay, stopping, type Effect, type State, type Step } from './state.ts'

/** More than anybody reads, and as much as the screen can still lay out at each key. */
const MAX_TEXT = 250_000

/** What a key does. */
export function pressed(before: State, press: Press, now: number): Step {
  const state = { ...before, hint: null, now }
  const key = 'key' in press ? press.key : null
  const always = key === null ? null : anywhere(state, key)
  if (always) return always
  if (state.confirm) return confirmed(state, state.confirm, press)
  if (key === 'tab' && state.answer && state.menu === null) return stay(otherFocus(state))
  if (state.answer?.focus && !('paste' in press && state.answer.way === 'keys'))
    return pressedAnswer(state, press)
  return typed(state, press)
}

/** The width that the input has for its text. */
export function inputWidth({ columns }: Pick<State, 'columns'>): number {
  return Math.max(4, columns - 3)
}

function otherFocus(state: State): State {
  return { ...state, answer: { ...state.answer!, focus: !state.answer!.focus } }
}

/** Keys that mean the same wherever somebody is. */
function anywhere(state: State, key: string): Step | null {
  switch (key) {
    case 'ctrl+o':
      return stay({ ...state, opened: !state.opened })
    case 'ctrl+l':
      return stay(state, { do: 'repaint' })
    case 'ctrl+z':
      return stay(state, { do: 'suspend' })
    case 'escape':
      return escaped(state)
    case 'ctrl+c':
      return cleared(state)
    default:
      return null
  }
}

function escaped(state: State): Step {
  if (state.confirm) return stay({ ...state, confirm: null })
  if (state.menu) return stay({ ...state, menu: null })
  const back = backToKeys(state)
  if (back) return stay(back)
  if (state.turn === null) return stay({ ...state, hint: 'nothing runs; Ctrl+C leaves' })
  if (state.turn.interrupting) return stay({ ...state, hint: 'it is being stopped' })
  return stay(state, stopping(state))
}

/** Out of the words of an answer; null: nobody is writing any. */
function backToKeys(state: State): State | null {
  const { answer } = state
  const isWriting = answer?.focus === true && (answer.way === 'words' || answer.way === 'edit')
  return isWriting ? { ...state, answer: { ...answer, way: 'keys' } } : null
}

/** What was typed is never lost: it can be called back. */
function cleared(state: State): Step {
  if (state.confirm) return stay({ ...state, confirm: null })
  const back = backToKeys(state)
  if (back) return stay(back)
  const { text } = state.draft
  if (text.trim() === '') return stay(state, { do: 'leave', ending: state.following?.ending ?? 'left' })
  const hint = 'Up brings it back; Ctrl+C again leaves'
  return stay({ ...putAway(state, text), hint }, { do: 'remember', text })
}

function confirmed(state: State, { effects, text }: NonNullable<State['confirm']>, press: Press): Step {
  const answer = 'text' in press ? press.text.toLowerCase() : ''
  if (answer === 'y') {
    const { state: next, effects: more } = submittedMessage({ ...state, confirm: null }, text)
    return { state: next, effects: [...effects, ...more] }
  }
  if (answer === 'n') return stay({ ...state, confirm: null })
  return stay({ ...state, hint: 'y sends it, n does not' })
}

/** Keys for the input. */
function typed(state: State, press: Press): Step {
  if ('paste' in press) return pasted(state, press.paste)
  if ('text' in press) return withMenu({ ...inserting(state, press.text), typedAt: state.now })
  const { key } = press
  const { menu } = state
  if (menu && (key === 'tab' || (key === 'enter' && menu.moved))) return taken(state, menu)
  if (menu && (key === 'up' || key === 'down'))
    return stay({ ...state, menu: movedIn(menu, key === 'up' ? -1 : 1) })
  if (key === 'tab') return withMenu(state)
  if (key === 'enter') return entered(state)
  if (key === 'ctrl+v') return stay(state, { do: 'clipboard' })
  if (key === 'ctrl+d' && state.draft.text === '') {
    return stay(state, { do: 'leave', ending: state.following?.ending ?? 'left' })
  }
  const draft = edited(state.draft, key, inputWidth(state))
  if (draft) {
    const next = { ...state, draft, typedAt: draft.text === '' ? 0 : state.now }
    return draft.text === state.draft.text ? stay({ ...next, menu: null }) : withMenu(next)
  }
  const step = key === 'up' || key === 'ctrl+p' ? -1 : key === 'down' || key === 'ctrl+n' ? 1 : null
  const found = step === null ? null : recalled(state.recall, state.draft, step)
  return stay(found ? { ...state, ...found, menu: null } : state)
}

/** Characters that command a terminal are no part of a message. */
// oxlint-disable-next-line no-control-regex -- that is what they are
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g

function inserting(state: State, given: string): State {
  const text = given.replaceAll('\r', '\n').replace(CONTROLS, '')
  if (state.draft.text.length + text.length > MAX_TEXT) {
    return { ...state, hint: `that is too long: a message may have ${MAX_TEXT} characters here` }
  }
  return { ...state, draft: inserted(state.draft, text) }
}

/** However many lines it has, it is one piece of a text. The paths of pictures are the pictures. */
function pasted(state: State, text: string): Step {
  const focus = state.answer ? { ...state.answer, focus: false } : null
  const next = { ...state, answer: focus, menu: null, typedAt: state.now }
  const paths = imagePaths(text)
  if (paths.length > 0) {
    const effects = paths.map(({ path, text: written }): Effect => ({ do: 'image', path, text: written }))
    return { state: next, effects }
  }
  return stay(inserting(next, text))
}

function withMenu(state: State): Step {
  const typing = typingAt(state.draft)
  if (typing === null) return stay({ ...state, menu: null })
  if (typing.kind === 'command')
    return stay({ ...state, menu: menuOf(typing, commandChoices(typing.query, state.abilities)) })
  const menu =
    state.menu?.kind === 'file' && state.menu.from === typing.from
      ? { ...state.menu, query: typing.query }
      : null
  return stay({ ...state, menu }, { do: 'find', query: typing.query.slice(1) })
}

function taken(state: State, menu: Menu): Step {
  const next = { ...state, draft: completed(state.draft, menu), menu: null }
  const isCommand = menu.kind === 'command' && next.draft.text.endsWith(' ')
  return isCommand ? withMenu(next) : stay(next)
}

function entered(state: State): Step {
  const { draft } = state
  if (draft.text[draft.cursor - 1] === '\\') {
    return stay({ ...state, draft: replaced(draft, draft.cursor - 1, draft.cursor, '\n'), menu: null })
  }
  const text = draft.text.trim()
  if (text === '') return stay({ ...state, menu: null })
  const command = commandIn(text)
  const own = command ? runOwn(putAway(state, text), command) : null
  if (own) return { ...own, effects: [{ do: 'remember', text }, ...own.effects] }
  if (command && !state.abilities.commands.some(({ name }) => name === command.name)) {
    const question = `neither corral nor the agent lists /${command.name}; send it to the agent as a message?`
    return stay({ ...state, menu: null, confirm: { question, effects: [], text } })
  }
  return submittedMessage(state, text)
}

function submittedMessage(state: State, text: string): Step {
  const sent = sending(putAway(state, text), text)
  return { ...sent, effects: [{ do: 'remember', text }, ...sent.effects] }
}
