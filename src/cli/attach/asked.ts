import type { Approval } from '../../core/approval.ts'
import { fileChanges } from '../../core/diff/edit.ts'
import { blocksOf } from '../../core/markdown/blocks.ts'
import { clean, describeInput, oneLine } from '../format.ts'
import { questionsOf } from '../render.ts'
import { diffLines } from './files.ts'
import { blockLines, stacked } from './markdown.ts'
import { span, wrapped, type Line, type Sheet } from './spans.ts'

const MAX_DIFF = 400
const MAX_INPUT = 20_000

/** What an approval is about, whole: the diff of an edit, the command with everything that hides in it, the plan, the questions. */
export function askedLines(approval: Approval, sheet: Sheet, cwd: string): Line[] {
  const what = {
    tool: `may the agent use ${oneLine(approval.tool, 80)}?`,
    question: 'the agent asks:',
    plan: 'do you agree to this plan?',
  }[approval.kind]
  const head = wrapped([span(`? ${what}`, 'bold', 'magenta')], sheet)
  const inner = { ...sheet, width: Math.max(8, sheet.width - 2) }
  return [
    ...head,
    ...body(approval, inner, cwd).map((line) => (line.length === 0 ? [] : [span('  '), ...line])),
  ]
}

function body(approval: Approval, sheet: Sheet, cwd: string): Line[] {
  const { kind, input } = approval
  if (kind === 'question') return questionsOf(input).flatMap((one) => questionLines(one, sheet))
  const plan = kind === 'plan' ? planIn(input) : null
  if (plan !== null) return stacked(blocksOf(clean(plan)).map(({ token }) => blockLines(token, sheet)))
  const files = fileChanges(approval, cwd)
  return files ? diffLines(files, sheet, MAX_DIFF) : wrapped([span(describeInput(input, MAX_INPUT))], sheet)
}

function planIn(input: unknown): string | null {
  const { plan } = (typeof input === 'object' && input !== null ? input : {}) as { plan?: unknown }
  return typeof plan === 'string' ? plan : null
}

function questionLines(
  { question, options, many }: ReturnType<typeof questionsOf>[number],
  sheet: Sheet,
): Line[] {
  const choices = options.map(({ label, description = '' }, at) => {
    const told = description === '' ? [] : [span(`: ${clean(description)}`, 'dim')]
    return wrapped([span(clean(label)), ...told], {
      ...sheet,
      first: [span(`${at + 1}) `, 'cyan')],
      rest: [span('   ')],
    })
  })
  const several = many === true ? [[span('several may be chosen: 1,3', 'dim')]] : []
  return [...wrapped([span(clean(question))], sheet), ...choices.flat(), ...several]
}
