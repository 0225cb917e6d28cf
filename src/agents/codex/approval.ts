import { isAbsolute, relative, resolve, sep } from 'node:path'
import type { About } from '../../core/about.ts'
import type { Approval, Decision } from '../../core/approval.ts'
import { asArray, asObject, asString, type JsonObject } from '../json.ts'
import { unwrapped } from './shell.ts'
import { nothing, remember, says, type Step } from '../step.ts'
import { type CodexState, MAX_REMEMBERED } from './state.ts'

/** What each kind of request says about its approval; `asked` adds the rest. */
type ApprovalDraft = Omit<Approval, 'id' | 'requestId' | 'parent'>

const PLAIN = {
  kind: 'tool',
  edits: false,
  callId: null,
  summary: null,
  suggestions: null,
} as const

const DRAFTS: Partial<Record<string, (params: JsonObject, state: CodexState) => ApprovalDraft>> = {
  'item/commandExecution/requestApproval': command,
  'item/fileChange/requestApproval': fileChange,
  'item/permissions/requestApproval': permissions,
  'item/tool/requestUserInput': userInput,
  'mcpServer/elicitation/request': elicitation,
}

/** A tool of the client's. */
function called(state: CodexState, requestId: string, params: JsonObject): Step<CodexState> {
  const callId = asString(params.callId) ?? requestId
  const tool = asString(params.tool) ?? 'unknown'
  return says(state, { type: 'call.asked', callId, requestId, tool, input: params.arguments ?? {} })
}

/** A request of Codex's. What nobody here can answer is refused: Codex would wait for ever. */
export function asked(
  state: CodexState,
  requestId: string,
  method: string,
  params: JsonObject,
  parent: string | null,
): Step<CodexState> {
  if (method === 'item/tool/call') return called(state, requestId, params)
  const draft = DRAFTS[method]?.(params, state)
  if (!draft) return says(state, { type: 'agent.request', request: { step: 'refuse', requestId, method } })
  const callId = draft.tool === NETWORK ? null : (asString(params.itemId) ?? draft.callId)
  const approval = { ...draft, requestId, callId, parent }
  const asked = remember(state.asked, { requestId, below: parent === null ? null : approval }, MAX_REMEMBERED)
  return says({ ...state, asked }, { type: 'approval.asked', approval })
}

/** Also said of what has been answered; the engine knows which is open. */
export function resolved(state: CodexState, id: unknown): Step<CodexState> {
  const requestId = JSON.stringify(id ?? null)
  const asked = state.asked.filter((one) => one.requestId !== requestId)
  if (asked.length === state.asked.length) return nothing(state)
  return says({ ...state, asked }, { type: 'approval.withdrawn', requestId })
}

/** Keys for a program that runs already: what it makes of them cannot be seen. */
const TYPED: About = { class: 'shell', subjects: [], partly: true }

function command(params: JsonObject): ApprovalDraft {
  const { reason, cwd, kind, proposedExecpolicyAmendment, networkApprovalContext } = params
  if ((networkApprovalContext ?? null) !== null) return network(asObject(networkApprovalContext), reason)
  const typed = kind === 'writeStdin'
  return {
    ...PLAIN,
    tool: 'command',
    input: {
      command: unwrapped(asString(params.command) ?? ''),
      cwd: cwd ?? null,
      ...(typed && { kind }),
    },
    ...(typed && { about: TYPED }),
    summary: asString(reason),
    suggestions: proposedExecpolicyAmendment ?? null,
  }
}

const NETWORK = 'network'

/** A command that runs wants to reach a host. Which command it is Codex does not say, nor what it wants there. */
function network({ host, protocol }: JsonObject, reason: unknown): ApprovalDraft {
  const about: About = { class: 'fetch', subjects: addressesOf(asString(host), asString(protocol)) }
  return { ...PLAIN, tool: NETWORK, about, input: { host, protocol }, summary: asString(reason) }
}

/** Through a SOCKS proxy anything may go: a refusal of any of these applies, and a permission needs all of them. */
function addressesOf(host: string | null, protocol: string | null): string[] {
  if (host === null) return []
  const name = host.includes(':') ? `[${host}]` : host
  const web = protocol === 'http' || protocol === 'https'
  return (web ? [protocol] : ['https', 'http', protocol ?? 'unknown']).map((scheme) => `${scheme}://${name}`)
}

/** The changes are those of the item that was started before. */
function fileChange({ itemId, reason, grantRoot }: JsonObject, state: CodexState): ApprovalDraft {
  const changes = state.open.find((item) => item.id === itemId)?.input ?? { changes: [] }
  const plain = (grantRoot ?? null) === null
  const input = plain ? changes : { ...asObject(changes), grantRoot }
  const paths = pathsOf(asObject(changes))
  const subjects = paths.filter((path) => path !== null)
  const told = plain && subjects.length === paths.length
  const about: About = { class: 'edit', subjects, ...(!told && { partly: true }) }
  const edits = told && staysWithin(state.roots, subjects)
  return { ...PLAIN, tool: 'fileChange', about, edits, input, summary: asString(reason) }
}

