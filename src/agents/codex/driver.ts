import type { HeldCall } from '../../core/call.ts'
import { isCompaction } from '../../core/compaction.ts'
import type { Content } from '../../core/content.ts'
import type { Intent } from '../../core/ports.ts'
import type { Session } from '../../core/session.ts'
import type { Steer } from '../../core/turn.ts'
import type { AgentDriver, Translator } from '../agent.ts'
import { asArray, asObject, type JsonObject } from '../json.ts'
import { answerTo } from './approval.ts'
import { detect } from './detect.ts'
import { plan, shared, stop } from './launch.ts'
import { areGone, endCommands, marksOf, removeFolders } from './leftovers.ts'
import { guardOf, policyOf } from './mode.ts'
import { effortOf, listModels, ownEffort } from './models.ts'
import { open } from './opening.ts'
import { type Purpose, refusal, request, response } from './rpc.ts'
import { signedIn } from './signed-in.ts'
import type { CodexState } from './state.ts'
import { codexTranslator } from './translator.ts'
import { allowingRules } from './user-rules.ts'

export const codexDriver = {
  name: 'codex',
  title: 'Codex',
  unasked: {
    shell: {
      what: 'commands in `plan`, where they cannot write',
      such: ['ls', 'cat x', 'head x', 'grep x', 'rg x', 'find x', 'echo x', 'git status', 'pwd', 'env'],
    },
    read: { all: true, what: 'images; other files it reads with commands, and asks about those' },
    search: { all: true, what: 'searches in the web' },
    fetch: { what: 'pages that its search of the web opens' },
    mcp: { what: 'tools of servers that say of them that they only look, and resources' },
    other: { what: 'its own plans and goals' },
  },
  capabilities: {
    streaming: true,
    thinking: true,
    approvals: true,
    images: true,
    documents: false,
    resume: true,
    relocate: true,
    fork: true,
    cost: false,
    setModel: true,
    effort: true,
    setMode: true,
    steer: true,
    editInput: false,
    denyComment: false,
    pause: false,
    survivesRestart: true,
    clientTools: true,
    bare: false,
    compact: true,
  },
  detect,
  signedIn,
  plan,
  translator: codexTranslator as Translator<unknown>,
  handshake: true,
  serve: (env) => ({ answer: (request, session) => answer(request, session, env) }),
  encode,
  /** Which turn of Codex's it is only its output tells: this asks the translator to see to it. */
  interrupt: (session) => read(session, 'interrupt'),
  barrier: (id, session) => read(session, 'barrier', id),
  /** It ends by a signal. */
  farewell: () => [],
  afterExit,
  conversations: async () => (await import('./conversations.ts')).codexConversations,
  shared,
} satisfies AgentDriver

/** A request that Codex answers after everything that it was told about the conversation before. */
function read(session: Session, purpose: Purpose, about?: string): string[] {
  const { nativeId: threadId } = session
  return threadId === null ? [] : [request(session, purpose, 'thread/read', { threadId }, about)]
}

/** Mode, model and effort are told with the next message; the mode also now, since Codex may begin something by itself. */
function encode(intent: Intent, session: Session, given?: unknown): string[] {
  const heard = given as CodexState | undefined
  if (intent.kind === 'prompt') return prompt(session, intent.turnId, intent.input, heard)
  if (intent.kind === 'mode') return mode({ ...session, mode: intent.mode })
  if (intent.kind === 'steer') return steer(session, intent.steer, heard?.turn ?? null)
  if (intent.kind === 'effort') return intent.effort === null ? ownEffort(session, heard) : []
  if (intent.kind === 'result') return callResult(intent.call)
  if (intent.kind !== 'decision') return []
  const result = answerTo(intent.approval, intent.decision)
  return result ? [response(intent.approval.requestId, result)] : []
}

function callResult({ requestId, result }: HeldCall): string[] {
  if (!result) return []
  const contentItems = result.content.map((part) =>
    part.type === 'text'
      ? { type: 'inputText', text: part.text }
      : { type: 'inputImage', imageUrl: `data:${part.mediaType};base64,${part.data}` },
  )
  return [response(requestId, { contentItems, success: !result.isError })]
}

