import type { Event } from '../../core/event.ts'

interface Call {
  name: string
  input: unknown
  providerToolName: string
  callId: string
}

export interface Executed {
  name: string
  ok: boolean
  input: unknown
  result: string
  error?: string
  /** Beside what the original has: which call it was. */
  callId: string
}

/** Tool calls of a turn, in rounds: one is over when none of its calls is open any more. */
export function createToolRounds() {
  const open = new Map<string, Call>()
  let executed: Executed[] = []
  let toolRound = 1

  return {
    reset(): void {
      open.clear()
      executed = []
      toolRound = 1
    },
    started({ callId, tool, input }: Extract<Event, { type: 'tool.started' }>) {
      const call = { name: tool, input, providerToolName: tool, callId }
      open.set(callId, call)
      return { toolRound, call }
    },
    /** Null when its beginning is not known. */
    completed({ callId, output, isError }: Extract<Event, { type: 'tool.completed' }>) {
      const call = open.get(callId)
      if (!call) return null
      open.delete(callId)
      const one: Executed = {
        name: call.name,
        ok: !isError,
        input: call.input,
        result: output,
        ...(isError && { error: output }),
        callId,
      }
      executed.push(one)
      if (open.size > 0) return { toolRound, executed: one, results: null }
      const results = executed
      executed = []
      return { toolRound: toolRound++, executed: one, results }
    },
  }
}
