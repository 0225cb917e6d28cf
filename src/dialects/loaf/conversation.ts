import type { Event, EventType } from '../../core/event.ts'
import { createCompaction } from './compaction.ts'
import { interruptedText, saidIn, thinkingLabel, type Stopper } from './messages.ts'
import type { Chosen } from './ports.ts'
import { createPromptQueue } from './prompt-queue.ts'
import { createRecord, READY, type RecordOptions, type Told } from './record.ts'
import { createToolRounds, type Executed } from './tool-rounds.ts'

/** The events of the log that this dialect tells anything about. */
export const TYPES: EventType[] = [
  'session.changed',
  'session.destroyed',
  'turn.queued',
  'turn.started',
  'turn.moved',
  'turn.cancelled',
  'turn.interrupting',
  'turn.steered',
  'turn.steer_accepted',
  'turn.completed',
  'turn.failed',
  'turn.interrupted',
  'message.delta',
  'message.completed',
  'tool.started',
  'tool.completed',
  'approval.requested',
  'approval.resolved',
  'agent.init',
  'agent.notice',
  'agent.compacting',
  'agent.compacted',
  'agent.exited',
]

type Of<T extends EventType> = Extract<Event, { type: T }>

export interface ConversationOptions extends RecordOptions {
  /** The names of the images of a message that was sent from here. */
  pathsOf?(key: string | null): readonly string[] | undefined
}

