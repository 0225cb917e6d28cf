import { readdirSync, readFileSync } from 'node:fs'
import { claudeTranslator } from '../../src/agents/claude/translator.ts'
import type { DriverOutput } from '../../src/agents/output.ts'

type Recorded = { proc: number; dir: string; m: unknown }
const FOLDER = new URL('../recordings/claude/', import.meta.url)

export const NAMES = readdirSync(FOLDER).map((file) => file.replace('.jsonl', ''))

/** What a recorded process wrote, line by line. */
export function recorded(name: string, proc = 1): unknown[] {
  const text = readFileSync(new URL(`${name}.jsonl`, FOLDER), 'utf8')
  const lines = text
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => JSON.parse(line) as Recorded)
  return lines.filter((line) => line.proc === proc && line.dir === 'out').map((line) => line.m)
}

export function translate(lines: unknown[], from = claudeTranslator.initial()): DriverOutput[] {
  let state = from
  return lines.flatMap((line) => {
    const step = claudeTranslator.step(state, line)
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
        return `accepted ${Number(it.turnId.slice(0, 8))}`
      case 'steer.arrived':
      case 'steer.taken':
        return `${it.type} ${Number(it.steerId.slice(0, 8))}`
      case 'agent.init':
        return `init ${it.model}`
      case 'message.delta':
        return `${it.kind} ${it.messageId} + ${it.text}`
      case 'message.completed':
        return `${it.kind} ${it.messageId} = ${it.text}${it.aborted ? ' (aborted)' : ''}`
      case 'tool.started':
        return `tool ${it.callId} ${it.tool}`
      case 'tool.completed':
        return `${it.isError ? 'error' : 'output'} ${it.callId} ${it.output.slice(0, 32)}`
      case 'approval.asked':
        return `asked ${it.approval.kind} ${it.approval.tool} ${it.approval.callId}`
      case 'approval.withdrawn':
        return 'withdrawn'
      case 'agent.notice':
        return `notice ${it.code}`
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
