import type { Call } from '../../core/conversation/item.ts'

export interface Executed {
  name: string
  ok: boolean
  input: unknown
  result: string
  error?: string
  /** Beside what the original has: which call it was. */
  callId: string
}

/** The tool calls of a turn come in rounds: one is over when none of its calls is without a result. */
export interface ToolRounds {
  round: number
  open: number
  executed: Executed[]
}

export function newRounds(): ToolRounds {
  return { round: 1, open: 0, executed: [] }
}

export function beginsCall(rounds: ToolRounds, { id: callId, tool, input }: Call) {
  rounds.open += 1
  return { toolRound: rounds.round, call: { name: tool, input, providerToolName: tool, callId } }
}

/** `results`: all of the round, when this was the last one of it. */
export function finishesCall(rounds: ToolRounds, { id: callId, tool, input, output, state }: Call) {
  const { round: toolRound } = rounds
  const result = output ?? ''
  const ok = state === 'done'
  const executed: Executed = { name: tool, ok, input, result, ...(!ok && { error: result }), callId }
  rounds.open -= 1
  rounds.executed.push(executed)
  if (rounds.open > 0) return { toolRound, executed, results: null }
  const results = rounds.executed
  Object.assign(rounds, { round: toolRound + 1, open: 0, executed: [] })
  return { toolRound, executed, results }
}
