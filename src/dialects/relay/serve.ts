import { isUtf8 } from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createSseWriter } from '../../transports/sse.ts'
import {
  type ContentPiece,
  type End,
  type Heading,
  merged,
  type Outcome,
  transcriptOf,
} from '../../relay/answer.ts'
import type { Ask, Block } from '../../relay/ask.ts'
import type { CallRecord, Calls } from '../../relay/records/calls.ts'
import { clientKind, failureAnswer } from './errors.ts'
import type { RelayEvents } from '../../relay/records/events.ts'
import { failureOf, RelayFailure } from '../../relay/failure.ts'
import { jsonAnswer } from '../../relay/json/answer.ts'
import type { LicensePolicy } from '../../relay/license/license.ts'
import { limited } from '../../relay/limit.ts'
import { pathIn, routePath } from './paths.ts'
import { costOf, withOwnPrices } from '../../relay/prices.ts'
import type { Answered, Cascade } from '../../relay/providers/cascade.ts'
import type { Memory, Recalled } from '../../relay/sessions/memory.ts'
import type { RelaySettings } from '../../relay/settings/schema.ts'
import type { Shape } from '../../relay/shape.ts'
import { inputTokens } from '../../relay/tokens.ts'

interface ServeDeps {
  cascade: Cascade
  license: Pick<LicensePolicy, 'admit'>
  calls: Pick<Calls, 'add'>
  events: Pick<RelayEvents, 'add'>
  memory: Pick<Memory, 'recall'>
  settings: () => RelaySettings
  now: () => number
  newId: () => string
  onFault: (error: unknown) => void
  pingMs: number
}

/** One call, from its body to its record. */
interface Running {
  heading: Heading
  ask: Ask
  stickyId: string | null
  /** Null: nobody remembers it. */
  recalled: Recalled | null
  /** What of a stream has been sent so far. */
  heard: ContentPiece[]
  /** Aborts when the client is gone. */
  signal: AbortSignal
}

export const SESSION_HEADER = 'x-ir-session-id'
const MAX_SESSION_ID = 128

