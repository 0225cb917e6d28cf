import type { AgentFact, PlanEntry } from '../../core/event.ts'
import { asObject, asString, type JsonObject } from '../json.ts'
import { planEntry, planOf, planTold } from '../plan.ts'

/** What a call will do to the plan when it has succeeded. */
type PlanChange =
  | { type: 'whole'; entries: PlanEntry[] }
  | { type: 'add'; text: string }
  | { type: 'edit'; id: string; text: string | null; status: string | null }
  | { type: 'look' }

interface Task {
  id: string
  entry: PlanEntry
}

/** Claude's plan. Some versions write the whole list each time, others have tasks that they change one by one. */
export interface Planning {
  calls: { callId: string; change: PlanChange }[]
  /** Null: not known, since they were made before the first line that was read. */
  tasks: Task[] | null
  told: PlanEntry[] | null
}

export const NO_PLAN: Planning = { calls: [], tasks: null, told: null }

const MAX_CALLS = 64
const MAX_TASKS = 200
/** The first task of a list. */
const FIRST = '1'

/** A call begins; most have nothing to do with plans. */
export function withPlanCall(planning: Planning, callId: string, tool: string, input: unknown): Planning {
  const change = changeOf(tool, asObject(input))
  return change ? { ...planning, calls: [...planning.calls, { callId, change }].slice(-MAX_CALLS) } : planning
}

function changeOf(tool: string, input: JsonObject): PlanChange | null {
  switch (tool) {
    case 'TodoWrite':
      return { type: 'whole', entries: planOf(input.todos, 'content') }
    case 'TaskCreate':
      return { type: 'add', text: asString(input.subject) ?? '' }
    case 'TaskUpdate': {
      const { taskId, subject, status } = input
      return { type: 'edit', id: asString(taskId) ?? '', text: asString(subject), status: asString(status) }
    }
    case 'TaskList':
      return { type: 'look' }
    default:
      return null
  }
}

/** A call is over: what it said about the plan holds if it has not failed. */
export function planAfter(
  before: Planning,
  callId: string,
  { isError, result }: { isError: boolean; result: JsonObject },
): { planning: Planning; outputs: AgentFact[] } {
  const call = before.calls.find((one) => one.callId === callId)
  if (!call) return { planning: before, outputs: [] }
  const planning = { ...before, calls: before.calls.filter((one) => one !== call) }
  if (isError || result.success === false) return { planning, outputs: [] }
  const { change } = call
  const tasks = change.type === 'whole' ? before.tasks : tasksAfter(before.tasks, change, result)
  const entries = change.type === 'whole' ? change.entries : (tasks?.map(({ entry }) => entry) ?? null)
  if (entries === null) return { planning: { ...planning, tasks }, outputs: [] }
  return { planning: { ...planning, tasks, told: entries }, outputs: planTold(before.told, entries) }
}

function tasksAfter(
  tasks: Task[] | null,
  change: Exclude<PlanChange, { type: 'whole' }>,
  result: JsonObject,
): Task[] | null {
  if (change.type === 'look') return tasksIn(result.tasks)
  if (change.type === 'edit') return tasks?.flatMap((task) => edited(task, change)) ?? null
  const { id, subject } = asObject(result.task)
  const entry = planEntry(asString(subject) ?? change.text, 'pending')
  if (typeof id !== 'string' || !entry) return tasks
  const before = id === FIRST ? [] : tasks
  return before && [...before, { id, entry }].slice(0, MAX_TASKS)
}

function tasksIn(list: unknown): Task[] | null {
  if (!Array.isArray(list)) return null
  return list.slice(0, MAX_TASKS).flatMap((one) => {
    const { id, subject, status } = asObject(one)
    const entry = planEntry(subject, status)
    return typeof id === 'string' && entry ? [{ id, entry }] : []
  })
}

/** What has no state of ours any more (it was deleted) is no part of the plan. */
function edited(task: Task, { id, text, status }: Extract<PlanChange, { type: 'edit' }>): Task[] {
  if (task.id !== id) return [task]
  const words = text ?? task.entry.text
  const entry = status === null ? { ...task.entry, text: words } : planEntry(words, status)
  return entry ? [{ id, entry }] : []
}
