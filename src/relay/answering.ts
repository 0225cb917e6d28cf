import {
  type ContentPiece,
  type End,
  type Heading,
  merged,
  type Outcome,
  type Served,
  transcriptOf,
} from './answer.ts'
import type { Ask, Block } from './ask.ts'
import { failureOf, RelayFailure } from './failure.ts'
import { jsonAnswer } from './json/answer.ts'
import type { LicensePolicy } from './license/license.ts'
import { limited } from './limit.ts'
import { costOf, withOwnPrices } from './prices.ts'
import type { Answered, Cascade } from './providers/cascade.ts'
import type { ModelCall } from './providers/provider.ts'
import type { CallRecord, CallRecords } from './records/call-records.ts'
import type { RelayEvents } from './records/events.ts'
import type { Memory, Recalled } from './sessions/memory.ts'
import type { RelaySettings } from './settings/schema.ts'
import { inputTokens } from './tokens.ts'

/** The parts that answering a call needs. */
export interface AnsweringParts {
  cascade: Cascade
  license: Pick<LicensePolicy, 'admit'>
  calls: Pick<CallRecords, 'add'>
  events: Pick<RelayEvents, 'add'>
  memory: Pick<Memory, 'recall'>
  settings: () => RelaySettings
  now: () => number
  onFault: (error: unknown) => void
}

/** Whoever gets an answer: the dialect's side of a call. */
export interface Listener {
  /** Resolves when the next piece may come. */
  piece(piece: ContentPiece): Promise<void>
  end(outcome: Outcome, served: Served): void
  /** The answer breaks off. */
  fail(failure: RelayFailure): void
  /** Resolves when all has been handed over; false: the client was gone before. */
  arrived(): Promise<boolean>
}

/** Called when there is a first piece: until then a failure has its own status. The ask has what its session remembers. */
export type Listen = (heading: Heading, ask: Ask) => Listener

/** One call, from its ask to its record. */
interface Running extends ModelCall {
  heading: Heading
  /** Null: nobody remembers it. */
  recalled: Recalled | null
  /** What of a stream has been sent so far. */
  heard: ContentPiece[]
}

/**
 * Answers a call: admits it, asks the providers, tells the listener, and writes down what became of it. Throws a `RelayFailure`
 * when there is no answer, or only a part of one.
 */
export async function answerCall(
  parts: AnsweringParts,
  call: ModelCall & { startedAt: number },
  listen: Listen,
): Promise<void> {
  const { id, ask, stickyId, signal, startedAt } = call
  const heading: Heading = { id, model: ask.model, startedAt, inputTokens: inputTokens(ask) }
  parts.events.add({ type: 'turn.started', callId: id, sessionId: stickyId, model: ask.model })
  await run(parts, { id, ask, stickyId, signal, heading, recalled: null, heard: [] }, listen)
}

async function run(parts: AnsweringParts, given: Running, listen: Listen): Promise<void> {
  let running = given
  let answer: Answered | null = null
  try {
    running = await withMemory(parts, given)
    answer = await firstPiece(parts, running)
    if (running.ask.json) answer = await inJson(parts, running, answer)
    const listener = listen(running.heading, running.ask)
    const outcome = await tell(parts, running, answer, listener)
    record(parts, running, answer, outcome, null)
    await noteArrival(running, listener)
  } catch (error) {
    const gone = running.signal.aborted
    if (gone) await noteBreak(running)
    const failure = gone ? new RelayFailure(499, 'api_error', 'The client is gone') : failureOf(error)
    record(parts, running, answer, null, failure)
    if (!gone && !(error instanceof RelayFailure)) parts.onFault(error)
    throw failure
  } finally {
    running.recalled?.leave()
  }
}

/** A session with a name is this call's until its answer has left. */
async function withMemory({ memory }: AnsweringParts, running: Running): Promise<Running> {
  const { stickyId, ask, signal } = running
  if (stickyId === null) return running
  const recalled = await memory.recall(stickyId, ask, signal)
  return { ...running, ask: recalled.ask, recalled }
}

/** Nothing is sent before the first piece is there. */
async function firstPiece({ license, cascade }: AnsweringParts, running: Running): Promise<Answered> {
  const reservation = await license.admit()
  try {
    const answer = await cascade.answer(running)
    await reservation.count().catch(async (error: unknown) => {
      await unheard(answer.pieces)
      throw error
    })
    return answer
  } catch (error) {
    reservation.free()
    throw error
  }
}

