import {
  answerText,
  answeredDecision,
  answerKeys,
  currentQuestion,
  decisionBy,
  editable,
  editedInput,
  type Answer,
  type Question,
} from './answer.ts'
import { EMPTY, edited, inserted } from './editor.ts'
import type { Press } from './keys.ts'
import { stay, type State, type Step } from './state.ts'

/** A key while the first question has the keys. */
export function pressedAnswer(state: State, press: Press): Step {
  const [question] = state.questions
  const { answer } = state
  if (!question || !answer) return stay(state)
  if (answer.sent) return stay({ ...state, hint: 'the answer is on its way' })
  if (answer.way === 'keys') return byKey(state, question, answer, press)
  const chosen = answer.way === 'text' ? byNumber(question, answer, press) : null
  if (chosen !== null) return answered(state, question, answer, chosen)
  if ('key' in press && press.key === 'enter') return entered(state, question, answer)
  const draft = writing(answer, press, state.columns)
  return stay(draft ? { ...state, answer: { ...answer, draft } } : state)
}

function writing({ draft }: Answer, press: Press, columns: number): Answer['draft'] | null {
  if ('key' in press) return edited(draft, press.key, Math.max(4, columns - 3))
  return inserted(draft, 'text' in press ? press.text : press.paste)
}

function byKey(state: State, question: Question, answer: Answer, press: Press): Step {
  const key = 'text' in press ? press.text.toLowerCase() : ''
  const known = answerKeys(question, state.abilities.editInput).some((one) => one.key === key)
  if (!known) {
    return stay({ ...state, hint: 'press one of the keys above; Tab goes to the input' })
  }
  const decision = decisionBy(key, answer.approvalId)
  if (decision)
    return stay({ ...state, answer: { ...answer, sent: true } }, { do: 'decide', params: decision })
  const [way, draft] =
    key === 'e' ? (['edit', editable(question.approval.input)] as const) : (['words', EMPTY] as const)
  return stay({ ...state, answer: { ...answer, way, draft } })
}

/** A digit is an answer by itself, where nothing else was typed and only one can be chosen. */
function byNumber(question: Question, answer: Answer, press: Press): string | null {
  if (!('text' in press) || !/^[1-9]$/.test(press.text) || answer.draft.text !== '') return null
  const { options, many } = currentQuestion(question, answer)
  const chosen = many === true || options.length > 9 ? undefined : options[Number(press.text) - 1]
  return chosen?.label ?? null
}

function entered(state: State, question: Question, answer: Answer): Step {
  const text = answer.draft.text.trim()
  const { approvalId } = answer
  const sent = { ...state, answer: { ...answer, sent: true } }
  if (answer.way === 'words') {
    return stay(sent, { do: 'decide', params: { approvalId, behavior: 'deny', comment: text, by: 'cli' } })
  }
  if (answer.way === 'edit') {
    const input = editedInput(question.approval.input, answer.draft.text)
    if (input === null) return stay({ ...state, hint: 'that is no JSON; Esc goes back' })
    return stay(sent, { do: 'decide', params: { approvalId, behavior: 'allow', by: 'cli', ...input } })
  }
  if (text === '') return stay({ ...state, hint: 'type a number from the list, or your own answer' })
  return answered(state, question, answer, answerText(currentQuestion(question, answer), text))
}

function answered(state: State, question: Question, answer: Answer, text: string): Step {
  const answers = [...answer.answers, text]
  const next = { ...answer, answers, draft: EMPTY }
  if (answers.length < currentQuestion(question, answer).of) return stay({ ...state, answer: next })
  const params = answeredDecision(question, answers)
  return stay(
    { ...state, answer: { ...next, answers: answer.answers, sent: true } },
    { do: 'decide', params },
  )
}
