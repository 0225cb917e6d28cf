import type { Change } from '../../core/conversation/item.ts'
import type { Event } from '../../core/event.ts'
import { addUsage } from '../../core/usage.ts'
import { answerTo, type Question } from './answer.ts'
import {
  stay,
  type Effect,
  type Ending,
  type Facts,
  type Following,
  type Input,
  type State,
  type Step,
} from './state.ts'
import { told } from './transcript.ts'

/** Somebody who has typed within this time is in the middle of it: keys must not be taken for an answer. */
const TYPING_MS = 1500

/** What an event of the session changes. */
export function happened(before: State, input: Input & { type: 'event' }): Step {
  const { event, changes, now, waiting, asking } = input
  const transcript = told(before.transcript, event, changes, before.facts.paused)
  const asked = changes.reduce((state, change) => withChange(state, change, now), {
    ...before,
    now,
    transcript,
    waiting,
  })
  const questions = asked.questions.filter(({ approval }) => asking.includes(approval.id))
  const state = { ...asked, questions, facts: factsAfter(asked.facts, event), turn: turnAfter(before, input) }
  const settled = withAnswer(arrived(withFigures(state, event), event))
  const asks = changes.flatMap((change): Effect[] =>
    change.type === 'asked' && change.question.asked
      ? [{ do: 'context', approvalId: change.question.approval.id }]
      : [],
  )
  const over = followed(settled, event)
  return { state: over.state, effects: [...asks, ...over.effects] }
}

function turnAfter({ turn }: State, { event, turn: now }: Input & { type: 'event' }): State['turn'] {
  if (now === null) return null
  return { ...now, startedAt: turn?.id === now.id ? turn.startedAt : event.at }
}

function withChange(state: State, change: Change, now: number): State {
  if (change.type === 'asked' && change.question.asked) {
    const question: Question = { approval: change.question.approval, rules: [] }
    return { ...state, questions: [...state.questions, question] }
  }
  if (change.type === 'ended') {
    const usage = addUsage(state.usage, change.end.usage)
    return { ...state, usage, now }
  }
  return state
}

/** The first question is the one that is answered. Whoever is typing keeps the keys. */
function withAnswer(state: State): State {
  const [first] = state.questions
  if (!first) return state.answer ? { ...state, answer: null } : state
  if (state.answer?.approvalId === first.approval.id) return state
  const isFree = state.draft.text === '' && state.confirm === null && state.now - state.typedAt > TYPING_MS
  return { ...state, answer: answerTo(first, state.answer?.focus ?? isFree) }
}

function factsAfter(facts: Facts, event: Event): Facts {
  switch (event.type) {
    case 'session.changed': {
      const { mode = facts.mode, title = facts.title, effort = facts.effort } = event
      return { ...facts, mode, title, effort, model: event.model === undefined ? facts.model : event.model }
    }
    case 'agent.model':
      return { ...facts, model: event.model }
    case 'agent.init':
      return { ...facts, model: event.model ?? facts.model }
    case 'session.status':
      return { ...facts, paused: event.status === 'paused' }
    default:
      return facts
  }
}

function withFigures(state: State, event: Event): State {
  if (event.type === 'agent.context' && event.used !== null) {
    return { ...state, context: { used: event.used, window: event.window } }
  }
  if (event.type !== 'agent.commands') return state
  return { ...state, abilities: { ...state.abilities, commands: event.commands } }
}

/** A message of this screen is in the log: it is not on its way any more. */
function arrived(state: State, event: Event): State {
  if (event.type !== 'turn.queued' || !state.outgoing.some(({ key }) => key === event.key)) return state
  const outgoing = state.outgoing.filter(({ key }) => key !== event.key)
  const { following } = state
  return {
    ...state,
    outgoing,
    following: following && { ...following, turns: [...following.turns, event.turnId] },
  }
}

const ENDINGS: Partial<Record<Event['type'], Ending>> = {
  'turn.completed': 'completed',
  'turn.failed': 'failed',
  'turn.interrupted': 'interrupted',
  'turn.cancelled': 'cancelled',
}

/** `new` and `send` leave when their turns are over, unless somebody is writing. */
function followed(state: State, event: Event): Step {
  if (event.type === 'session.destroyed') return stay(state, { do: 'leave', ending: 'destroyed' })
  const { following } = state
  if (following === null) return stay(state)
  const next = followingAfter(following, event)
  if (next === following) return stay(state)
  const isOver = next.turns.length === 0 && state.outgoing.length === 0
  if (!isOver) return stay({ ...state, following: next })
  if (state.draft.text.trim() === '')
    return stay({ ...state, following: next }, { do: 'leave', ending: next.ending ?? 'left' })
  return stay({
    ...state,
    following: next,
    hint: 'the turn is over; Enter sends what you typed, Ctrl+C clears it',
  })
}

function followingAfter(following: Following, event: Event): Following {
  // Somebody has brought the message to another turn: it ends with that one.
  if (event.type === 'turn.steer_accepted' && following.turns.includes(event.steerId)) {
    const turns = following.turns.map((id) => (id === event.steerId ? event.turnId : id))
    return { ...following, turns, first: following.first === event.steerId ? event.turnId : following.first }
  }
  const ending = ENDINGS[event.type]
  if (ending === undefined || (event.type === 'turn.cancelled' && event.steered !== undefined))
    return following
  const turnId = event.turnId ?? ''
  if (!following.turns.includes(turnId)) return following
  const turns = following.turns.filter((id) => id !== turnId)
  return { ...following, turns, ending: following.first === turnId ? ending : following.ending }
}
