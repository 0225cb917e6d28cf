import { fileChanges } from '../../core/diff/edit.ts'
import type { CallState } from '../../core/conversation/item.ts'
import { aboutCall } from '../../core/glance.ts'
import { clean, describeInput, oneLine } from '../format.ts'
import { diffLines } from './files.ts'
import { fittedLine, span, wrapped, type Line, type Look, type Sheet } from './spans.ts'
import type { CallItem } from './transcript.ts'

const SIGNS: Readonly<Record<CallState, readonly [sign: string, look: Look]>> = {
  asked: ['?', 'magenta'],
  running: ['•', 'yellow'],
  refused: ['⊘', 'red'],
  done: ['✓', 'green'],
  failed: ['✗', 'red'],
}

const MAX_INPUT = 100
const MAX_OUTPUT = 200

/** `Shell: npm test`. */
export function callTitle(tool: string, input: unknown, cwd: string): string {
  const asked = questionIn(input)
  return clean(asked === null ? aboutCall(tool, input, cwd) : `${tool}: ${asked}`).replace(/\s+/g, ' ')
}

function questionIn(input: unknown): string | null {
  const { questions } = (typeof input === 'object' && input !== null ? input : {}) as { questions?: unknown }
  const first = Array.isArray(questions) ? (questions[0] as { question?: unknown } | null) : null
  return typeof first?.question === 'string' ? first.question : null
}

/** A call in one line; when it is opened, with its input, its diff and its output below. */
export function callLines(call: CallItem, sheet: Sheet, cwd: string, isOpen: boolean): Line[] {
  const [sign, look] = SIGNS[call.state]
  const [tool = '', ...rest] = callTitle(call.tool, call.input, cwd).split(': ')
  const indent = call.nested ? '    ' : '  '
  const title = [
    span(`${indent}${sign} `, look),
    span(tool, 'bold'),
    span(rest.length > 0 ? ` ${rest.join(': ')}` : ''),
  ]
  const head = fittedLine([...title, ...endOf(call)], sheet.width)
  return isOpen ? [head, ...detail(call, sheet, cwd, `${indent}  `)] : [head]
}

/** What came of it, in few words. */
function endOf({ state, output }: CallItem): Line {
  if (state === 'refused') return [span(' · refused', 'dim')]
  if (output === null || output.trim() === '') return []
  const lines = output.trimEnd().split('\n')
  if (state === 'failed') return [span(` · ${oneLine(lines[0] ?? '', 200)}`, 'red')]
  return [span(` · ${lines.length === 1 ? oneLine(lines[0]!, 200) : `${lines.length} lines`}`, 'dim')]
}

function detail(
  { tool, input, output, cut, state }: CallItem,
  sheet: Sheet,
  cwd: string,
  indent: string,
): Line[] {
  const first = [span(indent)]
  const inner = { ...sheet, width: Math.max(8, sheet.width - indent.length) }
  const files = fileChanges({ kind: 'tool', tool, input }, cwd)
  const inside = files
    ? diffLines(files, inner, MAX_OUTPUT).map((line) => [...first, ...line])
    : limited(
        wrapped([span(describeInput(input, 10_000), 'dim')], { ...sheet, first, hard: true }),
        MAX_INPUT,
        indent,
      )
  if (output === null || output === '') return inside
  const look: Look = state === 'failed' ? 'red' : 'reset'
  const text = clean(output).trimEnd()
  const told = wrapped([look === 'reset' ? span(text) : span(text, look)], {
    ...sheet,
    first: [span(`${indent}│ `, 'dim')],
    hard: true,
  })
  const missing = cut > 0 ? [[span(`${indent}… ${cut} more bytes were not kept`, 'dim')]] : []
  return [...inside, ...limited(told, MAX_OUTPUT, indent), ...missing]
}

function limited(lines: Line[], most: number, indent: string): Line[] {
  if (lines.length <= most) return lines
  return [...lines.slice(0, most), [span(`${indent}… ${lines.length - most} more lines`, 'dim')]]
}
