import { aboutOf } from '../../core/about.ts'
import type { Approval } from '../../core/approval.ts'
import type { WireEvent } from './wire.ts'

const MAX_SUBJECT = 300

/**
 * An approval that waits, in words. Of all events the original's chats show only an `error` while a turn goes on, whatever
 * their view is: texts are kept back until its end, and what is in a `system` event nobody sees.
 */
export function waitingEvent(approval: Approval): WireEvent {
  return { type: 'error', code: 'approval_waiting', message: waitingText(approval) }
}

function waitingText(approval: Approval): string {
  const { id, kind } = approval
  const no = `no with \`corral deny ${id}\``
  const elsewhere = 'or answer in any other client of this daemon'
  const giveUp = 'To give up, interrupt the turn.'
  if (kind === 'question') {
    const answer = `Answer with \`corral approve ${id} --answer …\`, say ${no}, ${elsewhere}.`
    return `Not an error: the agent asks a question and waits: ${asked(approval)}\n${answer} ${giveUp}`
  }
  const what = kind === 'plan' ? 'agree to its plan' : `allow ${approval.tool}: ${subjectOf(approval)}`
  const answer = `Say yes with \`corral approve ${id}\`, ${no}, ${elsewhere}.`
  return `Not an error: the agent waits for you to ${what}\n${answer} Mode auto lets it and all that follows pass. ${giveUp}`
}

function asked({ input, summary }: Approval): string {
  const questions = fieldOf(input, 'questions')
  const texts = Array.isArray(questions) ? questions.map((one) => fieldOf(one, 'question')) : []
  return oneLine(texts.filter((text) => typeof text === 'string').join(' ') || (summary ?? json(input)))
}

/** What the tool will really do, not what the agent calls it; all of it: people say yes to every file of an edit. */
function subjectOf(approval: Approval): string {
  const { class: known, subjects, partly } = aboutOf(approval)
  const isTold = subjects.length > 0 && !partly && known !== 'mcp' && known !== 'other'
  return oneLine(isTold ? [...new Set(subjects)].join(', ') : json(approval.input))
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}

function json(value: unknown): string {
  return JSON.stringify(value) ?? ''
}

function oneLine(text: string): string {
  const line = text
    .slice(0, 4 * MAX_SUBJECT)
    .replaceAll(/\s+/g, ' ')
    .trim()
  const points = Array.from(line)
  return points.length > MAX_SUBJECT ? `${points.slice(0, MAX_SUBJECT).join('')}…` : line
}
