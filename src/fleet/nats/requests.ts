import { ConnectionLost, NativeError } from '../../client/link.ts'
import { uuid } from '../../core/ids.ts'
import type { Bus, Incoming } from './bus.ts'
import { cut, decode, encode, Gathering, textOf, type Piece } from './pieces.ts'
import type { Origin } from './seal.ts'
import { subjects, type Kind } from './subjects.ts'

type Answer = { result: unknown } | { error: Refusal }

interface Refusal {
  code: number
  message: string
  data: Readonly<Record<string, unknown>>
}

/** Nobody of that name listens. */
export class NobodyThere extends ConnectionLost {
  constructor(machine: string) {
    super(`nobody called ${machine} listens at NATS`)
  }
}

export interface Question {
  method: string
  params: object
  /** The process that is meant: another one of that name does nothing. */
  run?: string
}

export interface Requests {
  /** Waits for the answer as long as `signal` lets it. */
  ask(kind: Kind, machine: string, question: Question, signal: AbortSignal): Promise<unknown>
  /** Answers what others ask this machine. */
  serve(kind: Kind, run: string, answer: (method: string, params: never) => Promise<unknown>): void
}

interface Waiter {
  machine: string
  pieces: Gathering<null>
  resolve(answer: Answer): void
  reject(error: Error): void
}

/** Questions and answers between machines, of any size; each is asked once, and an answer that is lost is lost. */
export function createRequests(bus: Bus, me: string): Requests {
  const waiting = new Map<string, Waiter>()
  const inbox = `${subjects.inbox(me)}.asked`
  bus.subscribe(`${inbox}.*`, ({ subject, data, isNobody }) => {
    const waiter = waiting.get(subject)
    if (!waiter) return
    if (isNobody) return waiter.reject(new NobodyThere(waiter.machine))
    const text = gathered(waiter.pieces, data)
    if (text !== null) waiter.resolve(JSON.parse(text) as Answer)
  })
  return {
    async ask(kind, machine, question, signal) {
      const id = uuid()
      const reply = `${inbox}.${id}`
      const { promise, resolve, reject } = Promise.withResolvers<Answer>()
      const over = (): void => reject(new ConnectionLost())
      signal.addEventListener('abort', over)
      waiting.set(reply, { machine, pieces: new Gathering(), resolve, reject })
      try {
        if (signal.aborted) throw new ConnectionLost()
        send(bus, { subject: subjects.requests(kind, machine), id, reply }, question)
        const answer = await promise
        if ('error' in answer) throw new NativeError(answer.error)
        return answer.result
      } finally {
        waiting.delete(reply)
        signal.removeEventListener('abort', over)
      }
    },
    serve(kind, run, answer) {
      const pieces = new Gathering<null>()
      const isNew = onceEach()
      bus.subscribe(subjects.requests(kind, me), ({ data, reply, origin }: Incoming) => {
        const text = isNew(origin) ? gathered(pieces, data) : null
        if (text === null || reply === undefined) return
        const { method, params, run: meant } = JSON.parse(text) as Question & { params: never }
        if (meant !== undefined && meant !== run) return
        void answered(answer(method, params))
          .then((said) => send(bus, { subject: reply, id: uuid() }, said))
          .catch(() => {}) // The connection is over: whoever asked knows it.
      })
    },
  }
}

/** A sealed message that somebody repeats is not heard again: a process counts them, and they come in its order. */
function onceEach(): (origin: Origin) => boolean {
  const last = new Map<string, number>()
  return (origin) => {
    if (!origin) return true
    const { sender, count } = origin
    if (count <= (last.get(sender) ?? 0)) return false
    last.set(sender, count)
    return true
  }
}

async function answered(work: Promise<unknown>): Promise<Answer> {
  try {
    return { result: await work }
  } catch (error) {
    if (error instanceof NativeError)
      return { error: { code: error.rpcCode, message: error.message, data: error.data } }
    return { error: { code: -32603, message: (error as Error).message, data: { code: 'internal' } } }
  }
}

function send(bus: Bus, to: { subject: string; id: string; reply?: string }, content: object): void {
  const bodies = cut(JSON.stringify(content), bus.limit)
  const { subject, id, reply } = to
  for (const [part, body] of bodies.entries()) {
    const piece: Piece<null> = { id, part, parts: bodies.length, head: null, body }
    bus.publish(subject, encode(piece), reply)
  }
}

/** What was said, when this was its last piece. */
function gathered(pieces: Gathering<null>, data: Uint8Array): string | null {
  const piece = decode<null>(data)
  const all = piece && pieces.take(piece)
  return all && textOf(all)
}
