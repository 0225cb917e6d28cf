import { inserted } from './editor.ts'
import { happened } from './happened.ts'
import { menuOf, typingAt } from './menu.ts'
import { pressed } from './press.ts'
import { withImage } from './sending.ts'
import { stay, type Input, type State, type Step } from './state.ts'
import { noted, withFiles } from './transcript.ts'

/** The next state, and what is to be done outside. Nothing here has a clock, a terminal or a socket. */
export function update(state: State, input: Input): Step {
  switch (input.type) {
    case 'press':
      return pressed(state, input.press, input.now)
    case 'event':
      return happened(state, input)
    case 'link':
      return stay({ ...state, now: input.now, awaySince: input.state === 'away' ? input.now : null })
    case 'tick':
      return stay({ ...state, now: input.now })
    case 'size':
      return stay({ ...state, columns: input.columns, rows: input.rows })
    case 'abilities':
      return stay({ ...state, abilities: { ...state.abilities, ...input.abilities } })
    case 'leave':
      return stay(state, { do: 'leave', ending: state.following?.ending ?? 'left' })
    default:
      return stay(replied(state, input))
  }
}

type Reply = Exclude<Input, { type: 'press' | 'event' | 'link' | 'tick' | 'size' | 'abilities' | 'leave' }>

/** What came of something that was to be done. */
function replied(state: State, input: Reply): State {
  switch (input.type) {
    case 'found':
      return found(state, input)
    case 'context':
      return withContext(state, input)
    case 'image':
      return withImage(state, input.image)
    case 'text':
      return { ...state, draft: inserted(state.draft, input.text), hint: input.hint }
    case 'files':
      return { ...state, transcript: withFiles(state.transcript, input.title, input.files, input.truncated) }
    case 'note':
      return { ...state, transcript: noted(state.transcript, input.text, input.tone) }
    case 'unsent':
      return unsent(state, input)
    case 'undecided': {
      const { answer } = state
      const again = answer?.approvalId === input.approvalId ? { ...answer, sent: false } : answer
      return { ...state, answer: again, hint: input.message }
    }
  }
}

/** What was typed goes back into the input, before what is there by now. */
function unsent(state: State, { key, message }: Input & { type: 'unsent' }): State {
  const lost = state.outgoing.find((one) => one.key === key)
  if (!lost) return state
  const outgoing = state.outgoing.filter((one) => one !== lost)
  const text = state.draft.text === '' ? lost.text : `${lost.text}\n${state.draft.text}`
  const draft = { ...state.draft, text, cursor: text.length, goal: null }
  return { ...state, outgoing, draft, transcript: noted(state.transcript, `! not sent: ${message}`, 'bad') }
}

/** Of files that nobody looks for any more nothing is shown. */
function found(state: State, { query, files }: Input & { type: 'found' }): State {
  const typing = typingAt(state.draft)
  if (typing?.kind !== 'file' || typing.query !== `@${query}`) return state
  return {
    ...state,
    menu: menuOf(
      typing,
      files.map((path) => ({ text: `@${path}`, hint: '' })),
    ),
  }
}

function withContext(state: State, { approvalId, rules, asker }: Input & { type: 'context' }): State {
  const questions = state.questions.map((question) =>
    question.approval.id === approvalId ? { ...question, rules } : question,
  )
  const hint = asker === null ? state.hint : `asked by a sub-agent: ${asker}`
  return { ...state, questions, hint }
}
