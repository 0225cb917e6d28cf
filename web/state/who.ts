import type { Api } from '../client/client.ts'
import { questionsOf } from './answers.ts'
import { visibleLine } from './visible-text.ts'

export type Approval = Api['approval.get']['result']
export type Decision = NonNullable<Approval['decision']>

const CLIENTS: Readonly<Record<string, string>> = {
  dashboard: 'another dashboard',
  cli: 'the command line',
  native: 'a program',
  rule: 'a rule',
  approval: 'an answer given before',
  timeout: 'the clock: nobody answered in time',
  interrupt: 'the interrupt of its turn',
  corral: 'Corral',
}

/** Who has answered, for people: `by` of a decision and the device it came from, in words that fit behind "by". */
export function whoAnswered(by: string, device: string | null = null): string {
  if (device !== null) return visibleLine(device)
  const mode = /^mode:(.+)$/.exec(by)?.[1]
  if (mode !== undefined) return `the mode ${mode}`
  return CLIENTS[by] ?? by
}

/** What became of a question, in one word. */
export function outcomeOf(decision: Decision): string {
  switch (decision.behavior) {
    case 'allow':
      return 'allowed'
    case 'deny':
      return 'refused'
    case 'respond':
      return 'answered'
    case 'cancelled':
      return 'withdrawn'
  }
}

/** What is asked, on one line. */
export function subjectOf({ kind, tool, input, summary, about }: Approval): string {
  const [first] = about.subjects
  if (kind === 'tool' && first !== undefined) return about.class === 'shell' ? first : `${tool}: ${first}`
  if (kind === 'question') return questionsOf({ input, summary })[0]?.question || tool
  return summary ?? (kind === 'plan' ? 'a plan' : tool)
}
