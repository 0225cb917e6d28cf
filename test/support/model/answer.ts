import { once } from 'node:events'
import { planOf, type Action } from '../../../src/agents/demo/script.ts'
import { type Exchange, sendJson, shortId } from './api.ts'
import type { Ask } from './conversation.ts'
import { play, type Stage } from './player.ts'
import { namedStep } from './tools.ts'

export type Spoken = { kind: 'text' | 'thinking'; id: string; text: string }
export type Called = { kind: 'call'; id: string; name: string; input: Record<string, unknown> }
export type Block = Spoken | Called

/** What was answered, so far or in all. */
export interface Answer {
  blocks: Block[]
  tokens: number
  called: boolean
}

/** How one API writes one answer. Those before `whole` give what to stream; `index` counts blocks. */
export interface Wire {
  start(): string
  open(block: Spoken, index: number): string
  delta(block: Spoken, text: string, index: number): string
  close(block: Spoken, index: number): string
  call(block: Called, index: number): string
  finish(answer: Answer): string
  /** A failure after something was streamed. */
  broken(status: number): string
  whole(answer: Answer): unknown
  failure(status: number): unknown
  headers(status: number): Record<string, string>
}

/** Plays the script of a request in the form of an API. */
export async function answer(
  ask: Ask,
  wire: Wire,
  { response, signal }: Exchange,
  plan: Action[] = planOf(ask.said, ask.facts),
): Promise<void> {
  const stage = stageFor(ask.stream, wire, response, signal)
  const steps = plan.map((step) => namedStep(step, ask.tools))
  const complete = await play(steps, stage, signal)
  if (complete) stage.finish()
  else if (signal.aborted) response.destroy()
}

function stageFor(
  streams: boolean,
  wire: Wire,
  response: Exchange['response'],
  signal: AbortSignal,
): Stage & { finish(): void } {
  const blocks: Block[] = []
  let speaking: Spoken = { kind: 'text', id: '', text: '' }
  let pending = ''
  let started = false
  // The end of a block waits for what comes next: a failure cuts the block short.
  let ending = ''

  const put = (frames: () => string) => {
    if (!streams) return
    if (!started) pending = wire.start()
    started = true
    pending += ending + frames()
    ending = ''
  }
  const index = () => blocks.length - 1
  const send = () => {
    if (!response.headersSent) {
      response.writeHead(200, { ...wire.headers(200), 'content-type': 'text/event-stream' })
    }
    response.write(pending)
    pending = ''
  }
  const whole = (status: number, body: unknown) => sendJson(response, status, body, wire.headers(status))
  const soFar = (): Answer => {
    const chars = blocks.reduce((sum, block) => sum + (block.kind === 'call' ? 0 : block.text.length), 0)
    return { blocks, tokens: Math.ceil(chars / 4), called: blocks.some((block) => block.kind === 'call') }
  }

  return {
    open(kind) {
      speaking = { kind, id: shortId(), text: '' }
      blocks.push(speaking)
      put(() => wire.open(speaking, index()))
    },
    delta(text) {
      speaking.text += text
      put(() => wire.delta(speaking, text, index()))
    },
    close() {
      ending = streams ? wire.close(speaking, index()) : ''
    },
    call({ name, input }) {
      const block: Called = { kind: 'call', id: shortId(), name, input }
      blocks.push(block)
      put(() => wire.call(block, index()))
    },
    fail(status) {
      if (!response.headersSent) return whole(status, wire.failure(status))
      response.end(pending + wire.broken(status))
    },
    async flush() {
      if (pending !== '') send()
      if (response.writableNeedDrain) await once(response, 'drain', { signal }).catch(() => undefined)
    },
    finish() {
      if (!streams) return whole(200, wire.whole(soFar()))
      put(() => wire.finish(soFar()))
      send()
      response.end()
    },
  }
}
