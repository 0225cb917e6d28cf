import { isSea } from 'node:sea'
import { fileURLToPath } from 'node:url'
import type { Decision } from '../../core/approval.ts'
import type { HeldCall } from '../../core/call.ts'
import { textOf } from '../../core/content.ts'
import type { Intent } from '../../core/ports.ts'
import type { Session } from '../../core/session.ts'
import type { AgentDriver } from '../agent.ts'
import { SIGNED_IN } from '../signed-in.ts'
import { type DemoDecision, type DemoInput, DEMO_TITLE, DEMO_VERSION } from './protocol.ts'
import { demoTranslator } from './translator.ts'

/** The word that makes the single executable be the demo agent: scripts/binary/main.ts. */
const WORD = '@demo'

/** The program's file: a source beside this one, or its bundle beside the daemon's. The single executable has it inside. */
export function demoProgram(): string {
  if (isSea()) return WORD
  const name = import.meta.url.endsWith('.ts') ? './main.ts' : './demo.js'
  return fileURLToPath(new URL(name, import.meta.url))
}

export const demoDriver = {
  name: 'demo',
  title: DEMO_TITLE,
  unasked: {},
  capabilities: {
    streaming: true,
    thinking: true,
    approvals: true,
    images: true,
    documents: true,
    resume: true,
    relocate: true,
    fork: true,
    cost: true,
    setModel: true,
    effort: true,
    setMode: true,
    steer: true,
    editInput: true,
    denyComment: true,
    pause: true,
    survivesRestart: true,
    clientTools: true,
    bare: true,
    compact: true,
  },
  detect: () => {
    return Promise.resolve({
      name: 'demo',
      installed: true,
      path: process.execPath,
      version: DEMO_VERSION,
      problem: null,
    })
  },
  signedIn: () => Promise.resolve(SIGNED_IN),
  plan: (session, detection) => ({
    command: detection.path ?? process.execPath,
    args: [demoProgram(), ...argsOf(session)],
    cwd: session.cwd,
    env: {},
    greeting: [line(settingsOf(session))],
  }),
  translator: demoTranslator as AgentDriver['translator'],
  encode: (intent) => [line(encoded(intent))],
  interrupt: () => [line({ type: 'interrupt' })],
  barrier: (id) => [line({ type: 'barrier', id })],
  farewell: () => [line({ type: 'end' })],
  spare: {
    plan(detection, { cwd }) {
      if (cwd === null) return null
      const command = detection.path ?? process.execPath
      return { command, args: [demoProgram()], cwd, env: {}, greeting: [] }
    },
    claimable: ({ cwd, nativeId, forkFrom }, kind) =>
      cwd === kind.cwd && nativeId === null && forkFrom === null,
    claim: (session) => [line(settingsOf(session)), line({ type: 'mode', mode: session.mode })],
  },
} satisfies AgentDriver

function argsOf(session: Session): string[] {
  const args = [`--mode=${session.mode}`]
  if (session.model !== null) args.push(`--model=${session.model}`)
  if (session.nativeId !== null) args.push(`--resume=${session.nativeId}`)
  else if (session.forkFrom !== null) {
    args.push(`--fork=${session.forkFrom}`, ...(session.forkAt ? [`--at=${session.forkAt}`] : []))
  }
  return args
}

function settingsOf({ settings, effort = null }: Session): DemoInput {
  const { systemPrompt, appendSystemPrompt, customInstructions, clientTools = [] } = settings
  const system = [systemPrompt, appendSystemPrompt, customInstructions].filter((text) => text !== undefined)
  return { type: 'settings', system, tools: clientTools.map(({ name }) => name), effort }
}

function resultOf({ requestId, result }: HeldCall): DemoInput {
  return { type: 'result', requestId, text: textOf(result?.content ?? []), isError: result?.isError ?? false }
}

function encoded(intent: Intent): DemoInput {
  switch (intent.kind) {
    case 'prompt':
      return { type: 'prompt', turnId: intent.turnId, input: intent.input }
    case 'steer':
      return { type: 'steer', steerId: intent.steer.id, input: intent.steer.input }
    case 'retract':
      return { type: 'retract', steerId: intent.steerId }
    case 'decision':
      return { type: 'decision', requestId: intent.approval.requestId, ...verdict(intent.decision) }
    case 'result':
      return resultOf(intent.call)
    case 'mode':
      return { type: 'mode', mode: intent.mode }
    case 'model':
      return { type: 'model', model: intent.model }
    case 'effort':
      return { type: 'effort', effort: intent.effort }
  }
}

function verdict(decision: Decision): Pick<DemoDecision, 'behavior' | 'input' | 'answers' | 'comment'> {
  switch (decision.behavior) {
    case 'allow': {
      const { input, answers } = decision
      return { behavior: 'allow', ...(input !== undefined && { input }), ...(answers && { answers }) }
    }
    case 'deny':
      return { behavior: 'deny', comment: decision.comment }
    case 'respond':
      return { behavior: 'deny', comment: decision.text }
    case 'cancelled':
      return { behavior: 'deny', comment: decision.reason }
  }
}

function line(message: DemoInput): string {
  return JSON.stringify(message)
}
