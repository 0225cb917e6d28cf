import type { Ask, JsonWish } from '../ask.ts'
import { problemsIn } from './schema.ts'

/** What whoever answers is told before the conversation, with the wish for JSON in words; null: nothing. */
export function systemOf({ system, json }: Pick<Ask, 'system' | 'json'>): string | null {
  return joined([system ?? '', json ? jsonWords(json) : ''])
}

/**
 * The wish as a sentence for the system prompt. It is none of the caller's own words, which a session keeps. An agent cannot be held to a schema while it writes, but it follows one well.
 * An upstream of the client's own shape gets the wish itself and holds its model to it.
 */
function jsonWords({ schema }: JsonWish): string {
  const only = 'no words around it, no code fence.'
  return schema === null
    ? `Answer with a single JSON object and nothing else: ${only}`
    : `Answer with a single JSON value and nothing else: ${only} It must be valid against this JSON Schema:\n${JSON.stringify(schema)}`
}

/** Parts of a system prompt as one; null when there are none. */
export function joined(parts: readonly string[]): string | null {
  return parts.filter((part) => part !== '').join('\n\n') || null
}

/** The JSON in an answer, or what is wrong with it. */
export function jsonIn(answer: string, { schema }: JsonWish): { json: string } | { problem: string } {
  for (const json of candidates(answer)) {
    const value = parsed(json)
    if (value === undefined) continue
    const problems = problemsIn(value, schema ?? { type: 'object' })
    return problems.length === 0 ? { json } : { problem: problems.join('; ') }
  }
  return { problem: 'it is not JSON' }
}

/** The same call once more, with the answer that was no good and why. */
export function askedAgain(ask: Ask, answer: string, problem: string): Ask {
  const said = answer.trim() === '' ? '(nothing)' : answer
  const wrong = `Your answer is not the JSON that was asked for: ${problem}. Answer again, with that JSON and nothing else.`
  const { body } = ask
  return {
    ...ask,
    messages: [
      ...ask.messages,
      { role: 'assistant', content: [{ type: 'text', text: said }] },
      { role: 'user', content: [{ type: 'text', text: wrong }] },
    ],
    // An upstream of the same shape gets the body and not what was made of it.
    body: {
      ...body,
      json: {
        ...body.json,
        messages: [
          ...(body.json['messages'] as unknown[]),
          { role: 'assistant', content: said },
          { role: 'user', content: wrong },
        ],
      },
    },
  }
}

/** Models like to put JSON into a code fence, or to announce it. */
function candidates(answer: string): string[] {
  const whole = answer.trim()
  const fenced = fencedIn(whole)
  const from = whole.search(/[{[]/)
  const to = Math.max(whole.lastIndexOf('}'), whole.lastIndexOf(']'))
  return [whole, ...(fenced ? [fenced] : []), ...(from >= 0 && to > from ? [whole.slice(from, to + 1)] : [])]
}

const FENCE = '```'

/** What is between the line that opens the first code fence and what closes it; null: there is none. */
function fencedIn(text: string): string | null {
  const opened = text.indexOf(FENCE)
  const from = opened < 0 ? -1 : text.indexOf('\n', opened)
  const to = from < 0 ? -1 : text.indexOf(FENCE, from)
  return to < 0 ? null : text.slice(from, to).trim()
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json) as unknown
  } catch {
    return undefined
  }
}
