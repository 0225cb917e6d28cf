import { ATTENTIONS, type Attention } from '../../src/core/attention.ts'
import type { Counts, SessionRow } from '../client/rows.ts'

/** The sessions that are known, as of `seq`. */
export interface SessionList {
  readonly seq: number
  readonly rows: ReadonlyMap<string, SessionRow>
  readonly counts: Counts
  /** There are more than were asked for. */
  readonly more: boolean
}

export interface SessionChange {
  seq: number
  changed: readonly SessionRow[]
  removed: readonly string[]
  counts: Counts
}

export const NO_COUNTS: Counts = { needs_you: 0, working: 0, done: 0, snoozed: 0, quiet: 0, approvals: 0 }

/** A whole list takes the place of the one before: after a reconnect nothing of it can be trusted. */
export function listOf(whole: {
  seq: number
  sessions: readonly SessionRow[]
  counts: Counts
  more: boolean
}): SessionList {
  const { seq, sessions, counts, more } = whole
  return { seq, rows: new Map(sessions.map((row) => [row.id, row])), counts, more }
}

export function withChange(list: SessionList, { seq, changed, removed, counts }: SessionChange): SessionList {
  const rows = new Map(list.rows)
  for (const id of removed) rows.delete(id)
  for (const row of changed) rows.set(row.id, row)
  return { ...list, seq: Math.max(list.seq, seq), rows, counts }
}

export const GROUP_NAMES: Readonly<Record<Attention, string>> = {
  needs_you: 'Needs you',
  working: 'Working',
  done: 'Done since you looked',
  snoozed: 'Snoozed',
  quiet: 'Quiet',
}

/** Rows under a heading. */
export interface Group {
  /** Stays the same while the group does: for what is folded, and for keys. */
  key: string
  name: string
  /** Null: a project, with sessions in several states. */
  attention: Attention | null
  rows: readonly SessionRow[]
}

/** By state, without those that nobody is in. Quiet ones that are alone are another group: nothing else is to be seen. */
export function groupsByState(rows: Iterable<SessionRow>): Group[] {
  const byState = Map.groupBy(rows, (row) => row.attention)
  return ATTENTIONS.flatMap((attention): Group[] => {
    const found = byState.get(attention)
    if (!found) return []
    const sorted = found.toSorted(pinnedFirst(ORDERS[attention]))
    const key = attention === 'quiet' && byState.size === 1 ? 'all-quiet' : attention
    return [{ key, name: GROUP_NAMES[attention], attention, rows: sorted }]
  })
}

/** By project, or by directory where there is none; the one that needs most comes first, and the same holds within each. */
export function groupsByProject(rows: Iterable<SessionRow>): Group[] {
  const groups = [...Map.groupBy(rows, placeOf)].map(([key, found]): Group => {
    const sorted = found.toSorted(pinnedFirst((a, b) => rank(a) - rank(b) || ORDERS[a.attention](a, b)))
    return { key, name: placeName(found[0]!), attention: null, rows: sorted }
  })
  const most = ({ rows: inside }: Group): number => Math.min(...inside.map(rank))
  return groups.sort((a, b) => most(a) - most(b) || a.name.localeCompare(b.name))
}

function placeOf({ project, cwd, worktreeOf }: SessionRow): string {
  return project ? `project:${project.id}` : `directory:${worktreeOf ?? cwd}`
}

/** What people call the place where it works: of a worktree, the one that it was made from. */
export function placeName({
  project,
  cwd,
  worktreeOf,
}: Pick<SessionRow, 'project' | 'cwd' | 'worktreeOf'>): string {
  return project?.name ?? ((worktreeOf ?? cwd).split('/').findLast((part) => part !== '') || '/')
}

function rank({ attention }: SessionRow): number {
  return ATTENTIONS.indexOf(attention)
}

type Order = (a: SessionRow, b: SessionRow) => number

/** Whoever waits longest is first, and so is what ended last; what works keeps its place while it does. */
const ORDERS: Readonly<Record<Attention, Order>> = {
  needs_you: (a, b) => a.activeAt - b.activeAt || byId(a, b),
  working: (a, b) => (a.turn?.startedAt ?? a.activeAt) - (b.turn?.startedAt ?? b.activeAt) || byId(a, b),
  done: (a, b) => (b.endedAt ?? b.activeAt) - (a.endedAt ?? a.activeAt) || byId(a, b),
  snoozed: (a, b) => (a.marks.snoozedUntil ?? Infinity) - (b.marks.snoozedUntil ?? Infinity) || byId(a, b),
  quiet: (a, b) => b.activeAt - a.activeAt || byId(a, b),
}

function byId(a: SessionRow, b: SessionRow): number {
  return a.id < b.id ? -1 : 1
}

function pinnedFirst(order: Order): Order {
  return (a, b) => Number(b.marks.pinned) - Number(a.marks.pinned) || order(a, b)
}

/** Those in which every word of the query is found somewhere. */
export function matching(rows: Iterable<SessionRow>, query: string): SessionRow[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  return [...rows].filter((row) => {
    const text = textOf(row)
    return words.every((word) => text.includes(word))
  })
}

function textOf({ title, agent, cwd, project, lastLine, marks, model }: SessionRow): string {
  return [title, agent, cwd, project?.name, lastLine, model, ...marks.flags].join('\n').toLowerCase()
}

/** What is listed, one below the other: headings, and rows of groups that are not folded. */
export type Line =
  | { kind: 'head'; key: string; group: Group; folded: boolean }
  | { kind: 'row'; key: string; row: SessionRow }

export function linesOf(groups: readonly Group[], folded: ReadonlySet<string>): Line[] {
  return groups.flatMap((group) => {
    const isFolded = folded.has(group.key)
    const rows = isFolded ? [] : group.rows
    return [
      { kind: 'head' as const, key: `head:${group.key}`, group, folded: isFolded },
      ...rows.map((row) => ({ kind: 'row' as const, key: row.id, row })),
    ]
  })
}

/** The row that a step leads to from `current`; what has gone meanwhile is looked for where it was. */
export function stepTo(
  ids: readonly string[],
  current: string | null,
  by: number,
  lastIndex = 0,
): string | null {
  if (ids.length === 0) return null
  const found = current === null ? -1 : ids.indexOf(current)
  if (found < 0 && current !== null) return ids[Math.min(lastIndex, ids.length - 1)]!
  const next = found < 0 ? (by > 0 ? 0 : ids.length - 1) : found + by
  return ids[Math.max(0, Math.min(ids.length - 1, next))]!
}
