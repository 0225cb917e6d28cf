import type { Decision } from '../approval.ts'
import { type Content } from '../content.ts'
import type { Event, EventOf } from '../event.ts'
import { modelInUse } from '../model.ts'
import type { Session } from '../session.ts'
import type { Failure, Turn } from '../turn.ts'
import type { Usage } from '../usage.ts'

/** What later events are read together with. Small: it goes from page to page. */
export interface Memory {
  /** Tools that run, by the ids of their calls. */
  tools: Record<string, string>
  /** What a human was asked, by the ids of the approvals; what mode or rules have answered is not told. */
  asked: Record<string, string>
}

export const NO_MEMORY: Memory = { tools: {}, asked: {} }

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

/** A conversation for people, event by event. */
export function markdownOf(event: Event, memory: Memory, turnOf: TurnOf): { text: string; memory: Memory } {
  switch (event.type) {
    case 'turn.started':
      return { text: began(event, turnOf(event.turnId)), memory }
    case 'turn.steer_accepted':
      return { text: user('You, meanwhile', [event.at], event.input), memory }
    case 'session.changed':
      return { text: changed(event), memory }
    case 'message.completed':
      return { text: message(event), memory }
    case 'tool.started': {
      const { tool, input, parent, callId } = event
      const text = `**Tool:** ${code(tool)}${ofSubAgent(parent)}\n\n${inputBlock(input)}`
      return { text, memory: { ...memory, tools: { ...memory.tools, [callId]: tool } } }
    }
    case 'tool.completed': {
      const { [event.callId]: tool, ...tools } = memory.tools
      return { text: result(event, tool), memory: { ...memory, tools } }
    }
    case 'approval.requested': {
      if (!event.open) return { text: '', memory }
      const { id, tool, kind, input, summary, callId } = event.approval
      const what = kind === 'tool' ? `May ${code(tool)} run?` : kind === 'plan' ? 'A plan:' : 'A question:'
      const shown = callId !== null && Object.hasOwn(memory.tools, callId)
      const text = `**${what}**${summary ? ` ${flat(summary)}` : ''}${shown ? '' : `\n\n${inputBlock(input)}`}`
      return { text, memory: { ...memory, asked: { ...memory.asked, [id]: tool } } }
    }
    case 'approval.resolved': {
      const { [event.approvalId]: tool, ...asked } = memory.asked
      const text = tool === undefined ? '' : `**${decided(event.decision)}** (${flat(event.by)})`
      return { text, memory: { ...memory, asked } }
    }
    case 'turn.completed':
      return { text: `*Completed: ${used(event.usage)}*`, memory: NO_MEMORY }
    case 'turn.interrupted':
      return { text: `*Interrupted: ${used(event.usage)}*`, memory: NO_MEMORY }
    case 'turn.failed':
      return { text: `*Failed: ${failed(event.error)}; ${used(event.usage)}*`, memory: NO_MEMORY }
    case 'agent.notice':
      return { text: event.level === 'warning' ? `*Note: ${flat(event.message)}*` : '', memory }
    default:
      return { text: '', memory }
  }
}

/** With the mode that it began in, since a change of it is told in its place, and the model that it ran with. */
function began({ at, mode, model }: Event & { type: 'turn.started' }, turn: Turn | null): string {
  const known = [mode ?? turn?.mode, turn?.model ?? model]
  return user('You', [at, ...known.filter((it) => it !== undefined && it !== null)], turn?.input ?? [])
}

function changed({ mode, model }: EventOf<'session.changed'>): string {
  const now = [mode, model === null ? 'the agent’s own model' : model].filter((it) => it !== undefined)
  return now.length === 0 ? '' : `*From now on: ${now.map(flat).join(', ')}*`
}

function user(who: string, [at, ...about]: [number, ...string[]], input: Content[]): string {
  const parts = input.map((part) => (part.type === 'text' ? part.text : `*(an image, ${part.mediaType})*`))
  const said = parts.length > 0 ? parts.join('\n\n') : '*(not kept any more)*'
  const facts = [new Date(at).toISOString(), ...about.map(escaped)].join(' · ')
  return `## ${who}\n\n<sub>${facts}</sub>\n\n${said}`
}

function message({ kind, text, aborted, parent }: EventOf<'message.completed'>): string {
  const whole = aborted ? `${text}\n\n*(cut off)*` : text
  if (kind === 'thinking') return folded(`Thinking${ofSubAgent(parent)}`, whole)
  return `## Agent${ofSubAgent(parent)}\n\n${whole}`
}

function result(event: EventOf<'tool.completed'>, tool: string | undefined): string {
  const what = event.isError ? 'Error' : 'Result'
  const cut = event.cut > 0 ? `\n\n*(${event.cut} more bytes were not kept)*` : ''
  const body = event.output === '' ? '*(nothing)*' : fenced(event.output, '')
  return folded(`${what}${tool === undefined ? '' : ` of ${tool}`}`, `${body}${cut}`)
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
