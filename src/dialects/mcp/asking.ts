import { createHash } from 'node:crypto'
import type { Decision } from '../../core/approval.ts'
import type { AskHuman, CreateSession } from '../../core/command.ts'
import { CorralError } from '../../core/error.ts'
import { EXTERNAL_AGENT } from '../../core/external.ts'

/** What is put before a human. */
export type HumanRequest = Pick<AskHuman, 'kind' | 'tool' | 'input' | 'edits' | 'callId' | 'summary'>

/** Who asks, and how to learn that the answer is not wanted any more. */
export interface Caller {
  /** What the client calls itself. */
  client: string
  signal: AbortSignal
  /** The request that it came with, over HTTP. */
  request: Request | undefined
}

/** Brings a question to a human and the answer back. What it throws is told to the agent. */
export interface Asker {
  ask(request: HumanRequest, caller: Caller): Promise<Decision>
}

/** Knows which questions are under way, so that nobody leaves before they are answered or taken back. */
export function tracked(ask: Asker['ask']): Asker & { settled(): Promise<unknown> } {
  const open = new Set<Promise<Decision>>()
  return {
    ask(request, caller) {
      const asked = ask(request, caller).finally(() => open.delete(asked))
      open.add(asked)
      return asked
    },
    settled: () => Promise.allSettled(open),
  }
}

/** Who asks: a session that is there, or an agent elsewhere, which gets one. */
export type Origin = { sessionId: string } | { client: string; cwd: string }

export type ExternalSession = Required<
  Pick<CreateSession, 'agent' | 'cwd' | 'mode' | 'title' | 'key' | 'origin'>
>

/** The way to the engine: the engine itself, or a connection to its daemon. */
export interface Desk {
  /** An id for the next question. */
  newId(): string
  /** The session with this key, made if there is none; destroyed ones keep theirs. */
  create(session: ExternalSession): Promise<{ id: string; destroyed: boolean }>
  request(question: AskHuman): Promise<Decision | null>
  /** Null when it had to give up waiting for now. */
  wait(approvalId: string, signal: AbortSignal): Promise<Decision | null>
  withdraw(approvalId: string): Promise<void>
}

/** Asks, and stays until there is a decision. The question is taken back when the signal says that nobody cares any more. */
export async function askHuman(
  desk: Desk,
  origin: Origin,
  request: HumanRequest,
  signal: AbortSignal,
): Promise<Decision> {
  const sessionId = 'sessionId' in origin ? origin.sessionId : await sessionFor(desk, origin)
  signal.throwIfAborted()
  const id = desk.newId()
  const asked = desk.request({ ...request, sessionId, id })
  const given = uponAbort(signal)
  let decision: Decision | null = null
  try {
    decision = await Promise.race([asked, given.up])
    while (!decision) decision = await Promise.race([desk.wait(id, signal), given.up])
    return decision
  } catch (error) {
    throw inPlainWords(error, sessionId)
  } finally {
    given.forget()
    // Not before it was asked: what is not there yet cannot be taken back.
    if (!decision) await asked.then(() => desk.withdraw(id)).catch(() => {})
  }
}

function uponAbort(signal: AbortSignal): { up: Promise<never>; forget(): void } {
  const { promise, reject } = Promise.withResolvers<never>()
  const giveUp = (): void => reject(new Error('The question was taken back'))
  promise.catch(() => {})
  if (signal.aborted) giveUp()
  signal.addEventListener('abort', giveUp)
  return { up: promise, forget: () => signal.removeEventListener('abort', giveUp) }
}

function inPlainWords(error: unknown, sessionId: string): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : null
  if (code !== 'session_not_found') return error
  const message = `Corral has no session ${sessionId}: it was removed, or the id is wrong`
  return new CorralError('session_not_found', message, { sessionId })
}

/** One session for the same client in the same directory, until somebody removes it. */
async function sessionFor(desk: Desk, { client, cwd }: { client: string; cwd: string }): Promise<string> {
  for (let generation = 1; ; generation++) {
    const key = keyOf(client, cwd, generation)
    const { id, destroyed } = await desk.create({
      agent: EXTERNAL_AGENT,
      cwd,
      mode: 'ask',
      title: client,
      key,
      origin: 'mcp',
    })
    if (!destroyed) return id
  }
}

const KEY_LIMIT = 200

function keyOf(client: string, cwd: string, generation: number): string {
  const key = `mcp ${client} ${cwd}${generation > 1 ? ` ${generation}` : ''}`
  return key.length <= KEY_LIMIT ? key : `mcp ${createHash('sha256').update(key).digest('hex')}`
}
