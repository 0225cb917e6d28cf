import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Listener } from '../../relay/answering.ts'
import type { Relay } from '../../relay/relay.ts'
import type { Shape, StreamEncoder } from '../../relay/shape.ts'
import { createSseWriter } from '../../transports/sse.ts'
import { asFailure, readJson, stickyIdOf } from './request.ts'
import { hasLeft, sendFailure, sendJson } from './response.ts'

interface ServeOptions {
  bodyLimit: number
  newId: () => string
  /** How often a quiet stream says that it is there. */
  pingMs: number
}

/** Reads a call in its shape, and answers it the same way. */
export async function serve(
  relay: Relay,
  shape: Shape,
  { req, res }: { req: IncomingMessage; res: ServerResponse },
  { bodyLimit, newId, pingMs }: ServeOptions,
): Promise<void> {
  const id = newId()
  const startedAt = Date.now()
  const gone = new AbortController()
  res.once('close', () => gone.abort())
  try {
    const stickyId = stickyIdOf(req)
    const ask = shape.read(await readJson(req, bodyLimit), stickyId !== null)
    await relay.answer({ id, startedAt, ask, stickyId, signal: gone.signal }, (heading, whole) =>
      ask.stream
        ? streaming(res, id, shape.stream(heading, whole), pingMs)
        : gathering(res, id, (outcome, served) => shape.whole(heading, whole, outcome, served)),
    )
  } catch (error) {
    if (res.headersSent || res.destroyed) return
    sendFailure(req, res, asFailure(error), id)
  }
}

/** A client that gets its answer in one piece. */
function gathering(
  res: ServerResponse,
  id: string,
  bodyOf: (...answer: Parameters<Listener['end']>) => object,
): Listener {
  return {
    piece: () => Promise.resolve(),
    end: (outcome, served) => sendJson(res, 200, bodyOf(outcome, served), requestIds(id)),
    // Nothing has been sent yet: the failure gets a status of its own.
    fail: () => undefined,
    arrived: () => hasLeft(res),
  }
}

/** A client that gets its answer piece by piece, as fast as it reads. */
function streaming(res: ServerResponse, id: string, encoder: StreamEncoder, pingMs: number): Listener {
  let drained = Promise.withResolvers<void>()
  for (const [name, value] of Object.entries(requestIds(id))) res.setHeader(name, value)
  const beginning = encoder.begin()
  const writer = createSseWriter(res, {
    ping: { frame: encoder.ping(), everyMs: pingMs },
    onDrain: () => drained.resolve(),
    onClose: () => drained.resolve(),
  })
  writer.write(beginning)
  return {
    async piece(piece) {
      if (writer.write(encoder.piece(piece)) || !writer.open) return
      drained = Promise.withResolvers<void>()
      await drained.promise
    },
    end({ end }, served) {
      writer.write(encoder.end(end, served))
      writer.end()
    },
    fail(failure) {
      writer.write(encoder.fail(failure))
      writer.end()
    },
    arrived: () => hasLeft(res),
  }
}

function requestIds(id: string): Record<string, string> {
  return { 'request-id': id, 'x-request-id': id }
}
