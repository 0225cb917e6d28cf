import type {
  PermissionOption,
  RequestPermissionOutcome,
  ToolCallUpdate,
} from '@agentclientprotocol/sdk/unstable'
import type { UserDecision, Asked } from './port.ts'
import { textContent, unseenInput, viewTool } from './tools.ts'

/** What is put before the user in one go. */
export interface Request {
  toolCall: ToolCallUpdate
  options: PermissionOption[]
}

interface Question {
  question: string
  options: { label: string; description: string }[]
}

const TOOL_OPTIONS: PermissionOption[] = [
  { optionId: 'allow', kind: 'allow_once', name: 'Allow' },
  { optionId: 'session', kind: 'allow_always', name: 'Allow for this session' },
  { optionId: 'project', kind: 'allow_always', name: 'Allow for this project' },
  { optionId: 'reject', kind: 'reject_once', name: 'Reject' },
]

const PLAN_OPTIONS: PermissionOption[] = [
  { optionId: 'allow', kind: 'allow_once', name: 'Agree and go ahead' },
  { optionId: 'reject', kind: 'reject_once', name: 'Keep planning' },
]

const NO_ANSWER: PermissionOption = { optionId: 'reject', kind: 'reject_once', name: 'Do not answer' }

/** The tool call that a question is shown at; its own where the agent names none. */
export function callOf({ callId, id }: Pick<Asked, 'callId' | 'id'>): string {
  return callId ?? id
}

/** One after the other: one request for a tool or a plan, one for each question. None: it takes words to answer. */
export function requestsFor(asked: Asked, cwd: string): Request[] {
  const view = viewTool(asked.tool, asked.input, cwd)
  const call = { toolCallId: callOf(asked), status: 'pending' as const, kind: view.kind, name: view.name }
  if (asked.kind === 'question') {
    const questions = questionsIn(asked.input)
    if (questions.some(({ options }) => options.length === 0)) return []
    return questions.map((one) => ({
      toolCall: { ...call, title: one.question, content: [textContent(explained(one))] },
      options: [...one.options.map(({ label }, at) => choice(label, at)), NO_ANSWER],
    }))
  }
  if (asked.kind === 'plan') {
    const plan = (asked.input as { plan?: unknown } | null)?.plan
    const content = typeof plan === 'string' ? [textContent(plan)] : []
    return [{ toolCall: { ...call, title: 'Is this plan right?', content }, options: PLAN_OPTIONS }]
  }
  const { title, locations, rawInput } = view
  const content = [...view.content, ...unseenInput(view)]
  return [{ toolCall: { ...call, title, content, locations, rawInput }, options: TOOL_OPTIONS }]
}

/** What the user's choices come to; null: no decision. An option that was never offered decides nothing. */
export function answerOf(asked: Asked, outcomes: readonly RequestPermissionOutcome[]): UserDecision | null {
  const chosen = outcomes.map((outcome) => (outcome.outcome === 'selected' ? outcome.optionId : null))
  if (chosen.includes('reject')) return { behavior: 'deny', comment: '' }
  if (asked.kind === 'question') return answersOf(questionsIn(asked.input), chosen)
  switch (chosen[0]) {
    case 'allow':
      return { behavior: 'allow' }
    case 'session':
      return asked.kind === 'tool' ? { behavior: 'allow', forSession: true } : null
    case 'project':
      return asked.kind === 'tool' ? { behavior: 'allow', forSession: true, forDirectory: true } : null
    default:
      return null
  }
}

/** How to answer where this editor cannot: on the command line. */
export function elsewhere(asked: Asked): string {
  const id = asked.id.length > 12 ? asked.id.slice(-8) : asked.id
  if (asked.kind !== 'question') {
    return `${asked.summary ?? asked.tool} waits for an answer: \`corral approve ${id}\` or \`corral deny ${id}\``
  }
  const questions = questionsIn(asked.input).map(({ question }) => question)
  return `${questions.join('\n')}\n\nTo answer: \`corral approve ${id}${' --answer "…"'.repeat(questions.length)}\``
}

function answersOf(questions: readonly Question[], chosen: readonly (string | null)[]): UserDecision | null {
  const labels = questions.map(({ options }, at) => {
    return options.find((_, index) => choiceId(index) === chosen[at])?.label ?? null
  })
  if (labels.includes(null)) return null
  const pairs = questions.map(({ question }, at) => [question, labels[at]!] as const)
  return { behavior: 'allow', answers: Object.fromEntries(pairs) }
}

function choice(label: string, at: number): PermissionOption {
  return { optionId: choiceId(at), kind: 'allow_once', name: label }
}

function choiceId(at: number): string {
  return `answer-${at + 1}`
}

function explained({ question, options }: Question): string {
  const lines = options.map(({ label, description }) =>
    description ? `- **${label}**: ${description}` : `- ${label}`,
  )
  return [question, '', ...lines].join('\n')
}

/** Agents ask in one form; a question in another is shown as it is. */
function questionsIn(input: unknown): Question[] {
  const list: unknown = (input as { questions?: unknown } | null)?.questions
  const found = Array.isArray(list) ? list.flatMap(questionIn) : []
  return found.length > 0 ? found : [{ question: JSON.stringify(input) ?? '', options: [] }]
}

function questionIn(entry: unknown): Question[] {
  const { question, options } = (entry ?? {}) as { question?: unknown; options?: unknown }
  if (typeof question !== 'string') return []
  return [{ question, options: Array.isArray(options) ? options.flatMap(optionIn) : [] }]
}

function optionIn(entry: unknown): Question['options'] {
  const { label, description } = (entry ?? {}) as { label?: unknown; description?: unknown }
  if (typeof label !== 'string') return []
  return [{ label, description: typeof description === 'string' ? description : '' }]
}
