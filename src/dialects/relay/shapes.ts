import type { Heading, Outcome, Served, StreamEncoder } from './answer.ts'
import { messageOf } from './anthropic/message.ts'
import { readAnthropic } from './anthropic/request.ts'
import { anthropicStream } from './anthropic/stream.ts'
import type { Ask } from './ask.ts'
import { completionOf } from './openai/completion.ts'
import { customTools } from './openai/custom.ts'
import { readOpenAi, wantsUsage } from './openai/request.ts'
import { openAiStream } from './openai/stream.ts'

/** One of the two ways to ask and to be answered. */
export interface Shape {
  /** `named`: it is a call of a session, which may know the calls that a lone message brings results of. */
  read(body: unknown, named: boolean): Ask
  stream(heading: Heading, ask: Ask): StreamEncoder
  whole(heading: Heading, ask: Ask, outcome: Outcome, served: Served): object
}

export const ANTHROPIC: Shape = {
  read: readAnthropic,
  stream: anthropicStream,
  whole: (heading, _, { pieces, end }, served) => messageOf(heading, pieces, end, served),
}

export const OPENAI: Shape = {
  read: readOpenAi,
  stream: (heading, ask) =>
    openAiStream(heading, { includeUsage: wantsUsage(ask), custom: customTools(ask) }),
  whole: (heading, ask, { pieces, end }, served) =>
    completionOf(heading, pieces, end, served, customTools(ask)),
}
