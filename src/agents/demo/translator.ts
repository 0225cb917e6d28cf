import type { Translator } from '../agent.ts'
import { NO_USAGE } from '../../core/usage.ts'
import { asNumber } from '../json.ts'
import type { DriverOutput } from '../output.ts'
import { notice, says } from '../step.ts'
import type { DemoOutput } from './protocol.ts'

export interface DemoState {
  /** The last text of the running turn: its result. */
  text: string | null
}

type OutputOf<T extends DemoOutput['type']> = (
  line: Extract<DemoOutput, { type: T }>,
  state: DemoState,
) => DriverOutput

const OUTPUTS: { [T in DemoOutput['type']]: OutputOf<T> } = {
  ready: (line) => ({
    type: 'agent.init',
    nativeId: line.conversationId,
    model: line.model,
    version: line.version,
    raw: line,
  }),
  models: ({ models }) => ({ type: 'models.told', models: Array.isArray(models) ? models : [] }),
  model: ({ model }) => ({ type: 'agent.model', model }),
  accepted: (line) => ({ type: 'turn.accepted', turnId: line.turnId }),
  'steer-read': (line) => ({ type: 'steer.arrived', steerId: line.steerId }),
  'steer-taken': (line) => ({ type: 'steer.taken', steerId: line.steerId }),
  delta: ({ messageId, kind, text, parent = null }) => ({
    type: 'message.delta',
    messageId,
    kind,
    text,
    parent,
  }),
  message: ({ messageId, kind, text, aborted, parent = null }) => {
    return { type: 'message.completed', messageId, kind, text, parent, aborted }
  },
  'tool-start': ({ callId, tool, input, parent = null }) => ({
    type: 'tool.started',
    callId,
    tool,
    input,
    parent,
  }),
  'tool-end': ({ callId, output, isError, usage, parent = null }) => {
    return { type: 'tool.completed', callId, output, isError, parent, cut: 0, ...(usage && { usage }) }
  },
  ask: ({ requestId, kind, tool, input, callId, summary, parent = null }) => ({
    type: 'approval.asked',
    approval: {
      requestId,
      kind,
      tool,
      input,
      edits: tool === 'Write' || tool === 'Edit',
      callId,
      summary,
      suggestions: null,
      parent,
    },
  }),
  call: ({ requestId, callId, tool, input }) => ({ type: 'call.asked', callId, requestId, tool, input }),
  withdraw: (line) => ({ type: 'approval.withdrawn', requestId: line.requestId }),
  compacting: ({ tokens }) => ({ type: 'agent.compacting', tokens, window: null }),
  compacted: ({ before, after, error }) => {
    return { type: 'agent.compacted', tokensBefore: before, tokensAfter: after, window: null, error }
  },
  context: ({ used, window }) => ({ type: 'agent.context', used: asNumber(used), window: asNumber(window) }),
  limits: ({ windows }) => ({ type: 'limits.told', limits: { plan: 'demo', windows: windows ?? [] } }),
  notice: ({ code, message }) => notice(code, message),
  'end-of-turn': ({ outcome, usage, error, turnId: branch }, { text }) => {
    return { type: 'turn.ended', outcome, usage: usage ?? NO_USAGE, error, text, branch }
  },
  barrier: (line) => ({ type: 'barrier.reached', id: line.id }),
}

/** The fields that a line cannot do without; the program is ours, its journal may still be damaged. */
const STRINGS: { [T in DemoOutput['type']]: readonly string[] } = {
  ready: ['model', 'version'],
  models: [],
  model: ['model'],
  accepted: ['turnId'],
  'steer-read': ['steerId'],
  'steer-taken': ['steerId'],
  delta: ['messageId', 'kind', 'text'],
  message: ['messageId', 'kind', 'text'],
  'tool-start': ['callId', 'tool'],
  'tool-end': ['callId', 'output'],
  ask: ['requestId', 'kind', 'tool', 'callId', 'summary'],
  call: ['requestId', 'callId', 'tool'],
  withdraw: ['requestId'],
  compacting: [],
  compacted: [],
  limits: [],
  context: [],
  notice: ['code', 'message'],
  'end-of-turn': ['turnId', 'outcome'],
  barrier: ['id'],
}

export const demoTranslator = {
  initial: () => ({ text: null }),
  step(state, raw) {
    const line = known(raw)
    if (!line) return says(state, { type: 'agent.other', kind: kindOf(raw), raw })
    return says(next(state, line), (OUTPUTS[line.type] as OutputOf<DemoOutput['type']>)(line, state))
  },
} satisfies Translator<DemoState>

function next(state: DemoState, line: DemoOutput): DemoState {
  if (line.type === 'message' && line.kind === 'text' && !line.parent) return { text: line.text }
  return line.type === 'end-of-turn' ? { text: null } : state
}

function known(raw: unknown): DemoOutput | null {
  const type = kindOf(raw)
  if (!Object.hasOwn(STRINGS, type)) return null
  const line = raw as Record<string, unknown>
  return STRINGS[type as DemoOutput['type']].every((field) => typeof line[field] === 'string')
    ? (line as DemoOutput)
    : null
}

function kindOf(raw: unknown): string {
  const type = typeof raw === 'object' && raw !== null ? (raw as { type?: unknown }).type : undefined
  return typeof type === 'string' ? type : typeof raw
}
