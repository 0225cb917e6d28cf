import { isCompaction } from '../../core/compaction.ts'
import type { Content } from '../../core/content.ts'
import { CorralError } from '../../core/error.ts'
import type { Intent } from '../../core/ports.ts'
import type { Session } from '../../core/session.ts'
import { type EffortOption, setEffort } from './effort.ts'
import { changeMode, setModel } from './handshake.ts'
import { decided } from './permission.ts'
import type { AcpProfile } from './profile.ts'
import { idOf, mark, request } from './rpc.ts'
import type { AcpState } from './state.ts'

/** The stdin lines that carry an intent. */
export function encode(profile: AcpProfile, intent: Intent, session: Session, heard?: AcpState): string[] {
  const sessionId = session.nativeId ?? ''
  switch (intent.kind) {
    case 'prompt':
      return prompt(profile, intent, session, heard)
    // The protocol has one message per turn, and no tools of clients: both are refused before they get here.
    case 'steer':
    case 'retract':
    case 'result':
      return []
    case 'decision':
      return [decided(intent.approval, intent.decision)]
    case 'mode':
      return changeMode(profile, session, intent.mode, heard?.modes ?? [])
    case 'model':
      return intent.model === null
        ? [mark('default-model')]
        : [
            setModel(sessionId, intent.model, profile.oldModelMethod ?? false),
            // A message may follow at once, and another model begins with an effort of its own.
            ...(session.effort ? setEffort(sessionId, effortOption(profile, heard), session.effort) : []),
          ]
    case 'effort':
      return setEffort(sessionId, effortOption(profile, heard), intent.effort, heard?.ownEffort)
  }
}

/** Who takes up a process has not heard what can be chosen. */
function effortOption(profile: AcpProfile, heard?: AcpState): EffortOption | null {
  return heard?.sessionId ? heard.effort : (profile.effortOption ?? null)
}

/** The message between two marks: the first tells whose the answer is, the second that the message has been read. */
function prompt(
  profile: AcpProfile,
  { turnId, input }: Extract<Intent, { kind: 'prompt' }>,
  session: Session,
  heard?: AcpState,
): string[] {
  if (heard?.unplanned && session.mode === 'plan')
    throw new CorralError('unsupported', heard.unplanned.message)
  const compacts = profile.capabilities.compact && isCompaction(input)
  const fresh = session.turnCount <= 1 || heard?.untold
  const before = fresh && !compacts ? instructions(session) : []
  const params = { sessionId: session.nativeId ?? '', prompt: [...before, ...input].map(block) }
  return [
    mark('begin', turnId),
    ...(compacts ? [mark('compact')] : []),
    request(idOf('prompt', turnId), 'session/prompt', params),
    mark('accepted', turnId),
  ]
}

function block(part: Content): object {
  return part.type === 'text' ? part : { type: 'image', mimeType: part.mediaType, data: part.data }
}

/** The protocol has no system prompt: what is to be told beside the agent's own goes with the first message. */
function instructions({ settings }: Session): Content[] {
  const texts = [settings.appendSystemPrompt, settings.customInstructions].filter((text) => text)
  return texts.length === 0 ? [] : [{ type: 'text', text: `${texts.join('\n\n')}\n\n` }]
}
