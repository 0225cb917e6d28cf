import type { Approval, Decision } from '../../core/approval.ts'
import { asArray, asObject, asString, type JsonObject } from '../json.ts'
import { unwrapped } from './shell.ts'
import { type CodexState, nothing, remember, says, type Step } from './state.ts'

/** What a question is about; the rest is the same for all. */
type Question = Omit<Approval, 'id' | 'requestId' | 'parent'>

const PLAIN = {
  kind: 'tool',
  edits: false,
  callId: null,
  summary: null,
  suggestions: null,
} as const

const QUESTIONS: Partial<Record<string, (params: JsonObject, state: CodexState) => Question>> = {
  'item/commandExecution/requestApproval': command,
  'item/fileChange/requestApproval': fileChange,
  'item/permissions/requestApproval': permissions,
  'item/tool/requestUserInput': userInput,
  'mcpServer/elicitation/request': elicitation,
}

/**
 * A request of Codex's. Its number starts anew with every process, so that the turn is part of the approval's id. What
 * nobody here can answer is refused: Codex would wait for ever.
 */
export function asked(
  state: CodexState,
  requestId: string,
  method: string,
  params: JsonObject,
  parent: string | null,
): Step {
  const question = QUESTIONS[method]?.(params, state)
  if (!question) return says(state, { type: 'agent.request', request: { step: 'refuse', requestId, method } })
  const turn = asString(params.turnId) ?? state.turn?.id ?? state.thread ?? ''
  const id = `${turn}:${requestId}`
  const callId = asString(params.itemId) ?? question.callId
  const approval: Approval = { ...question, id, requestId, callId, parent }
  return says({ ...state, asked: remember(state.asked, requestId) }, { type: 'approval.asked', approval })
}

/** Also said of what has been answered; the engine knows which is open. After its turn a question is closed anyway. */
export function resolved(state: CodexState, id: unknown): Step {
  const requestId = JSON.stringify(id ?? null)
  if (!state.asked.includes(requestId)) return nothing(state)
  const asked = state.asked.filter((one) => one !== requestId)
  return says({ ...state, asked }, { type: 'approval.withdrawn', requestId })
}

function command(params: JsonObject): Question {
  const { reason, cwd, proposedExecpolicyAmendment, networkApprovalContext } = params
  return {
    ...PLAIN,
    tool: 'command',
    input: {
      command: unwrapped(asString(params.command) ?? ''),
      cwd: cwd ?? null,
      ...(params.kind === 'writeStdin' && { kind: params.kind }),
      ...((networkApprovalContext ?? null) !== null && { network: networkApprovalContext }),
    },
    summary: asString(reason),
    suggestions: proposedExecpolicyAmendment ?? null,
  }
}

/** The changes are those of the item that was started before. */
function fileChange({ itemId, reason, grantRoot }: JsonObject, state: CodexState): Question {
  const changes = state.open.find((item) => item.id === itemId)?.input ?? { changes: [] }
  const input = (grantRoot ?? null) === null ? changes : { ...asObject(changes), grantRoot }
  return { ...PLAIN, tool: 'fileChange', edits: true, input, summary: asString(reason) }
}

function permissions({ permissions: wanted, cwd, reason }: JsonObject): Question {
  return { ...PLAIN, tool: 'permissions', input: { permissions: wanted, cwd }, summary: asString(reason) }
}

function userInput({ questions }: JsonObject): Question {
  return { ...PLAIN, kind: 'question', tool: 'requestUserInput', input: { questions: asArray(questions) } }
}

/** A form without fields asks for a yes. */
function elicitation(params: JsonObject, state: CodexState): Question {
  const { serverName, message, requestedSchema, url, _meta: meta } = params
  const tool = `mcp__${asString(serverName) ?? 'unknown'}`
  const summary = asString(message)
  const { codex_approval_kind: about, tool_params: input } = asObject(meta)
  if (about === 'mcp_tool_call') return mcpCall(`${tool}__`, input ?? {}, summary, state)
  const fields = Object.entries(asObject(asObject(requestedSchema).properties))
  if (fields.length === 0) {
    return { ...PLAIN, tool, input: { message, ...(url !== undefined && { url }) }, summary }
  }
  const questions = fields.map(([id, field]) => {
    const { title, description, enum: choices } = asObject(field)
    const options = asArray(choices).map((label) => ({ label: String(label), description: '' }))
    return {
      id,
      header: asString(title) ?? id,
      question: asString(description) ?? asString(title) ?? id,
      options,
    }
  })
  return { ...PLAIN, kind: 'question', tool, input: { message, questions }, summary }
}

/** Before it calls a tool of an MCP server Codex asks in that server's name; which call it is, is for us to find out. */
function mcpCall(prefix: string, input: unknown, summary: string | null, state: CodexState): Question {
  const same = JSON.stringify(input)
  const calls = state.open.filter(({ tool }) => tool.startsWith(prefix))
  const call = calls.findLast((one) => JSON.stringify(one.input) === same) ?? calls.at(-1)
  return { ...PLAIN, tool: call?.tool ?? `${prefix}unknown`, input, callId: call?.id ?? null, summary }
}

/** Codex's form of a decision; null when there is nothing to tell, since it withdrew the question itself. */
export function answerTo(approval: Approval, decision: Decision): JsonObject | null {
  if (decision.behavior === 'cancelled') return null
  const { tool, kind, input } = approval
  const yes = isYes(decision)
  if (tool === 'requestUserInput')
    return { answers: yes || kind === 'question' ? chosen(input, decision) : {} }
  if (tool === 'permissions') return granted(input, decision, yes)
  if (tool.startsWith('mcp__')) return elicited(approval, decision, yes)
  // What passes from now on is a rule of Corral's: one that Codex kept itself could not be taken back.
  return { decision: yes ? 'accept' : 'decline' }
}

/** Codex runs what it asked about and nothing else: a yes to something else is a no. */
function isYes(decision: Decision): boolean {
  return decision.behavior === 'allow' && decision.input === undefined
}

function granted(input: unknown, decision: Decision, yes: boolean): JsonObject {
  const scope = decision.behavior === 'allow' && decision.forSession ? 'session' : 'turn'
  return { permissions: yes ? asObject(input).permissions : {}, scope }
}

function elicited({ kind, input }: Approval, decision: Decision, yes: boolean): JsonObject {
  if (kind !== 'question')
    return { action: yes ? 'accept' : 'decline', content: yes ? {} : null, _meta: null }
  if (decision.behavior !== 'allow' && decision.behavior !== 'respond') {
    return { action: 'decline', content: null, _meta: null }
  }
  const content = Object.fromEntries(answersOf(input, decision).map(([id, answer]) => [id, answer]))
  return { action: 'accept', content, _meta: null }
}

function chosen(input: unknown, decision: Decision): JsonObject {
  return Object.fromEntries(answersOf(input, decision).map(([id, answer]) => [id, { answers: [answer] }]))
}

/** By the id of each question. People answer by its words, or, when there is but one, in words of their own. */
function answersOf(input: unknown, decision: Decision): [string, string][] {
  const questions = asArray(asObject(input).questions).map(asObject)
  return questions.flatMap((question): [string, string][] => {
    const [id, words] = [asString(question.id) ?? '', asString(question.question) ?? '']
    const answer =
      decision.behavior === 'allow'
        ? (decision.answers?.[words] ?? decision.answers?.[id])
        : decision.behavior === 'respond' && questions.length === 1
          ? decision.text
          : undefined
    return answer === undefined ? [] : [[id, answer]]
  })
}
