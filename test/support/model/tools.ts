import type { Call, Action } from '../../../src/agents/demo/script.ts'

export type NamedCall = Extract<Call, { tool: 'named' }>
/** A step in which tools have the names that the agent at hand has for them. */
export type NamedStep = Exclude<Action, { do: 'call' }> | { do: 'call'; call: NamedCall }

type Input = Record<string, unknown>
type Tools<T extends Call['tool']> = Record<string, (call: Extract<Call, { tool: T }>) => Input>

const SHELL: Tools<'shell'> = {
  Bash: ({ command }) => ({ command, description: 'Scripted command' }),
  bash: ({ command }) => ({ command }),
  exec_command: ({ command }) => ({ cmd: command }),
  run_shell_command: ({ command }) => ({ command, description: 'Scripted command' }),
}

const WRITE: Tools<'write'> = {
  Write: ({ path, text }) => ({ file_path: path, content: text }),
  write: ({ path, text }) => ({ filePath: path, content: text }),
  apply_patch: ({ path, text }) => patch(`Add File: ${path}`, lines('+', text)),
  write_file: ({ path, text }) => ({ file_path: path, content: text }),
}

const EDIT: Tools<'edit'> = {
  Edit: ({ path, before, after }) => ({ file_path: path, old_string: before, new_string: after }),
  edit: ({ path, before, after }) => ({ filePath: path, oldString: before, newString: after }),
  // A patch replaces whole lines, so OLD has to be one.
  apply_patch: ({ path, before, after }) =>
    patch(`Update File: ${path}`, ['@@', ...lines('-', before), ...lines('+', after)]),
  replace: ({ path, before, after }) => {
    return { file_path: path, instruction: 'Scripted edit', old_string: before, new_string: after }
  },
}

const OPTIONS = [
  { label: 'Yes', description: 'Agree' },
  { label: 'No', description: 'Disagree' },
]
const ASK: Tools<'ask'> = {
  AskUserQuestion: ({ question }) => {
    return { questions: [{ question, header: 'Question', options: OPTIONS, multiSelect: false }] }
  },
  question: ({ question }) => ({ questions: [{ question, header: 'Question', options: OPTIONS }] }),
  request_user_input: ({ question }) => {
    return { questions: [{ id: 'question', question, header: 'Question', options: OPTIONS }] }
  },
  ask_user: ({ question }) => {
    return { questions: [{ question, header: 'Question', type: 'choice', options: OPTIONS }] }
  },
}

/** Gives a step the name and the input of a tool that is offered; without one, the answer says so. */
export function namedStep(step: Action, offered: readonly string[]): NamedStep {
  if (step.do !== 'call') return step
  const call = namedCall(step.call, offered)
  return call
    ? { do: 'call', call }
    : { do: 'say', text: `refused: ${step.call.tool}: no tool for that is offered` }
}

function namedCall(call: Call, offered: readonly string[]): NamedCall | null {
  switch (call.tool) {
    case 'shell':
      return firstOffered(SHELL, call, offered)
    case 'write':
      return firstOffered(WRITE, call, offered)
    case 'edit':
      return firstOffered(EDIT, call, offered)
    case 'ask':
      return firstOffered(ASK, call, offered)
    case 'named':
      return call
  }
}

function firstOffered<C extends Call>(
  tools: Record<string, (call: C) => Input>,
  call: C,
  offered: readonly string[],
): NamedCall | null {
  const name = Object.keys(tools).find((one) => offered.includes(one))
  return name === undefined ? null : { tool: 'named', name, input: tools[name]!(call) }
}

function patch(header: string, body: string[]): Input {
  return { input: ['*** Begin Patch', `*** ${header}`, ...body, '*** End Patch', ''].join('\n') }
}

function lines(sign: string, text: string): string[] {
  return text.split('\n').map((line) => sign + line)
}
