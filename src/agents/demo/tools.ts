import type { Mode } from '../../core/mode.ts'
import type { Usage } from '../../core/usage.ts'
import type { DemoDecision } from './protocol.ts'
import type { Call } from './script.ts'

/** A tool call as the demo agent names it. None of these tools does anything, but on the tour (`tour.ts`). */
export interface ToolCall {
  tool: string
  input: unknown
}

export interface ToolResult {
  output: string
  isError: boolean
  /** What a sub-agent has used for it. */
  usage?: Usage
}

export function toolCallOf(call: Call): ToolCall {
  switch (call.tool) {
    case 'shell':
      return { tool: 'Shell', input: { command: call.command } }
    case 'write':
      return { tool: 'Write', input: { path: call.path, content: call.text } }
    case 'edit':
      return { tool: 'Edit', input: { path: call.path, before: call.before, after: call.after } }
    case 'ask':
      return { tool: 'Ask', input: { questions: [questionOf(call.question)] } }
    case 'named':
      return { tool: call.name, input: call.input }
  }
}

export function needsApproval(mode: Mode, tool: string): boolean {
  return !(mode === 'code' && (tool === 'Write' || tool === 'Edit'))
}

export function summaryOf({ tool, input }: ToolCall): string {
  const subject = field(input, 'command') ?? field(input, 'path')
  if (tool === 'Ask') return questionsIn(input).join(' ') || 'A question'
  return subject === null ? tool : `${tool}: ${subject.slice(0, 200)}`
}

/** The script that a call hands to a sub-agent; null when it is no such call. */
export function taskOf({ tool, input }: ToolCall): string | null {
  return tool === 'Task' ? field(input, 'prompt') : null
}

/** What a call comes to once it may run; `decision` is null when nobody was asked. */
export function pretend(call: ToolCall, decision: DemoDecision | null): ToolResult {
  if (decision?.behavior === 'deny') return { output: decision.comment || 'denied', isError: true }
  const input = decision?.input ?? call.input
  switch (call.tool) {
    case 'Shell':
      return done(`(pretend) ran: ${field(input, 'command') ?? ''}`)
    case 'Write':
      return done(
        `(pretend) wrote ${(field(input, 'content') ?? '').length} characters to ${field(input, 'path')}`,
      )
    case 'Edit':
      return done(`(pretend) edited ${field(input, 'path')}`)
    case 'Ask':
      return done(answerOf(decision, input))
    case 'Fail':
      return { output: '(pretend) failed', isError: true }
    default:
      return done(`(pretend) called ${call.tool}`)
  }
}

function done(output: string): ToolResult {
  return { output, isError: false }
}

function questionOf(question: string) {
  const options = [
    { label: 'Yes', description: 'Agree' },
    { label: 'No', description: 'Disagree' },
  ]
  return { question, header: 'Question', options, multiSelect: false }
}

function questionsIn(input: unknown): string[] {
  const list = (input as { questions?: unknown } | null)?.questions
  if (!Array.isArray(list)) return []
  return list.map((one: unknown) => field(one, 'question')).filter((question) => question !== null)
}

/** Some clients put the answers into the input they allow. */
function answerOf(decision: DemoDecision | null, input: unknown): string {
  const answers = decision?.answers ?? (input as { answers?: Record<string, string> } | null)?.answers ?? {}
  return Object.values(answers).join(', ') || decision?.comment || '(no answer)'
}

function field(input: unknown, name: string): string | null {
  const value = (input as Record<string, unknown> | null | undefined)?.[name]
  return typeof value === 'string' ? value : null
}
