import type { Change, Message, ApprovalItem, TurnEnd, UserMessage } from '../../core/conversation/item.ts'
import type { Event } from '../../core/event.ts'
import { isWish } from './compaction.ts'
import { interruptedText, thinkingLabel } from './messages.ts'
import { moveTo, rewrite, unqueue } from './prompt-queue.ts'
import { READY } from './record.ts'
import { beginsCall, finishesCall, newRounds } from './tool-rounds.ts'
import { isBusy, wordsOf, type View } from './view.ts'

type ChangeOf<T extends Change['type']> = Extract<Change, { type: T }>

/** Tells one change of the conversation in the words of the protocol. */
export function spell(view: View, change: Change, event: Event): void {
  switch (change.type) {
    case 'waits':
      return waits(view, change)
    case 'moved':
      return moveTo(view.queue, change.id, change.position)
    case 'edited':
      return edited(view, change.message)
    case 'withdrawn':
      return withdrawn(view, change)
    case 'said':
      return change.message.steer ? steered(view, change) : started(view, change)
    case 'grew':
      return chunk(view, change.message, change.piece)
    case 'closed':
      return closed(view, change)
    case 'call':
      return called(view, change, event)
    case 'asked':
      return asked(view, change.question)
    case 'decided':
      if (change.verdict.asked) decided(view)
      return
    case 'notice':
      return noticed(view, change)
    case 'compacting':
      return view.compactions.begins(change, view.conversation.turn)
    case 'compacted':
      return view.compactions.ends(change, view.conversation.turn)
    case 'interrupting':
      view.stopper = change.byDaemon ? 'daemon' : 'user'
      return view.record.status('interrupting...')
    case 'ended':
      return ended(view, change.end)
    case 'opened':
    case 'plan':
      return
  }
}

const LATE = '1 steer message was queued too late for that turn; it is sent as the next message.'

function waits(view: View, { message, position, late }: ChangeOf<'waits'>): void {
  if (isWish(message)) return
  const { record, queue } = view
  const { id, sentAt } = message
  const { text, images } = wordsOf(view, message)
  const prompt = { id, text, images, enqueuedAt: new Date(sentAt).toISOString() }
  if (late) {
    record.append('system', LATE)
    queue.unshift(prompt)
  } else if (position > 0) {
    queue.push(prompt)
    record.status(`queued (${queue.length})`)
  } else {
    record.status('preparing...', id)
  }
}

/** Images that it did not come with have no names here. */
function edited(view: View, message: UserMessage): void {
  if (message.key !== null) view.paths.delete(message.key)
  const { text, images } = wordsOf(view, message)
  rewrite(view.queue, { id: message.id, text, images, enqueuedAt: new Date(message.sentAt).toISOString() })
}

function withdrawn(view: View, { message: { id, key }, steered: turn }: ChangeOf<'withdrawn'>): void {
  unqueue(view.queue, id)
  if (key !== null && turn === null) view.paths.delete(key)
  if (!isBusy(view) && view.record.label !== READY) view.record.status(READY)
}

function started(view: View, { message, turn: { id } }: ChangeOf<'said'>): void {
  const { record, compactions } = view
  const { text, images, skills } = wordsOf(view, message)
  if (message.key !== null) view.paths.delete(message.key)
  if (unqueue(view.queue, id)) record.status('preparing...', id)
  if (skills.length > 0) record.append('system', `skills applied: ${skills.join(', ')}`)
  view.stopper = null
  view.answer = ''
  view.rounds = newRounds()
  compactions.starts(message, text)
  if (compactions.hidden) return
  record.status('thinking...', id)
  record.debug(id, 'request', { text })
  record.beginTurn()
  record.append('user', text, images)
  record.remember('user', text, images)
}

function steered(view: View, { message, turn: { id } }: ChangeOf<'said'>): void {
  const { record } = view
  const { text, images } = wordsOf(view, message)
  record.debug(id, 'steer_injected', { text })
  record.append('user', text, images)
  record.remember('user', text, images)
  record.status('steer applied; continuing...')
}

/** A piece of what the agent says or thinks; sub-agents speak for themselves. */
function chunk({ record, conversation, compactions }: View, message: Message, piece: string): void {
  const { kind, text, parent } = message
  if (piece === '' || parent !== null || compactions.hidden) return
  const isAnswer = kind === 'text'
  record.status(isAnswer ? 'drafting response...' : thinkingLabel(text))
  record.tell('session.stream.chunk', {
    turn_id: conversation.turn?.id ?? null,
    chunk: {
      thoughts: isAnswer ? [] : [text],
      answerText: isAnswer ? piece : '',
      segments: [{ kind: isAnswer ? 'answer' : 'thought', text: piece }],
    },
  })
}

