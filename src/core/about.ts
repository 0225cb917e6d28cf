import type { Approval } from './approval.ts'
import { quoted } from './shell/quoted.ts'

/** What a tool does, the same for every agent. Rules speak of these. */
export const TOOL_CLASSES = ['shell', 'edit', 'read', 'fetch', 'search', 'mcp', 'other'] as const
export type ToolClass = (typeof TOOL_CLASSES)[number]

/** What a call is about, as its translator understands it. Rules look at this, not at the agent's own words. */
export interface About {
  class: ToolClass
  /** The command, each path, the address. None: the agent has not said. */
  subjects: string[]
  /** The subjects are a part of it only: a rule for them says nothing about the rest. */
  partly?: boolean
}

/** What an agent does without a question, by class; no entry: it asks about all of it. Rules cannot answer there. */
export type Unasked = Readonly<Partial<Record<ToolClass, Silence>>>

export interface Silence {
  /** For people: "It does not ask about …". */
  what: string
  /** About none of this class; else only about some of it. */
  all?: boolean
  /** Examples of it, where it is told by the subject. */
  such?: readonly string[]
}

/** The names that agents have for their tools, in small letters. */
const NAMES: Readonly<Record<Exclude<ToolClass, 'mcp' | 'other'>, string>> = {
  shell:
    'bash command commandexecution run_shell_command exec_command local_shell local_shell_call execute execute_command run_command run_terminal_cmd terminal powershell',
  edit: 'write multiedit notebookedit filechange apply_patch applypatch patch write_file writefile edit_file create_file replace str_replace str_replace_based_edit_tool delete move',
  read: 'read_file readfile read_many_files notebookread view imageview view_image',
  fetch: 'webfetch web_fetch fetch_url',
  search:
    'grep glob ls list websearch web_search google_web_search codesearch search_file_content grep_search list_directory find',
}

const ALIASES: ReadonlyMap<string, ToolClass> = new Map([
  ...TOOL_CLASSES.map((name) => [name, name] as const),
  ...Object.entries(NAMES).flatMap(([name, aliases]) =>
    aliases.split(' ').map((alias) => [alias, name as ToolClass] as const),
  ),
])

/** The class that a name means; null: it is the name of one tool. */
export function classNamed(name: string): ToolClass | null {
  return ALIASES.get(name.toLowerCase()) ?? null
}

/** Every class of which a name with stars may mean a tool. */
export function classesFitting(fitting: (name: string) => boolean): ToolClass[] {
  return TOOL_CLASSES.filter((one) => [...ALIASES].some(([name, known]) => known === one && fitting(name)))
}

const PATHS = `file_path filePath filepath path paths notebook_path absolute_path dir_path source destination
old_path new_path oldPath newPath`.split(/\s+/)

/** Of what was asked before translators said it, and of what is asked from outside, it is told from the tool's name. */
export function aboutOf({ about, tool, input }: Pick<Approval, 'about' | 'tool' | 'input'>): About {
  return about ?? aboutTool(tool, input)
}

/** What can be told from a tool's name and its input, where nobody knows better. */
export function aboutTool(tool: string, input: unknown): About {
  const of = textsIn(input)
  const command = commandIn(input)
  const known = classOf(tool, command.length > 0)
  const first = (...lists: string[][]): string[] => lists.find((list) => list.length > 0) ?? []
  switch (known) {
    case 'shell':
      return { class: known, subjects: command }
    case 'edit':
    case 'read':
      return { class: known, subjects: of(PATHS) }
    case 'fetch':
      return { class: known, subjects: of(['url', 'uri']) }
    case 'search':
      return { class: known, subjects: first(of(PATHS), of(['pattern', 'query'])) }
    default:
      return {
        class: known,
        subjects: first([...command, ...of(PATHS), ...of(['url', 'uri'])], of(['pattern', 'query'])),
      }
  }
}

/** As one line: some agents tell a command in words. */
function commandIn(input: unknown): string[] {
  const { command, cmd, args } = fieldsOf(input)
  return [command, cmd].flatMap((one) => {
    const words = [...(Array.isArray(one) ? one : [one]), ...(Array.isArray(args) ? args : [])] as unknown[]
    if (one === undefined || !words.every((word) => typeof word === 'string')) return []
    return words.length === 1 && typeof one === 'string' ? [one] : [words.map(quoted).join(' ')]
  })
}

function classOf(tool: string, hasCommand: boolean): ToolClass {
  // Gemini CLI writes `mcp_server_tool`.
  if (tool.startsWith('mcp_')) return 'mcp'
  return classNamed(tool) ?? (hasCommand ? 'shell' : 'other')
}

function fieldsOf(input: unknown): Record<string, unknown> {
  return typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : {}
}

/** The texts that stand under these names, alone or in a list. */
function textsIn(input: unknown): (keys: readonly string[]) => string[] {
  const fields = fieldsOf(input)
  return (keys) =>
    keys.flatMap((key) => [fields[key]].flat().filter((text): text is string => typeof text === 'string'))
}
