import type { Approval } from '../../core/approval.ts'
import type { Api } from '../../client/client.ts'
import { questionsOf, type Question as Asked } from '../render.ts'
import { draftOf, EMPTY, type Draft } from './editor.ts'

/** An approval that waits for somebody, and what is known about it. */
export interface Question {
  readonly approval: Approval
  /** The rules that a lasting yes would make. */
  readonly rules: readonly string[]
}

/** How far somebody is with the answer to the first question. */
export interface Answer {
  readonly approvalId: string
  /** Keys go to the answer. Otherwise they go to the input. */
  readonly focus: boolean
  /** `keys`: y, n and the like. `words`: why not. `edit`: the input that it may run with. `text`: the answer to a question. */
  readonly way: 'keys' | 'words' | 'edit' | 'text'
  readonly draft: Draft
  /** To questions that were answered already. */
  readonly answers: readonly string[]
  /** It is on its way. */
  readonly sent: boolean
}

type Decision = Api['approval.decide']['params']

export function answerTo({ approval }: Question, focus: boolean): Answer {
  const way = approval.kind === 'question' ? 'text' : 'keys'
  return { approvalId: approval.id, focus, way, draft: EMPTY, answers: [], sent: false }
}

export interface Key {
  readonly key: string
  readonly what: string
}

/** The keys that answer it. */
export function answerKeys({ approval }: Question, canEdit: boolean): Key[] {
  const isTool = approval.kind === 'tool'
  return [
    { key: 'y', what: isTool ? 'once' : 'yes' },
    ...(isTool ? [{ key: 'a', what: 'in this session' }] : []),
    ...(isTool ? [{ key: 'p', what: 'in this project' }] : []),
    { key: 'n', what: 'no' },
    { key: 'w', what: 'no, and say why' },
    ...(isTool && canEdit && approval.fixed !== true ? [{ key: 'e', what: 'edit it' }] : []),
  ]
}

/** What a key decides; null: it decides nothing by itself. */
export function decisionBy(key: string, approvalId: string): Decision | null {
  const allow = { approvalId, behavior: 'allow', by: 'cli' } as const
  switch (key) {
    case 'y':
      return allow
    case 'a':
      return { ...allow, forSession: true }
    case 'p':
      return { ...allow, forSession: true, forDirectory: true }
    case 'n':
      return { approvalId, behavior: 'deny', comment: '', by: 'cli' }
    default:
      return null
  }
}

/** What can be edited of an input: its command, or all of it. */
export function editable(input: unknown): Draft {
  const command = commandOf(input)
  return draftOf(command ?? JSON.stringify(input, null, 2) ?? '')
}

function commandOf(input: unknown): string | null {
  const { command } = (typeof input === 'object' && input !== null ? input : {}) as { command?: unknown }
  return typeof command === 'string' ? command : null
}

/** The input as it was edited; null: it is no JSON. */
export function editedInput(input: unknown, text: string): { input: unknown } | null {
  if (commandOf(input) !== null) return { input: { ...(input as object), command: text } }
  try {
    return { input: JSON.parse(text) as unknown }
  } catch {
    return null
  }
}

/** What is asked next. */
export function currentQuestion(
  { approval }: Question,
  { answers }: Answer,
): Asked & { of: number; at: number } {
  const all = questionsOf(approval.input)
  const at = Math.min(answers.length, all.length - 1)
  return { ...all[at]!, at, of: all.length }
}

/** Numbers stand for options; several, with commas between them, where more than one may be chosen. */
export function answerText({ options, many = false }: Asked, typed: string): string {
  const numbers = typed.split(',').map((part) => part.trim())
  if (!numbers.every((one) => /^\d+$/.test(one)) || (numbers.length > 1 && !many)) return typed
  const chosen = numbers.map((one) => options[Number(one) - 1]?.label)
  return chosen.every((label) => label !== undefined) ? chosen.join(', ') : typed
}

/** The decision that all answers together are. */
export function answeredDecision({ approval }: Question, answers: readonly string[]): Decision {
  const pairs = questionsOf(approval.input).map(({ question }, at) => [question, answers[at] ?? ''])
  const named = Object.fromEntries(pairs) as Record<string, string>
  return { approvalId: approval.id, behavior: 'allow', answers: named, by: 'cli' }
}