/** A session as this protocol sees it: a fold over its events, which says what to tell about each. */
export function createConversation({ pathsOf, ...options }: ConversationOptions) {
  const { sessionId } = options
  const record = createRecord(options)
  const { tell, status, append, remember } = record
  const prompts = createPromptQueue()
  /** The skills that messages mention, until their turns begin. */
  const applied = new Map<string, string[]>()
  const steers = new Set<string>()
  const said = new Map<string, string>()
  const rounds = createToolRounds()
  const compaction = createCompaction(record, { turnId: () => turnId, isInterrupted: () => interrupting })
  let turnId: string | null = null
  let interrupting = false
  let stopper: Stopper = null
  let answer = ''
  let updatedAt = 0
  let tools: string[] = []
  let chosen: Partial<Chosen> = {}

  function debug(stage: string, data: unknown): void {
    tell('session.debug', { ...(turnId !== null && { turn_id: turnId }), stage, data })
  }

  function chunk(kind: 'thought' | 'answer', messageId: string, text: string): void {
    if (text === '') return
    const whole = (said.get(messageId) ?? '') + text
    said.set(messageId, whole)
    const isAnswer = kind === 'answer'
    if (isAnswer) answer += text
    if (compaction.hidden) return
    status(isAnswer ? 'drafting response...' : thinkingLabel(whole))
    tell('session.stream.chunk', {
      turn_id: turnId,
      chunk: {
        thoughts: isAnswer ? [] : [whole],
        answerText: isAnswer ? text : '',
        segments: [{ kind, text }],
      },
    })
  }

  function queued(event: Of<'turn.queued'>): void {
    if (compaction.isWish(event)) return
    const { turnId: id, input, key, position, late, at } = event
    const { text, images, skills } = saidIn(input, pathsOf?.(key))
    const prompt = { id, text, images, enqueuedAt: new Date(at).toISOString() }
    if (skills.length > 0) applied.set(id, skills)
    if (late) {
      steers.delete(id)
      append('system', '1 steer message was queued too late for that turn; it is sent as the next message.')
      prompts.waitsFirst(prompt)
    } else if (position > 0) {
      prompts.waits(prompt)
      status(`queued (${prompts.queue.length})`)
    } else {
      prompts.starts(prompt)
      status('preparing...', id)
    }
  }

  function started(id: string): void {
    const taken = prompts.take(id)
    const { text, images } = taken?.prompt ?? { text: '', images: [] }
    if (taken?.waited) status('preparing...', id)
    const skills = applied.get(id)
    applied.delete(id)
    if (skills) append('system', `skills applied: ${skills.join(', ')}`)
    turnId = id
    interrupting = false
    stopper = null
    answer = ''
    said.clear()
    rounds.reset()
    compaction.starts(id, text)
    if (compaction.hidden) return
    status('thinking...', id)
    debug('request', { text })
    append('user', text, images)
    remember('user', text, images)
  }

  function steered({ steerId, input }: Of<'turn.steer_accepted'>): void {
    steers.delete(steerId)
    const { text, images } = saidIn(input)
    debug('steer_injected', { text })
    append('user', text, images)
    remember('user', text, images)
    status('steer applied; continuing...')
  }

  function completed({ messageId, kind, text, parent }: Of<'message.completed'>): void {
    if (parent !== null) return
    const had = said.get(messageId) ?? ''
    const rest = text.startsWith(had) ? text.slice(had.length) : text
    chunk(kind === 'text' ? 'answer' : 'thought', messageId, rest)
    said.delete(messageId)
    debug('response_raw', { kind, text })
  }

  function toolStarted(event: Of<'tool.started'>): void {
    const data = rounds.started(event)
    debug('tool_calls', data)
    tell('session.tool.call.started', { turn_id: turnId, data })
    debug('tool_call_started', data)
  }

  function toolCompleted(event: Of<'tool.completed'>): void {
    const done = rounds.completed(event)
    if (!done) return
    const { toolRound, executed, results } = done
    tell('session.tool.call.completed', { turn_id: turnId, data: { toolRound, executed } })
    debug('tool_call_completed', { toolRound, executed })
    record.count(event.output.length)
    if (results) toolResults(toolRound, results)
  }

  function toolResults(toolRound: number, executed: Executed[]): void {
    tell('session.tool.results', { turn_id: turnId, data: { toolRound, executed } })
    debug('tool_results', { toolRound, count: executed.length })
    debug('response_continue', { toolRound })
  }

  function ended(event: Of<'turn.completed'> | Of<'turn.failed'> | Of<'turn.interrupted'>): void {
    const id = event.turnId
    const { hidden } = compaction
    compaction.over(event)
    // Whoever has interrupted a turn hears that it was, also when the agent was faster.
    if (event.type === 'turn.interrupted' || interrupting) wasInterrupted(id)
    else if (hidden) return rest()
    else if (event.type === 'turn.completed') wasCompleted(event)
    else {
      record.forgetLastPrompt()
      append('system', `inference error: ${event.error.message}`)
      tell('session.error', { turn_id: id, message: event.error.message, kind: event.error.code })
    }
    rest()
  }

  function rest(): void {
    turnId = null
    interrupting = false
    said.clear()
    status(READY)
  }

  function wasCompleted({ turnId: id, text, usage }: Of<'turn.completed'>): void {
    const whole = answer === '' ? (text ?? '') : answer
    debug('response_stream_summary', { answer_length: whole.length })
    debug('response_final', { text: whole, usage })
    if (whole !== '') {
      append('assistant', whole)
      remember('assistant', whole)
    }
    tell('session.completed', { turn_id: id, answer_length: whole.length })
  }

  function wasInterrupted(id: string): void {
    if (answer !== '') {
      append('assistant', answer)
      remember('assistant', answer)
    }
    append('system', interruptedText(stopper, answer !== ''))
    tell('session.interrupted', { turn_id: id, partial_output: answer !== '' })
  }

  function noticed({ code, message, data }: Of<'agent.notice'>): void {
    if (code !== 'model_retry') return
    debug('retry_429', { message, data })
    const { attempt, maxRetries } = (data ?? {}) as { attempt?: number; maxRetries?: number }
    if (turnId === null) return
    const tries = attempt === undefined ? '' : ` (${attempt}/${maxRetries ?? '?'})`
    status(`capacity unavailable; retrying${tries}...`)
  }

  function changed(event: Of<'session.changed'>): void {
    const { model = chosen.model, effort = chosen.effort } = event
    chosen = { ...(model !== undefined && { model }), ...(effort !== undefined && { effort }) }
    if (event.nativeId !== null || turnId !== null) return
    record.clear()
    compaction.clear()
  }

  function take(event: Event): void {
    switch (event.type) {
      case 'turn.queued':
        return queued(event)
      case 'turn.started':
        return started(event.turnId)
      case 'turn.moved':
        return prompts.move(event.turnId, event.position)
      case 'turn.cancelled':
        return cancelled(event.turnId)
      case 'turn.interrupting':
        interrupting = true
        stopper = event.reason === 'stopping' ? 'daemon' : 'user'
        return status('interrupting...')
      case 'turn.steered':
        return void steers.add(event.steerId)
      case 'turn.steer_accepted':
        return steered(event)
      case 'turn.completed':
      case 'turn.failed':
      case 'turn.interrupted':
        return ended(event)
      case 'message.delta':
        if (event.parent !== null) return
        return chunk(event.kind === 'text' ? 'answer' : 'thought', event.messageId, event.text)
      case 'message.completed':
        return completed(event)
      case 'tool.started':
        return toolStarted(event)
      case 'tool.completed':
        return toolCompleted(event)
      case 'approval.requested':
        if (event.open) status(`waiting for approval: ${event.approval.tool}`)
        return
      case 'approval.resolved':
        if (turnId !== null && record.label.startsWith('waiting for approval')) status('thinking...')
        return
      case 'agent.init':
        tools = toolsIn(event.raw)
        return
      case 'agent.notice':
        return noticed(event)
      case 'agent.compacting':
        return compaction.begins(event)
      case 'agent.compacted':
        return compaction.ends(event)
      case 'agent.exited':
        if (event.expected) stopper ??= 'process'
        return
      case 'session.changed':
        return changed(event)
      default:
    }
  }

  function cancelled(id: string): void {
    prompts.remove(id)
    applied.delete(id)
    compaction.cancelled(id)
    if (turnId === null && prompts.queue.length === 0 && record.label !== READY) status(READY)
  }

  return {
    record,
    queue: prompts.queue,
    /** A message would have to wait. */
    get busy() {
      return turnId !== null || record.label !== READY
    },
    /** What came of the last time that it was summed up; null: nothing. */
    get compaction() {
      return compaction.last
    },
    /** What the agent has said in its last turn. */
    get answer() {
      return answer
    },
    get tools() {
      return tools
    },
    /** What has been chosen anew since it was made. */
    get chosen() {
      return chosen
    },
    step(event: Event): Told[] {
      updatedAt = event.at
      return record.of(event, () => take(event))
    },
    /** A message that never got as far as the log. */
    refused: (id: string, message: string, kind: string) =>
      record.beside(() => {
        const { label } = record
        if (label === READY) status('preparing...', id)
        append('system', `inference error: ${message}`)
        tell('session.error', { turn_id: id, message, kind })
        status(label)
      }),
    remark: (text: string) => record.beside(() => append('system', text)),
    /** The turn is over, and how it ended is not known. */
    lost: (message: string) =>
      record.beside(() => {
        append('system', message)
        if (turnId !== null) tell('session.error', { turn_id: turnId, message, kind: 'cursor_reset' })
        turnId = null
        interrupting = false
        status(READY)
      }),
    state(createdAt: number) {
      return {
        id: sessionId,
        createdAt: new Date(createdAt).toISOString(),
        updatedAt: new Date(Math.max(updatedAt, createdAt)).toISOString(),
        pending: record.label !== READY,
        statusLabel: record.label,
        messages: [...record.messages],
        history: [...record.history],
        queue: [...prompts.queue],
        pendingSteerCount: steers.size,
        ...record.context(),
      }
    },
  }
}

export type Conversation = ReturnType<typeof createConversation>

function toolsIn(raw: unknown): string[] {
  const list = typeof raw === 'object' && raw !== null && 'tools' in raw ? raw.tools : []
  return Array.isArray(list) ? list.filter((name): name is string => typeof name === 'string') : []
}
