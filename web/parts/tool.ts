import type { CallState } from '../../src/core/conversation/item.ts'
import { aboutTool, type About, type ToolClass } from '../../src/core/about.ts'
import { within } from '../../src/core/path.ts'
import { startsAgent, titleOfCall } from '../../src/core/subagent.ts'
import type { IconName } from '../icons.ts'
import { inertLine } from './inert.ts'

/** A call in a few words: "Editing src/a.ts". */
export interface ToolWords {
  icon: IconName
  /** While a human is asked about it. */
  wanted: string
  /** While it runs. */
  doing: string
  done: string
  /** What it is about; empty where the verb says it all. */
  subject: string
  /** The subject is a command, a path or an address, and not words. */
  isCode: boolean
}

type Verbs = Omit<ToolWords, 'subject' | 'isCode'>

const VERBS: Readonly<Record<ToolClass, Verbs>> = {
  shell: { icon: 'square-terminal', wanted: 'Wants to run', doing: 'Running', done: 'Ran' },
  edit: { icon: 'pencil', wanted: 'Wants to edit', doing: 'Editing', done: 'Edited' },
  read: { icon: 'file-text', wanted: 'Wants to read', doing: 'Reading', done: 'Read' },
  fetch: { icon: 'external-link', wanted: 'Wants to fetch', doing: 'Fetching', done: 'Fetched' },
  search: { icon: 'search', wanted: 'Wants to search', doing: 'Searching', done: 'Searched' },
  mcp: { icon: 'wrench', wanted: 'Wants to use', doing: 'Using', done: 'Used' },
  other: { icon: 'wrench', wanted: 'Wants to use', doing: 'Using', done: 'Used' },
}

const SUBAGENT: Verbs = { icon: 'bot', wanted: 'Wants a sub-agent', doing: 'Sub-agent', done: 'Sub-agent' }
const PLAN: Verbs = {
  icon: 'list',
  wanted: 'Wants to plan',
  doing: 'Updating its plan',
  done: 'Updated its plan',
}
const PROPOSAL: Verbs = {
  icon: 'list',
  wanted: 'Proposes a plan',
  doing: 'Proposing a plan',
  done: 'Proposed a plan',
}
const QUESTION: Verbs = { icon: 'circle-question-mark', wanted: 'Asks', doing: 'Asking', done: 'Asked' }

const PLANNING: ReadonlySet<string> = new Set(['todowrite', 'todo_write', 'update_plan', 'write_todos'])
const ASKING: ReadonlySet<string> = new Set(['askuserquestion', 'ask', 'question'])
const MAX_SUBJECT = 300

interface NamedCall {
  tool: string
  input: unknown
  about?: About | undefined
}

/** `cwd`: paths below it are told without it. */
export function toolWords({ tool, input, about }: NamedCall, cwd: string): ToolWords {
  const name = tool.toLowerCase()
  if (tool === '' || startsAgent(tool))
    return words(SUBAGENT, tool === '' ? '' : titleOfCall({ tool, input }))
  if (PLANNING.has(name)) return words(PLAN, '')
  if (name === 'exitplanmode') return words(PROPOSAL, '')
  if (ASKING.has(name)) return words(QUESTION, firstQuestion(input))
  const { class: kind, subjects } = about ?? aboutTool(tool, input)
  const subject = subjects.map((one) => shown(one, kind, cwd)).join(', ')
  if (kind === 'mcp') return words(VERBS.mcp, mcpName(tool))
  if (kind === 'other') return words(VERBS.other, subject === '' ? tool : `${tool}: ${subject}`)
  return { ...words(VERBS[kind], subject || tool), isCode: subject !== '' }
}

/** The verb for how a call stands. */
export function verbOf({ wanted, doing, done }: ToolWords, state: CallState): string {
  if (state === 'asked') return wanted
  return state === 'running' ? doing : done
}

function words(verbs: Verbs, subject: string): ToolWords {
  return { ...verbs, subject: inertLine(subject.slice(0, MAX_SUBJECT)), isCode: false }
}

function shown(subject: string, kind: ToolClass, cwd: string): string {
  return kind === 'edit' || kind === 'read' || kind === 'search' ? (within(subject, cwd) ?? subject) : subject
}

/** `mcp__server__tool` and `mcp_server_tool`. */
function mcpName(tool: string): string {
  const [, server, name] = /^mcp__(.+?)__(.+)$/.exec(tool) ?? []
  return server === undefined ? tool : `${name} of ${server}`
}

function firstQuestion(input: unknown): string {
  const list = (input as { questions?: unknown } | null)?.questions
  const first = Array.isArray(list) ? (list[0] as { question?: unknown } | null)?.question : null
  return typeof first === 'string' ? first : ''
}
