import { NEW, WHOLE } from '../../src/core/diff/fields.ts'
import type { Api } from '../client/client.ts'
import type { ApprovalView } from '../../src/dialects/native/wire.ts'

export type ApprovalContext = Api['approval.context']['result']
export type DecideParams = Api['approval.decide']['params']

/** One of the questions that an agent asks its user. */
export interface Question {
  question: string
  header: string | null
  options: readonly { label: string; description: string | null }[]
  /** Several options may be chosen. */
  multiple: boolean
}

const MAX_QUESTIONS = 20
const MAX_OPTIONS = 20

/** The questions in an agent's request; one without a known shape is one question, in the words of its summary. */
export function questionsOf({ input, summary }: Pick<ApprovalView, 'input' | 'summary'>): Question[] {
  const list = fieldsOf(input)['questions']
  const known = (Array.isArray(list) ? list : []).slice(0, MAX_QUESTIONS).flatMap(questionOf)
  if (known.length > 0) return known
  return [{ question: summary ?? '', header: null, options: [], multiple: false }]
}

function questionOf(value: unknown): Question[] {
  const { question, header, options, multiSelect } = fieldsOf(value)
  if (typeof question !== 'string') return []
  const choices = (Array.isArray(options) ? options : []).slice(0, MAX_OPTIONS).flatMap((one: unknown) => {
    const { label, description } = typeof one === 'string' ? { label: one } : fieldsOf(one)
    return typeof label === 'string'
      ? [{ label, description: typeof description === 'string' ? description : null }]
      : []
  })
  const title = typeof header === 'string' ? header : null
  return [{ question, header: title, options: choices, multiple: multiSelect === true }]
}

/** The answers in the shape that agents take them in. */
export function answersFor(questions: readonly Question[], chosen: readonly (readonly string[])[]) {
  return Object.fromEntries(questions.map(({ question }, at) => [question, (chosen[at] ?? []).join(', ')]))
}

/** Something that a person can answer with one click, or with the key of its number. */
export interface Answer {
  id: 'once' | 'session' | 'directory' | 'refuse'
  label: string
  /** What follows from it. */
  effect: string
  rules: readonly string[]
  params: DecideParams
}

const BY = 'dashboard'

/** The answers to an approval, in the order of their keys. A question to the person has none: it wants words. */
export function answersOf(
  approval: Pick<ApprovalView, 'id' | 'kind'>,
  context: ApprovalContext | null,
  mayRule: boolean,
): Answer[] {
  const { id: approvalId, kind } = approval
  if (kind === 'question') return []
  const allow = { approvalId, behavior: 'allow', by: BY } as const
  const refuse: Answer = {
    id: 'refuse',
    label: kind === 'plan' ? 'Keep planning' : 'Refuse',
    effect: 'The agent is told no, and goes on.',
    rules: [],
    params: { approvalId, behavior: 'deny', by: BY },
  }
  if (kind === 'plan') {
    const effect = 'The agent leaves plan mode and begins.'
    return [{ id: 'once', label: 'Agree to the plan', effect, rules: [], params: allow }, refuse]
  }
  const once: Answer = {
    id: 'once',
    label: 'Allow once',
    effect: 'Only this call.',
    rules: [],
    params: allow,
  }
  return [once, ...lasting(allow, context, mayRule), refuse]
}

const LASTING = { session: 'Allow for this session', directory: 'Allow for this project' } as const

/** The answers that may come once the context is known. They have their places before: nobody hits one who aims at another. */
export function awaitedAnswers(
  { kind, external }: Pick<ApprovalView, 'kind' | 'external'>,
  mayRule: boolean,
): { id: keyof typeof LASTING; label: string }[] {
  if (kind !== 'tool' || external) return []
  const ids = mayRule ? (['session', 'directory'] as const) : (['session'] as const)
  return ids.map((id) => ({ id, label: LASTING[id] }))
}

function lasting(
  allow: DecideParams & { behavior: 'allow' },
  context: ApprovalContext | null,
  mayRule: boolean,
): Answer[] {
  if (!context) return []
  const { session, directory, path } = context.effects
  const forSession: Answer = {
    id: 'session',
    label: LASTING.session,
    effect: 'From now on, this passes in this session:',
    rules: session,
    params: { ...allow, forSession: true },
  }
  const forDirectory: Answer = {
    id: 'directory',
    label: LASTING.directory,
    effect: `From now on, this passes in every session in ${path} and below:`,
    rules: directory,
    params: { ...allow, forDirectory: true },
  }
  return [
    ...(session.length > 0 ? [forSession] : []),
    ...(mayRule && directory.length > 0 ? [forDirectory] : []),
  ]
}

export function refusal(approvalId: string, comment: string): DecideParams {
  return { approvalId, behavior: 'deny', by: BY, ...(comment !== '' && { comment }) }
}

export function reply(approvalId: string, text: string): DecideParams {
  return { approvalId, behavior: 'respond', text, by: BY }
}

export function replies(approvalId: string, answers: Record<string, string>): DecideParams {
  return { approvalId, behavior: 'allow', answers, by: BY }
}

export function allowWith(approvalId: string, input: unknown): DecideParams {
  return { approvalId, behavior: 'allow', input, by: BY }
}

/** What a person can change before allowing it: the command, the text that is written, or else the whole input as JSON. */
export interface Editable {
  label: string
  text: string
  /** Throws what is wrong with it, for the person. */
  read(text: string): unknown
}

export function editableOf({
  kind,
  input,
  about,
  external,
}: Pick<ApprovalView, 'kind' | 'input' | 'about' | 'external'>): Editable | null {
  if (kind !== 'tool' || external || typeof input !== 'object' || input === null) return null
  const fields = fieldsOf(input)
  const names = about.class === 'edit' ? [...NEW, ...WHOLE] : ['command']
  const known = names.filter((name) => typeof fields[name] === 'string')
  // Several of them are not one text.
  if (known.length === 1) {
    const [name] = known as [string]
    const label = about.class === 'edit' ? 'Write this instead' : 'Run this instead'
    return { label, text: String(fields[name]), read: (text) => ({ ...input, [name]: text }) }
  }
  const text = JSON.stringify(input, null, 2)
  return { label: 'Use this input instead', text, read: (changed) => JSON.parse(changed) as unknown }
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
