import type { Decision } from '../approval.ts'
import { type Content } from '../content.ts'
import type { Call, Change, Message, ApprovalItem, TurnEnd } from '../conversation/item.ts'
import type { Event, EventOf, PlanEntry } from '../event.ts'
import { modelInUse } from '../model.ts'
import type { Session } from '../session.ts'
import type { Failure, Turn } from '../turn.ts'
import type { Usage } from '../usage.ts'

/** A turn, if it is kept any more. */
export type TurnOf = (turnId: string) => Turn | null

export function markdownHead(session: Session): string {
  const { title, agent, cwd, createdAt, turnCount, usage } = session
  const model = modelInUse(session)
  const facts = [
    ['Session', code(session.id)],
    ['Agent', model === null ? agent : `${agent} (${model})`],
    ['Directory', code(cwd)],
    ['Begun', new Date(createdAt).toISOString()],
    ['Turns', String(turnCount)],
    ['Used', used(usage)],
  ]
  return `# ${flat(title ?? 'Session')}\n\n${facts.map(([name, fact]) => `- ${name}: ${fact}\n`).join('')}`
}

/** A change of the conversation, for people; nothing where they need not hear of it. */
export function changeText(change: Change, event: Event, turnOf: TurnOf): string {
  switch (change.type) {
    case 'said':
      return said(change, event.at, turnOf)
    case 'closed':
      return message(change.message)
    case 'call':
      if (event.type === 'tool.started') return call(change.call)
      return event.type === 'tool.completed' ? result(change.call, event.isError) : ''
    case 'asked':
      return change.question.asked ? asked(change.question, change.call) : ''
    case 'decided': {
      const { asked: wasAsked, decision, by } = change.verdict
      return wasAsked ? `**${decided(decision)}** (${flat(by)})` : ''
    }
    case 'plan':
      return plan(change.entries)
    case 'compacted':
      return change.error === null ? '*The agent has summed up the conversation*' : ''
    case 'notice':
      return change.level === 'warning' ? `*Note: ${flat(change.message)}*` : ''
    case 'ended':
      return ended(change.end)
    default:
      return ''
  }
}

/** What happened beside the conversation. */
export function remarkText(event: Event): string {
  return event.type === 'session.changed' ? changed(event) : ''
}

/** With the mode that its turn began in, since a change of it is told in its place, and the model that it ran with. */
function said({ message, turn }: Change & { type: 'said' }, at: number, turnOf: TurnOf): string {
  if (message.steer) return user('You, meanwhile', [at], message.content)
  const row = turnOf(turn.id)
  const known = [turn.mode ?? row?.mode, row?.model ?? turn.model]
  return user('You', [at, ...known.filter((it) => it !== undefined && it !== null)], message.content)
}

function changed({ mode, model }: EventOf<'session.changed'>): string {
  const now = [mode, model === null ? 'the agent’s own model' : model].filter((it) => it !== undefined)
  return now.length === 0 ? '' : `*From now on: ${now.map(flat).join(', ')}*`
}

function user(who: string, [at, ...about]: [number, ...string[]], input: readonly Content[]): string {
  const parts = input.map((part) => (part.type === 'text' ? part.text : `*(an image, ${part.mediaType})*`))
  const said = parts.length > 0 ? parts.join('\n\n') : '*(not kept any more)*'
  const facts = [new Date(at).toISOString(), ...about.map(escaped)].join(' · ')
  return `## ${who}\n\n<sub>${facts}</sub>\n\n${said}`
}

function message({ kind, text, aborted, parent }: Message): string {
  const whole = aborted ? `${text}\n\n*(cut off)*` : text
  if (kind === 'thinking') return folded(`Thinking${ofSubAgent(parent)}`, whole)
  return `## Agent${ofSubAgent(parent)}\n\n${whole}`
}

