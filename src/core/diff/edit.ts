import { aboutOf } from '../about.ts'
import type { Approval } from '../approval.ts'
import type { FileChange } from '../file-change.ts'
import { straight, within } from '../path.ts'
import { newBudget, type DiffBudget } from './budget.ts'
import { NEW, OLD, PATHS, WHOLE } from './fields.ts'
import { fitting, oldLinesOf, type FoundHunk } from './hunks.ts'
import { patchedFiles } from './patch.ts'
import { hunksBetween, linesOf } from './texts.ts'

/*
 * What an edit would change, from the input that an agent asks about: nobody looks at the files. Where the input has a piece of a
 * file only, its lines are counted from the beginning of the piece.
 */

const MAX_FILES = 100

type Asked = Pick<Approval, 'kind' | 'tool' | 'input' | 'about'>

/** Null: it is no edit, or the input does not tell what becomes of the files. */
export function fileChanges(asked: Asked, cwd: string): FileChange[] | null {
  const { kind, input } = asked
  if (kind !== 'tool' || aboutOf(asked).class !== 'edit') return null
  const budget = newBudget()
  const shown = (path: string): string => shownPath(path, cwd)
  const changes = list(input, 'changes')
  const files =
    changes.length > 0
      ? changes.slice(0, MAX_FILES).flatMap((change) => changedFile(change, shown, budget))
      : editedFile(input, shown, budget)
  return files.length > 0 ? files : null
}

type Shown = (path: string) => string

/** One of several files: a whole one that is new or goes, or a patch. */
function changedFile(change: unknown, shown: Shown, budget: DiffBudget): FileChange[] {
  const [path, diff, to] = [field(change, PATHS), field(change, ['diff']), field(change, ['to'])]
  if (path === null || diff === null) return []
  const isCut = 'cut' in (change as object)
  const kind = field(change, ['kind'])
  if (kind === 'add' || kind === 'delete') {
    const hunks = [wholeHunk(kind === 'add' ? '+' : '-', diff)]
    const status = kind === 'add' ? 'added' : 'deleted'
    return [fitting({ path: shown(path), oldPath: null, status, hunks, isCut }, budget)]
  }
  const hunks = patchedFiles(diff).flatMap((file) => file.hunks)
  const name =
    to === null
      ? ({ path: shown(path), oldPath: null, status: 'modified' } as const)
      : ({ path: shown(to), oldPath: shown(path), status: 'renamed' } as const)
  return [fitting({ ...name, hunks, isCut }, budget)]
}

/** One file: a patch, pieces of it, or all of it. */
function editedFile(input: unknown, shown: Shown, budget: DiffBudget): FileChange[] {
  const path = field(input, PATHS)
  const diff = field(input, ['diff', 'patch'])
  if (diff !== null) return patched(path, diff, shown, budget)
  if (path === null) return []
  const several = list(input, 'edits')
  const pieces = several.length > 0 ? several : [input]
  const hunks: FoundHunk[] = []
  let isNew = false
  for (const piece of pieces) {
    const now = field(piece, NEW)
    const whole = now === null ? field(piece, WHOLE) : null
    if (now === null && whole === null) return []
    isNew ||= whole !== null
    const last = hunks.at(-1)
    const at = last ? last.old + oldLinesOf(last) + 1 : 1
    if (whole !== null) hunks.push(wholeHunk('+', whole))
    else hunks.push(...hunksBetween(field(piece, OLD) ?? '', now!, budget, at))
  }
  const status = isNew ? 'added' : 'modified'
  return [fitting({ path: shown(path), oldPath: null, status, hunks }, budget)]
}

function patched(path: string | null, diff: string, shown: Shown, budget: DiffBudget): FileChange[] {
  const files = patchedFiles(diff).slice(0, MAX_FILES)
  return files.flatMap((file) => {
    // A patch of one file is about the file that the input names.
    const name = files.length === 1 ? (path ?? file.path) : file.path
    if (name === null) return []
    const isNew = file.hunks.every((hunk) => hunk.old === 1 && oldLinesOf(hunk) === 0)
    const status = isNew ? 'added' : 'modified'
    return [fitting({ path: shown(name), oldPath: null, status, hunks: file.hunks }, budget)]
  })
}

function wholeHunk(kind: '+' | '-', text: string): FoundHunk {
  return { old: 1, new: 1, runs: [{ kind, texts: linesOf(text) }] }
}

/** As seen from the session's directory, for what lies in it. */
function shownPath(path: string, cwd: string): string {
  const whole = straight(path.startsWith('/') ? path : `${cwd}/${path}`)
  return within(whole, cwd) ?? whole
}

function field(value: unknown, names: readonly string[]): string | null {
  if (typeof value !== 'object' || value === null) return null
  const found = names.map((name) => (value as Record<string, unknown>)[name])
  return found.find((one): one is string => typeof one === 'string') ?? null
}

function list(value: unknown, name: string): unknown[] {
  const found = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : null
  return Array.isArray(found) ? found : []
}
