import type { Shape } from '../../relay/shape.ts'
import { completionOf } from './completion.ts'
import { customTools } from './custom.ts'
import { failureBody } from './failure.ts'
import { readOpenAi, wantsUsage } from './request.ts'
import { openAiStream } from './stream.ts'

/** OpenAI's Chat Completions. */
export const OPENAI: Shape = {
  read: readOpenAi,
  stream: (heading, ask) =>
    openAiStream(heading, { includeUsage: wantsUsage(ask), custom: customTools(ask) }),
  whole: (heading, ask, { pieces, end }, served) =>
    completionOf(heading, pieces, end, served, customTools(ask)),
  failure: failureBody,
}