/** Answers calls in either shape: admits, asks the providers, streams or gathers, and writes down what became of it. */
export function createServe(deps: ServeDeps) {
  const { cascade, license, events, settings, now } = deps

  /** Nothing is sent before the first piece is there: until then a failure has its own status. */
  async function answered(running: Running): Promise<Answered> {
    const { ask, stickyId, signal, heading } = running
    const place = await license.admit()
    try {
      const answer = await cascade.answer({ id: heading.id, ask, stickyId, signal })
      await place.count().catch(async (error: unknown) => {
        await unheard(answer.pieces)
        throw error
      })
      return answer
    } catch (error) {
      place.free()
      throw error
    }
  }

  async function gather(
    pieces: AsyncIterable<ContentPiece | End>,
    each: (piece: ContentPiece) => Promise<void>,
  ) {
    const heard: ContentPiece[] = []
    for await (const piece of pieces) {
      if (piece.type === 'end') return { pieces: heard, end: piece }
      heard.push(piece)
      await each(piece)
    }
    throw new RelayFailure(500, 'api_error', 'The answer broke off')
  }

  /** The answer once it is the JSON that was asked for. Also a stream waits for it: what has been sent cannot be taken back. */
  async function inJson(running: Running, first: Answered): Promise<Answered> {
    const { ask, stickyId, signal, heading } = running
    let answer = first
    const { pieces, end } = await jsonAnswer(ask, async (asked) => {
      if (asked !== ask) answer = await cascade.answer({ id: heading.id, ask: asked, stickyId, signal })
      return gather(limitedBy({ ...running, ask: asked }, answer), () => Promise.resolve())
    })
    return { ...answer, countsItself: true, pieces: inTurn([...pieces, end]) }
  }

  async function whole(
    running: Running,
    shape: Shape,
    answer: Answered,
    res: ServerResponse,
  ): Promise<Outcome> {
    const outcome = await gather(limitedBy(running, answer), () => Promise.resolve())
    await running.recalled?.keep(saidIn(outcome.pieces))
    const served = servedBy(running, answer)
    const body = shape.whole(running.heading, running.ask, outcome, served)
    sendJson(res, 200, body, requestIds(running.heading.id))
    return outcome
  }

  async function stream(
    running: Running,
    shape: Shape,
    answer: Answered,
    res: ServerResponse,
  ): Promise<Outcome> {
    const encoder = shape.stream(running.heading, running.ask)
    let drained = Promise.withResolvers<void>()
    for (const [name, value] of Object.entries(requestIds(running.heading.id))) res.setHeader(name, value)
    const beginning = encoder.begin()
    const writer = createSseWriter(res, {
      ping: { frame: encoder.ping(), everyMs: deps.pingMs },
      onDrain: () => drained.resolve(),
      onClose: () => drained.resolve(),
    })
    writer.write(beginning)
    try {
      const outcome = await gather(limitedBy(running, answer), async (piece) => {
        running.heard.push(piece)
        if (writer.write(encoder.piece(piece)) || !writer.open) return
        drained = Promise.withResolvers<void>()
        await drained.promise
      })
      await running.recalled?.keep(saidIn(outcome.pieces))
      writer.write(encoder.end(outcome.end, servedBy(running, answer)))
      return outcome
    } catch (error) {
      writer.write(encoder.fail(failureOf(error)))
      throw error
    } finally {
      writer.end()
    }
  }

  function limitedBy(
    { ask }: Running,
    { pieces, countsItself }: Answered,
  ): AsyncIterable<ContentPiece | End> {
    return limited(pieces, ask, { countsItself })
  }

  function servedBy({ heading }: Running, { provider, fallbackChain }: Answered) {
    return { provider, durationMs: now() - heading.startedAt, fallbackChain }
  }

  function record(
    running: Running,
    answer: Answered | null,
    outcome: Outcome | null,
    failure: RelayFailure | null,
  ): void {
    const { heading, ask, stickyId } = running
    const usage = outcome?.end.usage ?? { inputTokens: 0, outputTokens: 0 }
    const status: CallRecord['status'] = failure ? 'error' : 'success'
    deps.calls.add({
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

  async function run(given: Running, shape: Shape, res: ServerResponse): Promise<void> {
    let running = given
    let answer: Answered | null = null
    try {
      running = await recalled(given)
      answer = await answered(running)
      if (running.ask.json) answer = await inJson(running, answer)
      const outcome = await (running.ask.stream ? stream : whole)(running, shape, answer, res)
      record(running, answer, outcome, null)
      await noteArrival(running, res)
    } catch (error) {
      const gone = running.signal.aborted
      if (gone) await noteBreak(running)
      const failure = gone ? new RelayFailure(499, 'api_error', 'The client is gone') : failureOf(error)
      record(running, answer, null, failure)
      if (!gone && !(error instanceof RelayFailure)) deps.onFault(error)
      throw failure
    } finally {
      running.recalled?.leave()
    }
  }

  /** A session with a name is this call's until its answer has left. */
  async function recalled(running: Running): Promise<Running> {
    const { stickyId, ask, signal } = running
    if (stickyId === null) return running
    const recalled = await deps.memory.recall(stickyId, ask, signal)
    return { ...running, ask: recalled.ask, recalled }
  }

  return async function serve(
    { req, res }: { req: IncomingMessage; res: ServerResponse },
    shape: Shape,
    read: (req: IncomingMessage) => Promise<unknown>,
  ): Promise<void> {
    const id = deps.newId()
    const startedAt = now()
    const gone = new AbortController()
    res.once('close', () => gone.abort())
    try {
      const stickyId = stickyIdOf(req)
      const ask = shape.read(await read(req), stickyId !== null)
      const heading: Heading = { id, model: ask.model, startedAt, inputTokens: inputTokens(ask) }
      events.add({ type: 'turn.started', callId: id, sessionId: stickyId, model: ask.model })
      await run({ heading, ask, stickyId, recalled: null, heard: [], signal: gone.signal }, shape, res)
    } catch (error) {
      if (res.headersSent || res.destroyed) return
      sendFailure(req, res, failureOf(error), id)
    }
  }
}

async function* inTurn<T>(list: readonly T[]): AsyncGenerator<T> {
  yield* list
}

/** Ends an answer that nobody is going to hear: what was not begun cannot be ended, and whoever answers would wait for ever. */
async function unheard(answer: Answered['pieces']): Promise<void> {
  const pieces = answer[Symbol.asyncIterator]()
  await pieces.next()
  await pieces.return?.()
}

/** What a caller keeps of an answer. */
function saidIn(pieces: readonly ContentPiece[]): Block[] {
  return merged(pieces).filter((piece) => piece.type !== 'thinking')
}

/** Who has not got the answer does not know of it: in one piece, not at all; in a stream, maybe. */
async function noteArrival({ recalled, ask }: Running, res: ServerResponse): Promise<void> {
  if (!recalled) return
  if (await hasLeft(res)) await recalled.heard()
  else if (!ask.stream) await recalled.undo()
}

/** Who went away in the middle of a stream has heard its beginning. */
async function noteBreak({ recalled, heard }: Running): Promise<void> {
  const said = saidIn(heard).filter(({ type }) => type === 'text')
  if (said.length > 0) await recalled?.keep(said).catch(() => undefined)
}

/** Resolves when all is handed over to the system; false: the client was gone before. */
function hasLeft(res: ServerResponse): Promise<boolean> {
  if (res.writableFinished || res.destroyed) return Promise.resolve(res.writableFinished)
  return new Promise((resolve) => {
    res.once('finish', () => resolve(true))
    res.once('close', () => resolve(res.writableFinished))
  })
}

/** What a client calls its conversation; null: it wants none. */
function stickyIdOf(req: IncomingMessage): string | null {
  const given = req.headers[SESSION_HEADER]
  return checkedId(typeof given === 'string' ? wordsIn(given).trim() : '') || null
}

/** Headers are read as Latin-1; most who send other letters send UTF-8, as everybody does in a path. */
function wordsIn(header: string): string {
  const bytes = Buffer.from(header, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : header
}

export function checkedId(id: string): string {
  if (id.length <= MAX_SESSION_ID) return id
  const message = `X-IR-Session-ID has ${id.length} characters, ${MAX_SESSION_ID} are allowed`
  throw new RelayFailure(400, 'invalid_request_error', message, { field: 'X-IR-Session-ID' })
}

export function sendFailure(
  req: IncomingMessage,
  res: ServerResponse,
  failure: RelayFailure,
  id: string,
): void {
  const kind = clientKind(req.headers, routePath(pathIn(req.url)))
  const { status, headers, body } = failureAnswer(failure, kind, id)
  sendJson(res, status, body, headers)
}

export function sendJson(
  res: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  const text = JSON.stringify(body)
  res.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...headers,
  })
  res.end(text)
}

function requestIds(id: string): Record<string, string> {
  return { 'request-id': id, 'x-request-id': id }
}

function lastWords({ messages }: Ask): string {
  const blocks = messages.at(-1)?.content ?? []
  return blocks.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join(' ')
}