/** Ends an answer that nobody is going to hear: what was not begun cannot be ended, and whoever answers would wait for ever. */
async function unheard(answer: Answered['pieces']): Promise<void> {
  const pieces = answer[Symbol.asyncIterator]()
  await pieces.next()
  await pieces.return?.()
}

/** The answer once it is the JSON that was asked for. Also a stream waits for it: what has been sent cannot be taken back. */
async function inJson({ cascade }: AnsweringParts, running: Running, first: Answered): Promise<Answered> {
  const { ask } = running
  let answer = first
  const { pieces, end } = await jsonAnswer(ask, async (asked) => {
    if (asked !== ask) answer = await cascade.answer({ ...running, ask: asked })
    return gather(limited(answer.pieces, asked, answer), () => Promise.resolve())
  })
  return { ...answer, countsItself: true, pieces: inTurn([...pieces, end]) }
}

async function* inTurn<T>(list: readonly T[]): AsyncGenerator<T> {
  yield* list
}

async function gather(
  pieces: AsyncIterable<ContentPiece | End>,
  each: (piece: ContentPiece) => Promise<void>,
): Promise<Outcome> {
  const heard: ContentPiece[] = []
  for await (const piece of pieces) {
    if (piece.type === 'end') return { pieces: heard, end: piece }
    heard.push(piece)
    await each(piece)
  }
  throw new RelayFailure(500, 'api_error', 'The answer broke off')
}

/** Tells the listener the answer, and the memory before the listener hears of the end. */
async function tell(
  { now }: AnsweringParts,
  { ask, heading, recalled, heard }: Running,
  answer: Answered,
  listener: Listener,
): Promise<Outcome> {
  try {
    const outcome = await gather(limited(answer.pieces, ask, answer), (piece) => {
      if (ask.stream) heard.push(piece)
      return listener.piece(piece)
    })
    await recalled?.keep(saidIn(outcome.pieces))
    const { provider, fallbackChain } = answer
    listener.end(outcome, { provider, durationMs: now() - heading.startedAt, fallbackChain })
    return outcome
  } catch (error) {
    listener.fail(failureOf(error))
    throw error
  }
}

/** What a caller keeps of an answer. */
function saidIn(pieces: readonly ContentPiece[]): Block[] {
  return merged(pieces).filter((piece) => piece.type !== 'thinking')
}

/** Who has not got the answer does not know of it: in one piece, not at all; in a stream, maybe. */
async function noteArrival({ recalled, ask }: Running, listener: Listener): Promise<void> {
  if (!recalled) return
  if (await listener.arrived()) await recalled.heard()
  else if (!ask.stream) await recalled.undo()
}

/** Who went away in the middle of a stream has heard its beginning. */
async function noteBreak({ recalled, heard }: Running): Promise<void> {
  const said = saidIn(heard).filter(({ type }) => type === 'text')
  if (said.length > 0) await recalled?.keep(said).catch(() => undefined)
}

function record(
  { calls, events, settings, now }: AnsweringParts,
  { heading, ask, stickyId }: Running,
  answer: Answered | null,
  outcome: Outcome | null,
  failure: RelayFailure | null,
): void {
  const usage = outcome?.end.usage ?? { inputTokens: 0, outputTokens: 0 }
  const status: CallRecord['status'] = failure ? 'error' : 'success'
  calls.add({
    id: heading.id,
    sessionId: stickyId ?? heading.id,
    startedAt: heading.startedAt,
    completedAt: now(),
    model: heading.model,
    provider: answer?.provider ?? null,
    ...usage,
    costAvoidedUsd: outcome ? costOf(heading.model, usage, withOwnPrices(settings().prices)) : 0,
    status,
    error: failure?.message ?? null,
    stopReason: outcome?.end.stopReason ?? null,
    fallbackChain: answer?.fallbackChain ?? [],
    promptPreview: lastWords(ask),
    rawTranscript: outcome && transcriptOf(outcome.pieces),
  })
  events.add({ type: 'turn.finished', callId: heading.id, sessionId: stickyId, status })
}

function lastWords({ messages }: Ask): string {
  const blocks = messages.at(-1)?.content ?? []
  return blocks.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join(' ')
}
