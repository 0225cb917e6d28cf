import type { Decision } from '../../core/approval.ts'
import { editsFiles, kindOfTool } from '../../core/known-tools.ts'
import type { HumanRequest } from './asking.ts'

/** What a tool says back. */
export interface Reply {
  text: string
  isError: boolean
}

type Input = Record<string, unknown>

export interface PermissionArguments {
  tool_name: string
  input: Input
  tool_use_id?: string | undefined
}

export function permissionRequest({
  tool_name: tool,
  input,
  tool_use_id,
}: PermissionArguments): HumanRequest {
  return {
    kind: kindOfTool(tool),
    tool,
    input,
    edits: editsFiles(tool),
    callId: tool_use_id || null,
  }
}

/** The decision as Claude reads it from a permission prompt tool. */
export function permissionReply(input: Input, decision: Decision): Reply {
  return { text: JSON.stringify(permissionOf(input, decision)), isError: false }
}

function permissionOf(input: Input, decision: Decision): object {
  switch (decision.behavior) {
    case 'allow': {
      const updated = decision.input ?? input
      const { answers } = decision
      return { behavior: 'allow', updatedInput: answers ? { ...(updated as Input), answers } : updated }
    }
    case 'deny':
      return { behavior: 'deny', message: decision.comment || 'Request denied by human reviewer' }
    case 'respond':
      return inWords(input, decision.text)
    case 'cancelled':
      return { behavior: 'deny', message: `Nobody decides about this any more: ${decision.reason}` }
  }
}

/** Words answer a single question; to anything else they are a no with its reason. */
function inWords(input: Input, text: string): object {
  const list: unknown = input['questions']
  const [only, ...others]: unknown[] = Array.isArray(list) ? list : []
  const question = (only as { question?: unknown } | undefined)?.question
  if (typeof question !== 'string' || others.length > 0) return { behavior: 'deny', message: text }
  return { behavior: 'allow', updatedInput: { ...input, answers: { [question]: text } } }
}

export interface ContactArguments {
  message: string
  subject?: string | undefined
  options?: string[] | undefined
}

/** In the form in which agents ask questions, so that whatever shows those shows this. */
export function contactRequest({ message, subject = '', options = [] }: ContactArguments): HumanRequest {
  const question = { question: message, header: subject, options: options.map((label) => ({ label })) }
  return { kind: 'question', tool: 'contact_human', input: { questions: [question] } }
}

export function contactReply(decision: Decision): Reply {
  switch (decision.behavior) {
    case 'respond':
      return { text: decision.text, isError: false }
    case 'allow':
      return { text: wordsOf(decision), isError: false }
    case 'deny':
      return {
        text: decision.comment ? `The human declined: ${decision.comment}` : 'The human declined',
        isError: true,
      }
    case 'cancelled':
      return { text: `Nobody will answer this any more: ${decision.reason}`, isError: true }
  }
}

/** Some clients put the answers beside the input, some into it. */
function wordsOf({ answers, input }: Extract<Decision, { behavior: 'allow' }>): string {
  const within = (input as { answers?: unknown } | null | undefined)?.answers
  const given = Object.values(answers ?? within ?? {}).filter((answer) => typeof answer === 'string')
  return given.join('\n') || 'The human agreed, without further words.'
}
