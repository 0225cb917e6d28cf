import type { Approval } from './approval.ts'

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

const PATHS = ['file_path', 'filePath', 'filepath', 'path', 'notebook_path', 'absolute_path', 'dir_path']

/** Of what was asked before translators said it, and of what is asked from outside, it is told from the tool's name. */
export function aboutOf({ about, tool, input }: Pick<Approval, 'about' | 'tool' | 'input'>): About {
  return about ?? aboutTool(tool, input)
}

/** What can be told from a tool's name and its input, where nobody knows better. */
export function aboutTool(tool: string, input: unknown): About {
  const of = textsIn(input)
  const command = of(['command', 'cmd'])
  const known = classOf(tool, command.length > 0)
  switch (known) {
    case 'shell':
      return { class: known, subjects: command }
    case 'edit':
    case 'read':
      return { class: known, subjects: of(PATHS) }
    case 'fetch':
      return { class: known, subjects: of(['url']) }
    case 'search':
      return { class: known, subjects: [...of(PATHS), ...of(['pattern', 'query'])].slice(0, 1) }
    default:
      return {
        class: known,
        subjects: [...command, ...of([...PATHS, 'url', 'pattern', 'query'])].slice(0, 1),
      }
  }
}

function classOf(tool: string, hasCommand: boolean): ToolClass {
  if (tool.startsWith('mcp__')) return 'mcp'
  return classNamed(tool) ?? (hasCommand ? 'shell' : 'other')
}

function textsIn(input: unknown): (keys: readonly string[]) => string[] {
  const fields = typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : {}
  return (keys) => keys.flatMap((key) => (typeof fields[key] === 'string' ? [fields[key]] : []))
}
