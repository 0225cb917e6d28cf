import { relative, resolve } from 'node:path'
import type { ToolCallContent, ToolCallLocation, ToolKind } from '@agentclientprotocol/sdk/unstable'

const TITLE_LIMIT = 200

/** Names of tools as agents have them, in lower case and without anything but letters. */
const KINDS: Partial<Record<ToolKind, string>> = {
  read: 'read readfile readmanyfiles notebookread view',
  edit: 'edit multiedit write notebookedit replace writefile editfile patch applypatch filechange',
  delete: 'delete deletefile',
  move: 'move movefile rename',
  search: 'grep glob ls list listdirectory searchfilecontent codebasesearch',
  execute: 'bash shell command runshellcommand commandexecution exec bashoutput killshell',
  think: 'task agent todowrite todoread think',
  fetch: 'webfetch websearch fetch googlewebsearch',
  switch_mode: 'exitplanmode enterplanmode',
}

const KIND_OF: ReadonlyMap<string, ToolKind> = new Map(
  Object.entries(KINDS).flatMap(([kind, names]) =>
    names.split(' ').map((name) => [name, kind as ToolKind] as const),
  ),
)

const PATHS = ['file_path', 'filePath', 'path', 'notebook_path', 'absolute_path']
const OLD = ['old_string', 'oldString', 'old_str', 'oldText', 'before']
const NEW = ['new_string', 'newString', 'new_str', 'newText', 'after']
const WHOLE = ['content', 'file_text', 'new_source']
const SUBJECTS = ['command', 'url', 'query', 'pattern', 'description']

/** A tool call as an editor shows it. */
export interface ToolView {
  title: string
  name: string
  kind: ToolKind
  rawInput: unknown
  content: ToolCallContent[]
  locations: ToolCallLocation[]
}

export function viewTool(tool: string, input: unknown, cwd: string): ToolView {
  const kind = KIND_OF.get(tool.toLowerCase().replace(/[^a-z]/g, '')) ?? 'other'
  const command = kind === 'execute' ? field(input, ['command']) : null
  const title = command === null ? subjectTitle(tool, input, cwd) : codeSpan(shortened(command))
  return {
    title,
    name: tool,
    kind,
    rawInput: input,
    // Whoever allows a command must have seen all of it.
    content:
      command !== null && shortened(command) !== command
        ? [textContent(codeBlock(command, 'sh'))]
        : kind === 'edit'
          ? diffsOf(input, cwd)
          : [],
    locations: pathsOf(input).map((path) => ({ path: resolve(cwd, path) })),
  }
}

/** All of an input that neither title nor content shows: whoever allows it must have seen it. */
export function unseenInput({ kind, title, name, content, rawInput }: ToolView): ToolCallContent[] {
  if (content.length > 0 || (kind !== 'other' && title !== name)) return []
  return [textContent(codeBlock(JSON.stringify(rawInput, null, 2) ?? '', 'json'))]
}

/** The file of a call, or all the files of a change that has several. */
function pathsOf(input: unknown): string[] {
  const path = field(input, PATHS)
  const paths = list(input, 'changes').flatMap((change) => field(change, PATHS) ?? [])
  return paths.length > 0 ? paths : path === null ? [] : [path]
}

export function textContent(text: string): ToolCallContent {
  return { type: 'content', content: { type: 'text', text } }
}

/** What a tool gave back. Editors read markdown, and files and commands do not write it. */
export function outputContent(kind: ToolKind, output: string, cut: number): ToolCallContent[] {
  const text = cut > 0 ? `${output}\n… (${cut} more bytes)` : output
  if (text.trim() === '') return []
  return [textContent(['execute', 'read', 'search', 'edit'].includes(kind) ? codeBlock(text) : text)]
}

/** The changes of an edit, where its input says what was there and what will be. */
function diffsOf(input: unknown, cwd: string): ToolCallContent[] {
  const changes = list(input, 'changes')
  if (changes.length > 0) return changes.map((change) => unifiedDiff(change, cwd))
  const file = field(input, PATHS)
  if (file === null) return []
  const path = resolve(cwd, file)
  const several = list(input, 'edits')
  return (several.length > 0 ? several : [input]).flatMap((edit): ToolCallContent[] => {
    const newText = field(edit, NEW)
    if (newText !== null) return [{ type: 'diff', path, oldText: field(edit, OLD) ?? '', newText }]
    const whole = field(edit, WHOLE)
    return whole === null ? [] : [{ type: 'diff', path, oldText: null, newText: whole }]
  })
}

/** A change that is a diff already. */
function unifiedDiff(change: unknown, cwd: string): ToolCallContent {
  const path = field(change, PATHS)
  const heading = path === null ? '' : `${shownPath(path, cwd)}\n\n`
  return textContent(`${heading}${codeBlock(field(change, ['diff']) ?? '', 'diff')}`)
}

function subjectTitle(tool: string, input: unknown, cwd: string): string {
  const [question] = list(input, 'questions')
  const asks = field(question, ['question'])
  if (asks !== null) return shortened(asks)
  const paths = pathsOf(input).map((path) => shownPath(path, cwd))
  const subject = paths.length === 0 ? field(input, SUBJECTS) : paths.join(', ')
  return subject === null ? tool : `${tool} ${codeSpan(shortened(subject))}`
}

function shownPath(path: string, cwd: string): string {
  const inside = relative(cwd, resolve(cwd, path))
  return inside === '' || inside.startsWith('..') ? path : inside
}

function shortened(text: string): string {
  const flat = text.replace(/\s+/g, ' ').trim()
  return flat.length > TITLE_LIMIT ? `${flat.slice(0, TITLE_LIMIT - 1)}…` : flat
}

function codeSpan(text: string): string {
  if (text === '') return ''
  const ticks = fence(text, 1)
  const space = /^`|`$/.test(text) ? ' ' : ''
  return `${ticks}${space}${text}${space}${ticks}`
}

function codeBlock(text: string, language = ''): string {
  const ticks = fence(text, 3)
  return `${ticks}${language}\n${text.replace(/\n$/, '')}\n${ticks}`
}

/** More ticks than there are anywhere in the text. */
function fence(text: string, atLeast: number): string {
  const longest = (text.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 0)
  return '`'.repeat(longest < atLeast ? atLeast : longest + 1)
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
