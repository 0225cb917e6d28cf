import { isCompaction } from '../../core/compaction.ts'
import type { Content } from '../../core/content.ts'
import { modeAfter } from '../../core/decide.ts'
import { CorralError } from '../../core/error.ts'
import { isLooser, type Mode } from '../../core/mode.ts'
import type { Intent } from '../../core/ports.ts'
import type { Session } from '../../core/session.ts'
import type { AgentDriver, Translator } from '../agent.ts'
import { judged } from '../signed-in.ts'
import { createClient } from './client.ts'
import { type EffortOption, setEffort } from './effort.ts'
import {
  greeting,
  open,
  openNew,
  placeOfMode,
  refuseUnsupported,
  setMode,
  setModel,
  settle,
} from './handshake.ts'
import { cancelled, decided } from './permission.ts'
import { type AcpProfile, modeOf, WORDLESS } from './profile.ts'
import type { AcpRequest } from './request.ts'
import { idOf, invalid, mark, notification, request } from './rpc.ts'
import type { AcpState } from './state.ts'
import { acpTranslator } from './translator.ts'

/** A driver for an agent that speaks the Agent Client Protocol over its pipes. */
export function acpDriver(profile: AcpProfile): AgentDriver {
  const { name, title } = profile
  const capabilities = { ...profile.capabilities, ...WORDLESS }
  const client = createClient(profile)

  async function answer(wanted: AcpRequest, session: Session, env: NodeJS.ProcessEnv): Promise<string[]> {
    switch (wanted.step) {
      case 'initialized':
        return [open(session, wanted.can)]
      case 'reopen':
        return [openNew(session, wanted.can)]
      case 'opened':
        await profile.opened?.(session, env)
        return [settle(profile, session, wanted.sessionId, wanted.choices)]
      case 'listen':
        return [mark('ready')]
      case 'mode':
        return [setMode(profile, session.nativeId ?? '', wanted.mode, wanted.place)]
      case 'model':
        return [setModel(session.nativeId ?? '', wanted.model, wanted.old)]
      case 'effort':
        return session.effort ? setEffort(session.nativeId ?? '', wanted.option, session.effort) : []
      case 'cancel':
        return [...wanted.ids.map(cancelled), ...wanted.calls.map((id) => invalid(id, 'Interrupted'))]
      case 'moved':
        return putBack(session, wanted.modeId, wanted.modes)
      case 'over':
        return [mark('over')]
      case 'stop':
        return stop(session)
      case 'refuse':
        return [invalid(wanted.id, wanted.message)]
      case 'call':
        return [await client.look(session, wanted)]
    }
  }

  /** By the name that it has for it; if it has not said which it has, all of them are tried. */
  function setModeTo({ nativeId }: Session, mode: Mode, offered: string[]): string[] {
    if (profile.modes[mode].length === 0) return []
    const place = offered.length === 0 ? 0 : placeOfMode(profile, mode, offered)
    return [setMode(profile, nativeId ?? '', mode, place)]
  }

  /** An agent that has taken more than it was given goes back to where the session is. */
  function putBack(session: Session, modeId: string, offered: string[]): string[] {
    const mode = modeOf(profile, modeId)
    const target = modeAfter(session, mode)
    const fine = profile.modes[target].includes(modeId) || !isLooser(mode, target)
    return fine ? [] : setModeTo(session, target, offered)
  }

  /** Who takes up a process has not heard what can be chosen. */
  function effortOption(heard: AcpState | undefined): EffortOption | null {
    return heard?.sessionId ? heard.effort : (profile.effortOption ?? null)
  }

  function encode(intent: Intent, session: Session, given?: unknown): string[] {
    const heard = given as AcpState | undefined
    const sessionId = session.nativeId ?? ''
    switch (intent.kind) {
      case 'prompt': {
        const { unplanned } = heard ?? {}
        if (unplanned && session.mode === 'plan') throw new CorralError('unsupported', unplanned.message)
        const compacts = capabilities.compact && isCompaction(intent.input)
        if (compacts) return prompt(sessionId, intent.turnId, intent.input, [mark('compact')])
        const fresh = session.turnCount <= 1 || heard?.untold
        const before = fresh ? instructions(session) : []
        return prompt(sessionId, intent.turnId, [...before, ...intent.input])
      }
      // The protocol has one message per turn, and no tools of clients: both are refused before they get here.
      case 'steer':
      case 'retract':
      case 'result':
        return []
      case 'decision':
        return [decided(intent.approval, intent.decision)]
      case 'mode':
        return setModeTo(session, intent.mode, heard?.modes ?? [])
      case 'model':
        return intent.model === null
          ? [mark('default-model')]
          : [
              setModel(sessionId, intent.model, profile.oldModelMethod ?? false),
              // A message may follow at once, and another model begins with an effort of its own.
              ...(session.effort ? setEffort(sessionId, effortOption(heard), session.effort) : []),
            ]
      case 'effort':
        return setEffort(sessionId, effortOption(heard), intent.effort, heard?.ownEffort)
    }
  }

  return {
    name,
    title,
    capabilities,
    unasked: profile.unasked,
    detect: profile.detect,
    signedIn: async (env) => profile.signedIn?.(env) ?? judged(profile.signIn, null),
    handshake: true,
    plan(session, detection, ids) {
      refuseUnsupported(profile, session)
      const launch = profile.launch(session, ids)
      return { command: detection.path ?? name, cwd: session.cwd, ...launch, greeting: [greeting(profile)] }
    },
    ...(profile.prepare && { prepare: profile.prepare }),
    ...(profile.unrecorded && { unrecorded: profile.unrecorded }),
    translator: acpTranslator(profile) as Translator<unknown>,
    answer: (wanted, session, env) => answer(wanted as AcpRequest, session, env),
    waits: (wanted) => (wanted as AcpRequest & { method?: string }).method === 'terminal/wait_for_exit',
    decline(given) {
      const wanted = given as AcpRequest
      return wanted.step === 'call' ? [invalid(wanted.id, 'Too many calls wait already')] : []
    },
    encode,
    carryOut({ approval, decision }, session, heard) {
      if (approval.suggestions !== null) return null
      return client.carryOut(session, approval, decision, heard as AcpState).then((line) => [line])
    },
    afterExit: async ({ id }) => client.drop(id),
    letGo: client.letGo,
    // Its open questions are answered when the mark comes back: an agent may wait for that before it stops.
    interrupt: (session) => (session.nativeId === null ? [] : [...stop(session), mark('cancel')]),
    barrier: (id) => [mark('barrier', id)],
    farewell: () => [],
  }
}

/** The message between two marks: the first tells whose the answer is, the second that the message has been read. */
function prompt(sessionId: string, turnId: string, input: Content[], more: string[] = []): string[] {
  return [
    mark('begin', turnId),
    ...more,
    request(idOf('prompt', turnId), 'session/prompt', { sessionId, prompt: input.map(block) }),
    mark('accepted', turnId),
  ]
}

function stop({ nativeId: sessionId }: Session): string[] {
  return [notification('session/cancel', { sessionId })]
}

function block(part: Content): object {
  return part.type === 'text' ? part : { type: 'image', mimeType: part.mediaType, data: part.data }
}

/** The protocol has no system prompt: what is to be told beside the agent's own goes with the first message. */
function instructions({ settings }: Session): Content[] {
  const texts = [settings.appendSystemPrompt, settings.customInstructions].filter((text) => text)
  return texts.length === 0 ? [] : [{ type: 'text', text: `${texts.join('\n\n')}\n\n` }]
}
