import type { TestContext } from 'node:test'
import { inTerminal } from './support.ts'

/* oxlint-disable no-control-regex -- that is what they are */

/** Colours of one number each, as we use them; none of the corpus is written like this but `ESC [ 3 1 m`. */
const COLOUR = /\u001b\[(?:0|1|2|22|3[0-9]|39|4[0-9]|49|9[0-7])m/g

/** What Node's line editor does to the line with the prompt. */
const PROMPT = /\u001b\[(?:\d+G|0J|2K|0K|\?2004[hl])|\u001b\[\d*[CD]/g

const UNSEEN =
  /.{0,20}[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069].{0,20}/g

/* oxlint-enable no-control-regex */

/** Everything in what a terminal was told that is neither text nor ours. */
export function foreign(printed: string): string[] {
  const rest = printed.replace(/\r+\n/g, '\n').replace(COLOUR, '').replace(PROMPT, '')
  const found = rest.matchAll(UNSEEN)
  return [...found].map(([text]) => JSON.stringify(text))
}

/** All that a command says to a terminal. */
export async function printedBy(
  t: TestContext,
  env: NodeJS.ProcessEnv,
  args: string[],
  term?: string,
): Promise<string> {
  const terminal = inTerminal(t, env, args, term)
  await terminal.exited
  return terminal.rest()
}
