import type { Content } from '../../core/content.ts'
import type { Intent } from '../../core/ports.ts'
import type { Session } from '../../core/session.ts'
import type { Steer } from '../../core/turn.ts'
import type { AgentDriver, Translator } from '../agent.ts'
import { asObject, type JsonObject } from '../json.ts'
import { answerTo } from './approval.ts'
import { detect } from './detect.ts'
import { plan, shared } from './launch.ts'
import { areGone, endCommands, removeFolders } from './leftovers.ts'
import { policyOf } from './mode.ts'
import { open } from './opening.ts'
import { type Purpose, refusal, request, response } from './rpc.ts'
import { signedIn } from './signed-in.ts'
import type { CodexState } from './state.ts'
import { codexTranslator } from './translator.ts'

export const codexDriver = {
  name: 'codex',
  title: 'Codex',
  capabilities: {
    streaming: true,
    thinking: true,
    approvals: true,
    images: true,
    resume: true,
    fork: true,
    cost: false,
    setModel: true,
    setMode: true,
    steer: true,
    editInput: false,
    denyComment: false,
    pause: false,
    survivesRestart: true,
  },
  detect,
  signedIn,
  plan,
  translator: codexTranslator as Translator<unknown>,
  handshake: true,
  answer,
  encode,
  /** Which turn of Codex's it is only its output tells: this asks the translator to see to it. */
  interrupt: (session) => read(session, 'interrupt'),
  barrier: (id, session) => read(session, 'barrier', id),
  /** It ends by a signal. */
  farewell: () => [],
  afterExit,
  shared,
} satisfies AgentDriver

/** A request that Codex answers after everything that it was told about the conversation before. */
function read(session: Session, purpose: Purpose, about?: string): string[] {
  const { nativeId: threadId } = session
  return threadId === null ? [] : [request(session, purpose, 'thread/read', { threadId }, about)]
}

/** Mode and model are told with the next message. */
function encode(intent: Intent, session: Session, heard?: unknown): string[] {
  if (intent.kind === 'prompt') return [prompt(session, intent.turnId, intent.input)]
  if (intent.kind === 'steer')
    return steer(session, intent.steer, (heard as CodexState | undefined)?.turn ?? null)
  if (intent.kind !== 'decision') return []
  const result = answerTo(intent.approval, intent.decision)
  return result ? [response(intent.approval.requestId, result)] : []
}

function prompt(session: Session, turnId: string, input: Content[]): string {
  const params = {
    threadId: session.nativeId,
    clientUserMessageId: turnId,
    input: input.map(inputItem),
    ...policyOf(session),
    ...(session.model !== null && { model: session.model }),
  }
  return request(session, 'turn', 'turn/start', params, turnId)
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

async function answer(asked: unknown, session: Session): Promise<string[]> {
  const { step, fresh, turn, requestId, method } = asObject(asked)
  const { nativeId: threadId } = session
  switch (step) {
    case 'open':
      return [open(session, fresh === true)]
    case 'stop':
      return [request(session, 'stop', 'turn/interrupt', { threadId, turnId: turn })]
    case 'clean':
      await tidy(session)
      return [request(session, 'clean', 'thread/backgroundTerminals/clean', { threadId })]
    case 'refuse':
      return [refusal(String(requestId), `Corral has no answer to ${String(method)}`)]
    default:
      return []
  }
}

async function tidy(session: Session): Promise<void> {
  if (session.nativeId !== null) await endCommands(session.nativeId)
  await removeFolders(writableIn(session), session.turn?.startedAt ?? session.activeAt)
}

/** What was killed takes a moment to go; a command that was spared needs the folders of its sandbox. */
async function afterExit(session: Session, since: number): Promise<void> {
  if (session.nativeId === null || !(await areGone(session.nativeId, 500))) return
  await removeFolders(writableIn(session), since)
}

function writableIn({ cwd, settings }: Session): string[] {
  return [cwd, ...(settings.additionalDirectories ?? [])]
}
