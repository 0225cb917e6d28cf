import type { ApprovalKind } from './approval.ts'

/** Claude's tools that are more than tools, whoever asks in their name: mode and rules do not answer in a human's place. */
const KINDS: ReadonlyMap<unknown, ApprovalKind> = new Map([
  ['AskUserQuestion', 'question'],
  ['ExitPlanMode', 'plan'],
])

/** Claude's tools that change files and do nothing else. */
const EDITS: ReadonlySet<unknown> = new Set(['Edit', 'MultiEdit', 'Write', 'NotebookEdit'])

export function kindOfTool(tool: unknown): ApprovalKind {
  return KINDS.get(tool) ?? 'tool'
}

export function editsFiles(tool: unknown): boolean {
  return EDITS.has(tool)
}
