import { aSession } from '../support/session.ts'
import { readdirSync, readFileSync } from 'node:fs'
import { custom } from '../../src/agents/acp/custom.ts'
import { gemini } from '../../src/agents/acp/gemini.ts'
import { opencode } from '../../src/agents/acp/opencode.ts'
import { type AcpProfile, modeOf } from '../../src/agents/acp/profile.ts'
import { acpTranslator } from '../../src/agents/acp/translator.ts'
import type { DriverOutput } from '../../src/agents/output.ts'

interface Message {
  id?: number | string
  method?: string
  params?: Record<string, unknown>
  error?: unknown
}
interface Recorded {
  dir: 'in' | 'out'
  msg: Message
}

const FOLDER = new URL('../recordings/acp/', import.meta.url)

export const NAMES = readdirSync(FOLDER).map((file) => file.replace('.jsonl', ''))

export function profileOf(name: string): AcpProfile {
  if (name.startsWith('gemini')) return gemini
  if (name.startsWith('opencode')) return opencode
  return custom(name, { command: 'unused' })
}

const MARKED = { code: -32601, message: 'Method not found' }
const answerTo = (id: string): object => ({ jsonrpc: '2.0', id, error: MARKED })

/**
 * What a recorded agent wrote, as it would have written it to Corral: with our ids in its answers, and with answers to
 * our marks around each message.
 */
export function recorded(name: string): unknown[] {
  const text = readFileSync(new URL(`${name}.jsonl`, FOLDER), 'utf8')
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Recorded)
  const profile = profileOf(name)
  const ids = new Map<number | string, string>()
  let turns = 0
  return lines.flatMap(({ dir, msg }): unknown[] => {
    if (dir === 'out') return answeredAsOurs(msg, ids)
    if (msg.id === undefined || msg.method === undefined) return []
    if (msg.method === 'session/prompt') turns++
    ids.set(msg.id, ourId(profile, msg, `turn${turns}`))
    return msg.method === 'session/prompt'
      ? [answerTo(`begin:turn${turns}`), answerTo(`accepted:turn${turns}`)]
      : []
  })
}

/** Behind the conversation's opening there is the mark that Corral puts there. */
function answeredAsOurs(message: Message, ids: Map<number | string, string>): unknown[] {
  const id = isAnswer(message) ? ids.get(message.id) : undefined
  if (id === undefined) return [message]
  const answer = { ...message, id }
  const open = id.startsWith('open:') && message.error === undefined
  return open ? [answer, answerTo('ready'), answerTo('ready')] : [answer]
}

function isAnswer(message: Message): message is Message & { id: number | string } {
  return message.id !== undefined && message.method === undefined
}

function ourId(profile: AcpProfile, { method, params = {} }: Message, turn: string): string {
  switch (method) {
    case 'session/new':
      return 'open:new'
    case 'session/load':
    case 'session/resume':
      return `open:${method.slice(8)}:${String(params['sessionId'])}`
    case 'session/fork':
      return 'open:fork'
    case 'session/prompt':
      return `prompt:${turn}`
    case 'session/set_mode':
      return `mode:${modeOf(profile, String(params['modeId'])) ?? 'auto'}:0`
    case 'session/set_model':
      return `model:old:${String(params['modelId'])}`
    case 'session/set_config_option':
      return `model:option:${String(params['value'])}`
    default:
      return method!
  }
}

export function translate(name: string, lines: unknown[] = recorded(name)): DriverOutput[][] {
  const translator = acpTranslator(profileOf(name))
  let state = translator.initial(aSession())
  return lines.map((line) => {
    const step = translator.step(state, line)
    state = step.state
    return step.outputs
  })
}

/** One short line for each output, to read a whole turn at a glance. The commands of an agent are no part of a turn. */
export function story(outputs: DriverOutput[]): string[] {
  const told = outputs.filter(({ type }) => type !== 'agent.commands')
  return told.map((it) => {
    switch (it.type) {
      case 'turn.accepted':
        return `accepted ${it.turnId}`
      case 'agent.init':
        return `init ${it.model}`
      case 'agent.request':
        return `wants ${(it.request as { step: string }).step}`
      case 'message.delta':
        return `${it.kind} ${it.messageId} + ${it.text}`
      case 'message.completed':
        return `${it.kind} ${it.messageId} = ${it.text}${it.aborted ? ' (aborted)' : ''}`
      case 'tool.started':
        return `tool ${it.callId} ${it.tool} ${JSON.stringify(it.input)}`
      case 'tool.completed':
        return `${it.isError ? 'error' : 'output'} ${it.callId} ${it.output.slice(0, 60)}`
      case 'approval.asked':
        return `asked ${it.approval.kind} ${it.approval.tool} ${it.approval.callId}${it.approval.edits ? ' edits' : ''}`
      case 'approval.withdrawn':
        return `withdrawn ${it.requestId}`
      case 'agent.notice':
        return `notice ${it.code}`
      case 'agent.other':
        return `other ${it.kind}`
      case 'agent.ready':
        return it.problem ? `not ready: ${it.problem.code}` : 'ready'
      case 'mode.observed':
        return `mode ${it.mode}`
      case 'turn.ended':
        return `${it.outcome}${it.error ? ` ${it.error.code}` : ''}`
      default:
        return it.type
    }
  })
}

export const only = <T extends DriverOutput['type']>(outputs: DriverOutput[], type: T) =>
  outputs.filter((it): it is Extract<DriverOutput, { type: T }> => it.type === type)
