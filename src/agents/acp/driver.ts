import type { Content } from '../../core/content.ts'
import type { Intent } from '../../core/ports.ts'
import type { Session } from '../../core/session.ts'
import type { AgentDriver, Translator } from '../agent.ts'
import { judged } from '../signed-in.ts'
import { createClient } from './client.ts'
import { greeting, open, openNew, refuseUnsupported, setMode, setModel, settle } from './handshake.ts'
import { cancelled, decided } from './permission.ts'
import { type AcpProfile, WORDLESS } from './profile.ts'
import type { AcpRequest } from './request.ts'
import { idOf, mark, notification, request } from './rpc.ts'
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
      case 'cancel':
        return wanted.ids.map(cancelled)
      case 'call':
        return [await client(session, wanted)]
    }
  }

  function encode(intent: Intent, session: Session): string[] {
    const sessionId = session.nativeId ?? ''
    switch (intent.kind) {
      case 'prompt':
        return prompt(sessionId, intent.turnId, [...instructions(session), ...intent.input])
      // The protocol has one message per turn; `steer: false` refuses others before they get here.
      case 'steer':
      case 'retract':
        return []
      case 'decision':
        return [decided(intent.approval, intent.decision)]
      case 'mode':
        return profile.modes[intent.mode].length > 0 ? [setMode(profile, sessionId, intent.mode, 0)] : []
      case 'model':
        return intent.model === null
          ? [mark('default-model')]
          : [setModel(sessionId, intent.model, profile.oldModelMethod ?? false)]
    }
  }

  return {
    name,
    title,
    capabilities,
    detect: profile.detect,
    signedIn: async (env) => profile.signedIn?.(env) ?? judged(profile.signIn, null),
    handshake: true,
    plan(session, detection, ids) {
      refuseUnsupported(profile, session)
      const launch = profile.launch(session, ids)
      return { command: detection.path ?? name, cwd: session.cwd, ...launch, greeting: [greeting(profile)] }
    },
    ...(profile.prepare && { prepare: profile.prepare }),
    translator: acpTranslator(profile) as Translator<unknown>,
    answer: (wanted, session, env) => answer(wanted as AcpRequest, session, env),
    encode,
    // Its open questions are answered when the mark comes back: an agent may wait for that before it stops.
    interrupt: ({ nativeId: sessionId }) =>
      sessionId === null ? [] : [notification('session/cancel', { sessionId }), mark('cancel')],
    barrier: (id) => [mark('barrier', id)],
    farewell: () => [],
  }
}

/** The message between two marks: the first tells whose the answer is, the second that the message has been read. */
function prompt(sessionId: string, turnId: string, input: Content[]): string[] {
  return [
    mark('begin', turnId),
    request(idOf('prompt', turnId), 'session/prompt', { sessionId, prompt: input.map(block) }),
    mark('accepted', turnId),
  ]
}

function block(part: Content): object {
  return part.type === 'text' ? part : { type: 'image', mimeType: part.mediaType, data: part.data }
}

/** The protocol has no system prompt: what is to be told beside the agent's own goes with the first message. */
function instructions({ settings, turnCount }: Session): Content[] {
  if (turnCount > 1) return []
  const texts = [settings.appendSystemPrompt, settings.customInstructions].filter((text) => text)
  return texts.length === 0 ? [] : [{ type: 'text', text: `${texts.join('\n\n')}\n\n` }]
}
