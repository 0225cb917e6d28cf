import type { Shape } from '../../relay/shape.ts'
import { failureBody } from './failure.ts'
import { messageOf } from './message.ts'
import { readAnthropic } from './request.ts'
import { anthropicStream } from './stream.ts'

/** Anthropic's Messages API. */
export const ANTHROPIC: Shape = {
  read: readAnthropic,
  stream: anthropicStream,
  whole: (heading, _, { pieces, end }, served) => messageOf(heading, pieces, end, served),
  failure: failureBody,
}