function closed(view: View, { message, rest }: ChangeOf<'closed'>): void {
  const { kind, text, parent } = message
  if (parent !== null) return
  chunk(view, message, rest)
  if (kind === 'text') view.answer += text
  view.record.debug(view.conversation.turn?.id ?? null, 'response_raw', { kind, text })
}

/** The protocol knows of a call when the agent begins it, and when it has a result. */
function called({ record, rounds, conversation }: View, { call, was }: ChangeOf<'call'>, event: Event): void {
  const turnId = conversation.turn?.id ?? null
  if (event.type === 'tool.started') {
    const data = beginsCall(rounds, call)
    record.debug(turnId, 'tool_calls', data)
    record.tell('session.tool.call.started', { turn_id: turnId, data })
    record.debug(turnId, 'tool_call_started', data)
    return
  }
  const isKnown = was !== null && was !== 'done' && was !== 'failed'
  if (event.type !== 'tool.completed' || !isKnown) return
  const { results, ...data } = finishesCall(rounds, call)
  record.tell('session.tool.call.completed', { turn_id: turnId, data })
  record.debug(turnId, 'tool_call_completed', data)
  record.count(data.executed.result.length)
  if (!results) return
  const { toolRound } = data
  record.tell('session.tool.results', { turn_id: turnId, data: { toolRound, executed: results } })
  record.debug(turnId, 'tool_results', { toolRound, count: results.length })
  record.debug(turnId, 'response_continue', { toolRound })
}

function asked({ record, conversation }: View, question: ApprovalItem): void {
  if (question.asked && conversation.turn) record.status(`waiting for approval: ${question.approval.tool}`)
}

/** Another question may still wait. */
function decided(view: View): void {
  const { record, conversation } = view
  if (!conversation.turn) return
  const next = [...conversation.questions.values()].find((question) => question.asked)
  if (next) asked(view, next)
  else record.status('thinking...')
}

function noticed({ record, conversation: { turn } }: View, notice: ChangeOf<'notice'>): void {
  const { code, message, data } = notice
  if (code !== 'model_retry') return
  record.debug(turn?.id ?? null, 'retry_429', { message, data })
  if (turn === null) return
  const { attempt, maxRetries } = (data ?? {}) as { attempt?: number; maxRetries?: number }
  const tries = attempt === undefined ? '' : ` (${attempt}/${maxRetries ?? '?'})`
  record.status(`capacity unavailable; retrying${tries}...`)
}

function ended(view: View, end: TurnEnd): void {
  const { stopper, compactions } = view
  // Whoever has interrupted a turn hears that it was, also when the agent was faster.
  const isInterrupted = end.outcome === 'interrupted' || stopper === 'user' || stopper === 'daemon'
  const { hidden } = compactions
  compactions.over(end, isInterrupted)
  if (isInterrupted) interrupted(view, end.turnId)
  else if (!hidden && end.error) failed(view, end.turnId, end.error)
  else if (!hidden) completed(view, end)
  view.stopper = null
  view.record.status(READY)
}

function interrupted({ record, stopper, answer }: View, turnId: string): void {
  const isPartial = answer !== ''
  if (isPartial) {
    record.append('assistant', answer)
    record.remember('assistant', answer)
  }
  record.append('system', interruptedText(stopper, isPartial))
  record.tell('session.interrupted', { turn_id: turnId, partial_output: isPartial })
}

function failed({ record }: View, turnId: string, { code, message }: NonNullable<TurnEnd['error']>): void {
  record.forgetTurn()
  record.append('system', `inference error: ${message}`)
  record.tell('session.error', { turn_id: turnId, message, kind: code })
}

function completed({ record, answer }: View, { turnId, text, usage }: TurnEnd): void {
  const whole = answer === '' ? (text ?? '') : answer
  record.debug(turnId, 'response_stream_summary', { answer_length: whole.length })
  record.debug(turnId, 'response_final', { text: whole, usage })
  if (whole !== '') {
    record.append('assistant', whole)
    record.remember('assistant', whole)
  }
  record.tell('session.completed', { turn_id: turnId, answer_length: whole.length })
}
