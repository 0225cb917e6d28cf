import { isAbsolute } from 'node:path'
import type { ApprovalRequest } from '../../core/approval.ts'
import { quoted } from '../../core/shell/quoted.ts'
import { asArray, asObject, asString, cutText, type JsonObject } from '../json.ts'
import { MAX_SUBJECT } from './fitting.ts'
import type { AcpProfile } from './profile.ts'
import { says, type Step } from '../step.ts'
import { type AcpState, type ClientRequest, wish } from './state.ts'

/*
 * What an agent lets Corral change for it. Whether it has asked for permission or not: mode, rules and people decide as if
 * it were the agent's own tool, and then it is done, here or never.
 */

const MAX_SHOWN = 256 * 1024
/** So much is kept for an answer; the oldest, which most likely has one, goes first. */
const MAX_HELD = 64
const MAX_HELD_CHARS = 32 * 1024 * 1024

type Asking = Pick<ApprovalRequest, 'tool' | 'input' | 'edits' | 'summary'> & { about: string }

const METHODS: Record<string, { offer: keyof AcpProfile['offers']; ask: typeof writing }> = {
  'fs/write_text_file': { offer: 'files', ask: writing },
  'terminal/create': { offer: 'terminals', ask: running },
}

export function isHeld({ offers }: AcpProfile, method: string): boolean {
  return Object.hasOwn(METHODS, method) && offers[METHODS[method]!.offer]
}

/** A call that waits for a decision. */
export function held(state: AcpState, method: string, line: JsonObject): Step<AcpState> {
  const params = asObject(line.params)
  const asking = METHODS[method]!.ask(state, params)
  if (typeof asking === 'string') return says(state, wish({ step: 'refuse', id: line.id, message: asking }))
  const { about, ...shown } = asking
  const requestId = JSON.stringify(line.id)
  if (isOtherCall(state, requestId, { method, params })) {
    const message = 'another request of this id waits for its answer'
    return says(state, wish({ step: 'refuse', id: line.id, message }))
  }
  const leave = state.asked.findLast((one) => one.about === about && one.call === null)
  const before = state.asked
    .filter((one) => one.requestId !== requestId || one.call === null)
    .map((one) => (one === leave ? { ...one, about: null } : one))
  const one = { id: line.id, requestId, callId: null, about: null, call: { method, params } }
  const approval: ApprovalRequest = {
    ...shown,
    requestId,
    kind: 'tool',
    callId: leave?.callId ?? null,
    suggestions: null,
    parent: null,
    ...(leave && { covers: leave.requestId }),
  }
  return says({ ...state, asked: within([...before, one]) }, { type: 'approval.asked', approval })
}

/** What somebody was asked about must not turn into something else. */
function isOtherCall({ asked }: AcpState, requestId: string, call: ClientRequest): boolean {
  const open = asked.find((one) => one.requestId === requestId && one.call !== null)
  return open !== undefined && JSON.stringify(open.call) !== JSON.stringify(call)
}

function within(asked: AcpState['asked']): AcpState['asked'] {
  const calls = asked.flatMap(({ call }) => call ?? [])
  let chars = calls.reduce((sum, call) => sum + charsOf(call), 0)
  let count = calls.length
  return asked.filter(({ call }) => {
    if (!call || (count <= MAX_HELD && chars <= MAX_HELD_CHARS) || count === 1) return true
    count--
    chars -= charsOf(call)
    return false
  })
}

function charsOf({ params }: ClientRequest): number {
  return asString(params.content)?.length ?? MAX_SUBJECT
}

function writing(_: AcpState, { path: told, content }: JsonObject): Asking | string {
  const path = asString(told)
  const text = asString(content)
  if (path === null || !isAbsolute(path) || path.length > MAX_SUBJECT) return 'an absolute path is needed'
  if (text === null) return 'content is missing'
  if (text.length > MAX_HELD_CHARS) return 'content is too long'
  const { text: shown, cut } = cutText(text, MAX_SHOWN)
  const input = { path, content: shown, ...(cut > 0 && { cut }) }
  return { tool: 'Edit', input, edits: true, summary: `Write ${path}`, about: editOf(path) }
}

function running(state: AcpState, params: JsonObject): Asking | string {
  const line = commandLine(params)
  if (line === '') return 'command is missing'
  // With another environment it is another command: neither a rule for the bare one nor a yes to it is meant.
  const env = asArray(params.env).map(asObject)
  const command = [...env.map(({ name, value }) => `${String(name)}=${quoted(String(value))}`), line].join(
    ' ',
  )
  if (command.length > MAX_SUBJECT) return 'the command is too long to be shown to anybody'
  const input = { command, cwd: asString(params.cwd) ?? state.cwd }
  return { tool: 'Bash', input, edits: false, summary: null, about: commandOf(command, input.cwd) }
}

export function editOf(path: string): string {
  return `edit ${path}`
}

export function commandOf(command: string, cwd: string): string {
  return `run ${cwd}\n${command}`
}

const SHELL = /^(?:(?:\/usr)?\/bin\/)?(?:ba|z|da)?sh$/

/** The command as one line; what a shell is given to run is the command itself. */
function commandLine(params: JsonObject): string {
  const command = asString(params.command) ?? ''
  const args = asArray(params.args).filter((arg) => typeof arg === 'string')
  if (args.length === 2 && SHELL.test(command) && /^-l?c$/.test(args[0]!)) return args[1]!
  return args.length === 0 ? command : [command, ...args].map(quoted).join(' ')
}