function call({ tool, input, parent }: Call): string {
  return `**Tool:** ${code(tool)}${ofSubAgent(parent)}\n\n${inputBlock(input)}`
}

function result({ tool, output, cut }: Call, isError: boolean): string {
  const what = isError ? 'Error' : 'Result'
  const missing = cut > 0 ? `\n\n*(${cut} more bytes were not kept)*` : ''
  const body = output ? fenced(output, '') : '*(nothing)*'
  return folded(`${what}${tool === '' ? '' : ` of ${tool}`}`, `${body}${missing}`)
}

/** What it is about stands above already where the agent has begun the call. */
function asked({ approval }: ApprovalItem, about: Call | null): string {
  const { tool, kind, input, summary } = approval
  const what = kind === 'tool' ? `May ${code(tool)} run?` : kind === 'plan' ? 'A plan:' : 'A question:'
  return `**${what}**${summary ? ` ${flat(summary)}` : ''}${about?.begun ? '' : `\n\n${inputBlock(input)}`}`
}

function plan(entries: readonly PlanEntry[]): string {
  const lines = entries.map(({ text, state }) => {
    return `- [${state === 'done' ? 'x' : ' '}] ${flat(text)}${state === 'active' ? ' *(now)*' : ''}`
  })
  return ['**Plan:**', '', ...lines].join('\n')
}

function ended({ outcome, usage, error }: TurnEnd): string {
  if (outcome === 'failed') return `*Failed: ${failed(error!)}; ${used(usage)}*`
  return `*${outcome === 'completed' ? 'Completed' : 'Interrupted'}: ${used(usage)}*`
}

function decided(decision: Decision): string {
  switch (decision.behavior) {
    case 'allow': {
      const said = [
        ...(decision.input === undefined ? [] : ['with another input']),
        ...(decision.comment ? [flat(decision.comment)] : []),
        ...Object.entries(decision.answers ?? {}).map(([asked, said]) => `${flat(asked)} ${flat(said)}`),
      ]
      return said.length > 0 ? `Allowed: ${said.join('; ')}` : 'Allowed'
    }
    case 'deny':
      return decision.comment ? `Refused: ${flat(decision.comment)}` : 'Refused'
    case 'respond':
      return `Answered: ${flat(decision.text)}`
    case 'cancelled':
      return `Taken back: ${flat(decision.reason)}`
  }
}

/** A command is shown as it would be typed, everything else as JSON. */
function inputBlock(input: unknown): string {
  if (typeof input === 'object' && input !== null && 'command' in input && Object.keys(input).length === 1) {
    if (typeof input.command === 'string') return fenced(input.command, 'sh')
  }
  return typeof input === 'string' ? fenced(input, '') : fenced(JSON.stringify(input, null, 2) ?? '', 'json')
}

function used({ outputTokens, costUsd, durationMs, ...usage }: Usage): string {
  const tokens = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens
  return [
    `${tokens.toLocaleString('en')} tokens in, ${outputTokens.toLocaleString('en')} out`,
    ...(costUsd === null ? [] : [`$${costUsd.toFixed(4)}`]),
    `${(durationMs / 1000).toFixed(1)} s`,
  ].join(', ')
}

function failed({ code: name, message: why }: Failure): string {
  return `${flat(why)} (${name})`
}

function ofSubAgent(parent: string | null): string {
  return parent === null ? '' : ' (sub-agent)'
}

function folded(summary: string, body: string): string {
  return `<details>\n<summary>${escaped(summary)}</summary>\n\n${body}\n\n</details>`
}

function escaped(text: string): string {
  return flat(text).replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`)
}

/** With a fence that is longer than any in the text. */
function fenced(text: string, language: string): string {
  const longest = (text.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2)
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text}${text.endsWith('\n') ? '' : '\n'}${fence}`
}

function code(text: string): string {
  return text.includes('`') ? `\`\` ${flat(text)} \`\`` : `\`${flat(text)}\``
}

function flat(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