function mode(session: Session): string[] {
  if (session.nativeId === null) return []
  const params = { threadId: session.nativeId, ...policyOf(session) }
  return [request(session, 'mode', 'thread/settings/update', params, session.mode)]
}

function prompt(session: Session, turnId: string, input: Content[], heard?: CodexState): string[] {
  if (isCompaction(input)) {
    const params = { threadId: session.nativeId }
    return [request(session, 'compact', 'thread/compact/start', params, turnId)]
  }
  const guard = guardOf(session)
  const effort = effortOf(session, heard)
  const params = {
    threadId: session.nativeId,
    clientUserMessageId: turnId,
    input: input.map(inputItem),
    ...policyOf(session),
    ...(session.model !== null && { model: session.model }),
    ...(effort !== null && { effort }),
  }
  return [
    ...(guard ? [request(session, 'guard', 'thread/settings/update', guard)] : []),
    request(session, 'turn', 'turn/start', params, `${turnId}:${session.mode}`),
  ]
}

/**
 * Codex stops what it is saying and goes on with this in mind. It takes it only into the turn that is named here, and would
 * take the same message twice.
 */
function steer(session: Session, { id, input }: Steer, turn: CodexState['turn']): string[] {
  if (!turn || turn.ours !== session.turn?.id) return []
  const params = {
    threadId: session.nativeId,
    expectedTurnId: turn.id,
    clientUserMessageId: id,
    input: input.map(inputItem),
  }
  return [request(session, 'steer', 'turn/steer', params, id)]
}

function inputItem(part: Content): JsonObject {
  if (part.type === 'text') return { type: 'text', text: part.text, text_elements: [] }
  return { type: 'image', url: `data:${part.mediaType};base64,${part.data}` }
}

async function answer(asked: unknown, session: Session, env: NodeJS.ProcessEnv): Promise<string[]> {
  const { step, fresh, turn, requestId, method, ...rest } = asObject(asked)
  const { nativeId: threadId } = session
  const children = asArray(rest.children).map(String)
  switch (step) {
    case 'open':
      return [open(session, fresh === true, await allowingRules(env, session.cwd))]
    case 'models':
      return [listModels(session)]
    case 'children':
      return [request(session, 'children', 'thread/list', { ancestorThreadId: threadId, ...FROM_ITS_STATE })]
    case 'stop':
      return [
        request(session, 'stop', 'turn/interrupt', { threadId, turnId: turn }),
        ...children.map((child) => stop(session, child)),
      ]
    case 'clean':
      await tidy(session, children)
      return [request(session, 'clean', 'thread/backgroundTerminals/clean', { threadId })]
    case 'refuse':
      return [refusal(String(requestId), `Corral has no answer to ${String(method)}`)]
    default:
      return []
  }
}

/** Without looking through all the files in which conversations are kept. */
const FROM_ITS_STATE = { useStateDbOnly: true, limit: 100 }

async function tidy(session: Session, children: string[]): Promise<void> {
  const marks = marksOf(session, children)
  await endCommands(marks)
  const since = session.turn?.startedAt ?? session.activeAt
  await removeFolders(writableIn(session), { since, until: Date.now() }, marks)
}

/** What was killed takes a moment to go; a command that was spared needs the folders of its sandbox. */
async function afterExit(session: Session, processSince: number): Promise<void> {
  const marks = marksOf(session)
  if (session.nativeId === null || !(await areGone(marks, 500))) return
  const since = Math.max(processSince, timeOf(session.run?.id ?? ''))
  // What was made while nothing ran is not the sandbox's.
  const until = session.turn || session.destroyed ? Date.now() : session.activeAt
  await removeFolders(writableIn(session), { since, until }, marks)
}

/** When an id was given out: its process may be older than the session's part in it. */
function timeOf(id: string): number {
  const at = Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)
  return at <= Date.now() ? at : 0
}

function writableIn({ cwd, settings }: Session): string[] {
  return [cwd, ...(settings.additionalDirectories ?? [])]
}
