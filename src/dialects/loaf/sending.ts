import type { Content } from '../../core/content.ts'
import { Streaming } from '../../transports/jsonrpc.ts'
import type { Choice } from './choices.ts'
import { asLoafError, codeOf, failure } from './errors.ts'
import { loadImages, withPlaceholders, type Image, type ImageInput } from './images.ts'
import { mentionedSkills } from './mentions.ts'
import type { Context } from './method.ts'
import { AGENT_OF, nativeModel } from './models.ts'
import type { OpenSession } from './open-session.ts'

export interface Prompt {
  text: string
  images: ImageInput[]
  enqueue: boolean
}

export interface Sent {
  session_id: string
  turn_id: string
  accepted: true
  queued: boolean
}

/** Makes the session on the agent of the model that is chosen; false when there is none. */
export async function settle(
  session: OpenSession,
  { choices, sessions, cwd }: Pick<Context, 'choices' | 'sessions' | 'cwd'>,
): Promise<boolean> {
  const { provider, model, effort } = choices.selected(session.id)
  if (session.agent !== null) return true
  if (provider === null) return false
  const agent = AGENT_OF[provider]
  await sessions.settle(session, { agent, model: nativeModel(provider, model), effort, cwd })
  return true
}

export async function send(
  session: OpenSession,
  prompt: Prompt,
  context: Context,
): Promise<Sent | Streaming<Sent>> {
  if (prompt.text === '' && prompt.images.length === 0) {
    throw failure('session.send requires non-empty text or at least one image', 'invalid')
  }
  if (session.conversation.busy && !prompt.enqueue) throw busy()
  let message: Message
  try {
    message = await prepare(session, prompt, context)
  } catch (error) {
    return refuse(session, error, context)
  }
  const { id } = session
  const { content, paths } = message
  const key = context.newId()
  session.conversation.name(key, paths)
  const pause = session.pauseAt((event) => event.type === 'turn.queued' && event.key === key)
  try {
    session.used = true
    const whenBusy = prompt.enqueue ? 'queue' : 'refuse'
    const { turnId, position } = await context.corral.send(id, content, key, whenBusy)
    await pause.reached
    const sent: Sent = { session_id: id, turn_id: turnId, accepted: true, queued: position > 0 }
    return new Streaming(sent, pause.release)
  } catch (error) {
    pause.release()
    throw codeOf(error) === 'conversation_busy' ? busy() : error
  }
}

interface Message {
  content: Content[]
  /** The names of its images. */
  paths: string[]
}

/** The message as the agent gets it, when there is an agent that has the model that was chosen. */
async function prepare(session: OpenSession, prompt: Prompt, context: Context): Promise<Message> {
  const skills = await mentionedSkills(prompt.text, context.cwd, context.home)
  const images: Image[] = await loadImages(prompt.text, prompt.images, context)
  if (!(await settle(session, context))) throw failure('select a model first', 'no_model')
  await applyChoice(session, context.choices.selected(session.id), context)
  const text = withPlaceholders(prompt.text, images.length)
  const content: Content[] = [{ type: 'text', text }, ...skills, ...images.map((image) => image.content)]
  return { content, paths: images.map(({ path }) => path) }
}

/** The model and the level that were chosen, if the session's agent can take it: a session stays with its agent. */
async function applyChoice(session: OpenSession, choice: Choice, { corral }: Context): Promise<void> {
  if (choice.provider === null) return
  if (AGENT_OF[choice.provider] !== session.agent) {
    const remark = `this session stays with ${session.agent}; new sessions use ${choice.provider}.`
    const { messages } = session.conversation.record
    if (!messages.some(({ text }) => text === remark)) session.say(session.conversation.remark(remark))
    return
  }
  const model = nativeModel(choice.provider, choice.model)
  const { effort } = choice
  const { chosen } = session
  const patch = { ...(model !== chosen.model && { model }), ...(effort !== chosen.effort && { effort }) }
  if (Object.keys(patch).length > 0) await corral.configure(session.id, patch)
}

/** The request is accepted, and what is wrong with it follows as events. */
function refuse(session: OpenSession, error: unknown, { newId }: Context): Sent {
  const turnId = newId()
  const { message, data } = asLoafError(error)
  session.say(session.conversation.refused(turnId, message, String(data['kind'] ?? 'invalid')))
  return { session_id: session.id, turn_id: turnId, accepted: true, queued: false }
}

function busy(): Error {
  return failure('session is busy; use enqueue=true to queue the prompt', 'busy')
}
