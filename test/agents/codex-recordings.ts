import { aSession } from '../support/session.ts'
import { readdirSync, readFileSync } from 'node:fs'
import { codexTranslator } from '../../src/agents/codex/translator.ts'
import type { DriverOutput } from '../../src/agents/output.ts'

interface Message {
  id?: number | string
  method?: string
  params?: { threadId?: string; turn?: { status?: string } }
  result?: { thread?: { id: string } }
}
type Recorded = { proc: number; dir: string; m: Message }

const FOLDER = new URL('../recordings/codex/', import.meta.url)

/** Those of `codex exec` are in another language, which is not ours. */
export const NAMES = readdirSync(FOLDER)
  .map((file) => file.replace('.jsonl', ''))
  .filter((name) => name !== 'exec-json')

export function lines(name: string): Recorded[] {
  const text = readFileSync(new URL(`${name}.jsonl`, FOLDER), 'utf8')
  const [, ...rest] = text.trim().split('\n')
  return rest.map((line) => JSON.parse(line) as Recorded)
}

const PURPOSES: Record<string, string> = {
  'thread/start': 'open',
  'thread/resume': 'open',
  'turn/start': 'turn',
  'turn/interrupt': 'stop',
}

/**
 * What a recorded process wrote, as if our driver had asked: its ids name their purpose, and an interrupted turn is
 * cleaned up after. Answers that belong to another conversation would not get here.
 */
export function recorded(name: string, proc = 1): unknown[] {
  const ids = new Map<unknown, string | null>()
  let thread: string | undefined
  return lines(name).flatMap(({ proc: of, dir, m }): unknown[] => {
    if (of !== proc) return []
    if (dir === 'in' && m.method !== undefined && m.id !== undefined) {
      const purpose = PURPOSES[m.method] ?? 'other'
      const others = m.method === 'thread/fork' || (m.params?.threadId ?? thread) !== thread
      const own = m.method === 'thread/resume' || !others
      ids.set(m.id, own ? `s1:${purpose}${purpose === 'turn' ? `:t${m.id}` : ''}` : null)
    }
    if (dir !== 'out') return []
    if (m.method === undefined) {
      thread ??= m.result?.thread?.id
      const id = ids.get(m.id)
      return id === null ? [] : [{ ...m, id }]
    }
    const interrupted = m.method === 'turn/completed' && m.params?.turn?.status === 'interrupted'
    return interrupted ? [m, { id: 's1:clean', result: {} }] : [m]
  })
}

export function translate(given: unknown[], from = codexTranslator.initial(aSession())): DriverOutput[] {
  let state = from
  return given.flatMap((line) => {
    const step = codexTranslator.step(state, line)
    state = step.state
    return step.outputs
  })
}

/** One short line for each output, to read a whole turn at a glance. */
export function story(outputs: DriverOutput[]): string[] {
  return outputs.map((it) => {
    switch (it.type) {
      case 'turn.accepted':
        return `accepted ${it.turnId}`
      case 'steer.arrived':
      case 'steer.taken':
        return `${it.type} ${it.steerId}`
      case 'agent.init':
        return `init ${it.model}`
      case 'agent.ready':
        return `ready${it.problem ? ` not: ${it.problem.code}` : ''}`
      case 'agent.request':
        return `wants ${(it.request as { step: string }).step}`
      case 'message.delta':
        return `${it.kind} ${it.messageId} + ${it.text}`
      case 'message.completed':
        return `${it.kind} ${it.messageId} = ${it.text.slice(0, 40)}`
      case 'tool.started':
        return `tool ${it.callId} ${it.tool}`
      case 'tool.completed':
        return `${it.isError ? 'error' : 'output'} ${it.callId} ${it.output.trim()}`
      case 'approval.asked':
        return `asked ${it.approval.tool} ${it.approval.callId}`
      case 'approval.withdrawn':
        return `withdrawn ${it.requestId}`
      case 'agent.notice':
        return `notice ${it.code}`
      case 'agent.other':
        return `other ${it.kind}`
      case 'turn.ended':
        return `${it.outcome}${it.error ? ` ${it.error.code}` : ''}`
      default:
        return it.type
    }
  })
}

export const only = <T extends DriverOutput['type']>(outputs: DriverOutput[], type: T) =>
  outputs.filter((it): it is Extract<DriverOutput, { type: T }> => it.type === type)