/** Every file that is touched; one that is moved is two. */
function pathsOf({ changes }: JsonObject): (string | null)[] {
  return asArray(changes).flatMap((change) => {
    const { path, to } = asObject(change)
    return (to === undefined ? [path] : [path, to]).map(asString)
  })
}

/** Codex's own sandbox keeps these from commands, too: who writes there decides what is run later. */
const PROTECTED: ReadonlySet<string> = new Set(['.git', '.codex', '.agents', '.aws'])

/** Every file that is changed lies where the session works. */
function staysWithin(roots: string[], paths: string[]): boolean {
  return paths.length > 0 && paths.every((path) => roots.some((root) => isWithin(root, path)))
}

function isWithin(root: string, path: string): boolean {
  const [first, ...rest] = relative(root, resolve(root, path)).split(sep)
  const outside = first === '..' || first === '' || isAbsolute(first!)
  return !outside && ![first!, ...rest].some((name) => PROTECTED.has(name))
}

/** Each asks for something else: a yes to one is none to the next. */
const EACH = { about: { class: 'other', subjects: [], partly: true } } satisfies { about: About }

function permissions({ permissions: wanted, cwd, reason }: JsonObject): ApprovalDraft {
  const input = { permissions: wanted, cwd }
  return { ...PLAIN, ...EACH, tool: 'permissions', input, summary: asString(reason) }
}

function userInput({ questions }: JsonObject): ApprovalDraft {
  return { ...PLAIN, kind: 'question', tool: 'requestUserInput', input: { questions: asArray(questions) } }
}

/** A form without fields asks for a yes. */
function elicitation(params: JsonObject, state: CodexState): ApprovalDraft {
  const { serverName, message, requestedSchema, url, _meta: meta } = params
  const tool = `mcp__${asString(serverName) ?? 'unknown'}`
  const summary = asString(message)
  const { codex_approval_kind: about, tool_params: input } = asObject(meta)
  if (about === 'mcp_tool_call') return mcpCall(`${tool}__`, input ?? {}, summary, state)
  const fields = Object.entries(asObject(asObject(requestedSchema).properties))
  if (fields.length === 0) {
    const about: About = { ...EACH.about, class: 'mcp' }
    return { ...PLAIN, tool, about, input: { message, ...(url !== undefined && { url }) }, summary }
  }
  const questions = fields.map(([id, field]) => {
    const { title, description, type, enum: choices, items } = asObject(field)
    const given = type === 'boolean' ? ['true', 'false'] : asArray(choices ?? asObject(items).enum)
    const options = given.map((label) => ({ label: String(label), description: '' }))
    return {
      id,
      header: asString(title) ?? id,
      question: asString(description) ?? asString(title) ?? id,
      options,
      ...(isTyped(type) && { type }),
    }
  })
  return { ...PLAIN, kind: 'question', tool, input: { message, questions }, summary }
}

/** Before it calls a tool of an MCP server Codex asks in that server's name; which call it is, is for us to find out. */
function mcpCall(prefix: string, input: unknown, summary: string | null, state: CodexState): ApprovalDraft {
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
  const types = new Map(
    asArray(asObject(input).questions).map((one) => [asObject(one).id, asObject(one).type]),
  )
  const answers = answersOf(input, decision)
  const content = Object.fromEntries(answers.map(([id, answer]) => [id, typed(types.get(id), answer)]))
  return { action: 'accept', content, _meta: null }
}

function isTyped(type: unknown): boolean {
  return type === 'number' || type === 'integer' || type === 'boolean' || type === 'array'
}

/** As the form wants it; what does not fit is passed on as it was said. */
function typed(type: unknown, answer: string): unknown {
  const said = answer.trim()
  if (type === 'boolean')
    return /^(?:true|yes)$/i.test(said) || (/^(?:false|no)$/i.test(said) ? false : answer)
  if (type === 'array') return said === '' ? [] : said.split(/\s*,\s*/)
  if (type !== 'number' && type !== 'integer') return answer
  return said === '' || Number.isNaN(Number(said)) ? answer : Number(said)
}

function chosen(input: unknown, decision: Decision): JsonObject {
  return Object.fromEntries(answersOf(input, decision).map(([id, answer]) => [id, { answers: [answer] }]))
}

/** By the id of each question. */
function answersOf(input: unknown, decision: Decision): [string, string][] {
  const questions = asArray(asObject(input).questions).map(asObject)
  const words = inWords(decision, questions.length)
  return questions.flatMap(({ id, question }): [string, string][] => {
    const given = decision.behavior === 'allow' ? decision.answers : undefined
    const answer = given?.[asString(question) ?? ''] ?? given?.[asString(id) ?? ''] ?? words
    return answer === undefined ? [] : [[asString(id) ?? '', answer]]
  })
}

/** People answer a question by its words, or, when there is but one, in words of their own; why there is no answer is for all. */
function inWords(decision: Decision, questions: number): string | undefined {
  if (decision.behavior === 'deny') return decision.comment || undefined
  return decision.behavior === 'respond' && questions === 1 ? decision.text : undefined
}
