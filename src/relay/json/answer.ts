import { type Outcome, textIn } from '../answer.ts'
import type { Ask, JsonWish } from '../ask.ts'
import { RelayFailure } from '../failure.ts'
import { askedAgain, jsonIn } from './structured.ts'

/**
 * The JSON that was asked for, without what the model has put around it. If it is not what was asked for, the model is told
 * why and asked once more. Only a complete answer is looked at: one that calls a tool, or has reached a limit, is none yet.
 */
export async function jsonAnswer(ask: Ask, listen: (ask: Ask) => Promise<Outcome>): Promise<Outcome> {
  const wish = ask.json ?? { schema: null }
  const first = await listen(ask)
  const looked = look(first, wish)
  if ('outcome' in looked) return looked.outcome
  const second = await listen(askedAgain(ask, textIn(first.pieces, 'text'), looked.problem))
  const again = look(second, wish)
  if ('outcome' in again) return withTokensOf(again.outcome, first)
  const message = `The model was asked twice and did not answer with the JSON that was asked for: ${again.problem}`
  throw new RelayFailure(500, 'api_error', message, { extra: { code: 'invalid_json' } })
}

function look(outcome: Outcome, wish: JsonWish): { outcome: Outcome } | { problem: string } {
  const { pieces, end } = outcome
  if (end.stopReason !== 'end_turn') return { outcome }
  const found = jsonIn(textIn(pieces, 'text'), wish)
  if ('problem' in found) return found
  const thoughts = pieces.filter(({ type }) => type !== 'text')
  return { outcome: { pieces: [...thoughts, { type: 'text', text: found.json }], end } }
}

function withTokensOf({ pieces, end }: Outcome, first: Outcome): Outcome {
  const usage = {
    inputTokens: end.usage.inputTokens + first.end.usage.inputTokens,
    outputTokens: end.usage.outputTokens + first.end.usage.outputTokens,
  }
  return { pieces, end: { ...end, usage } }
}
