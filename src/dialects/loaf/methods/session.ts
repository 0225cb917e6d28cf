import type { Content } from '../../../core/content.ts'
import { NOTHING, type Choice } from '../choices.ts'
import { Followed, type Context, type Methods } from '../context.ts'
import { asLoafError, codeOf, failure } from '../errors.ts'
import { imageInputs, loadImages, withPlaceholders, type Image, type ImageInput } from '../images.ts'
import { mentionedSkills } from '../mentions.ts'
import { AGENT_OF, nativeModel } from '../models.ts'
import { optionalParams, paramsOf } from '../params.ts'
import type { Room } from '../room.ts'
import { replay } from '../saved.ts'
import { stateChanged } from '../snapshot.ts'

const REPLAY_PAGE = 500
/** Longer titles are cut: no title is a reason not to begin. */
const TITLE_LIMIT = 500

async function roomOf(method: string, params: unknown, { rooms }: Context): Promise<Room> {
  return rooms.find(paramsOf(method, params).text('session_id'))
}

/** Makes the session on the agent of the model that is chosen; false when there is none. */
async function settle(room: Room, { choices, rooms, cwd }: Context): Promise<boolean> {
  const { provider, model, effort } = choices.selected(room.id)
  if (room.agent !== null) return true
  if (provider === null) return false
  await rooms.settle(room, { agent: AGENT_OF[provider], model: nativeModel(provider, model), effort, cwd })
  return true
}

/** The model and the level that were chosen, if the session's agent can take it: a session stays with its agent. */
async function applyChoice(room: Room, choice: Choice, { corral }: Context): Promise<void> {
  if (choice.provider === null) return
  const agent = AGENT_OF[choice.provider]
  if (agent !== room.agent) {
    const remark = `this session stays with ${room.agent}; new sessions use ${choice.provider}.`
    const { messages } = room.conversation.record
    if (!messages.some(({ text }) => text === remark)) room.say(room.conversation.remark(remark))
    return
  }
  const model = nativeModel(choice.provider, choice.model)
  const { effort } = choice
  const { chosen } = room
  const patch = { ...(model !== chosen.model && { model }), ...(effort !== chosen.effort && { effort }) }
  if (Object.keys(patch).length > 0) await corral.configure(room.id, patch)
}

interface Prompt {
  text: string
  images: ImageInput[]
  enqueue: boolean
}

async function send(room: Room, prompt: Prompt, context: Context): Promise<unknown> {
  if (prompt.text === '' && prompt.images.length === 0) {
    throw failure('session.send requires non-empty text or at least one image', 'invalid')
  }
  if (room.conversation.busy && !prompt.enqueue) throw busy()
  const { id } = room
  let images: Image[]
  let skills: Content[]
  try {
    skills = await mentionedSkills(prompt.text, context.cwd, context.home)
    images = await loadImages(prompt.text, prompt.images, context)
    if (!(await settle(room, context))) throw failure('select a model first', 'no_model')
    await applyChoice(room, context.choices.selected(id), context)
  } catch (error) {
    return refuse(room, error, context)
  }
  const key = context.newId()
  const content: Content[] = [
    { type: 'text', text: withPlaceholders(prompt.text, images.length) },
    ...skills,
    ...images.map((image) => image.content),
  ]
  room.conversation.name(
    key,
    images.map(({ path }) => path),
  )
  const stop = room.stopAt((event) => event.type === 'turn.queued' && event.key === key)
  try {
    room.used = true
    const whenBusy = prompt.enqueue ? 'queue' : 'refuse'
    const { turnId, position } = await context.corral.send(id, content, key, whenBusy)
    await stop.reached
    const result = { session_id: id, turn_id: turnId, accepted: true, queued: position > 0 }
    return new Followed(result, stop.release)
  } catch (error) {
    stop.release()
    throw codeOf(error) === 'conversation_busy' ? busy() : error
  }
}

/** The call is accepted, and what is wrong with it follows as events. */
function refuse(room: Room, error: unknown, { newId }: Context): unknown {
  const turnId = newId()
  const { message, data } = asLoafError(error)
  room.say(room.conversation.refused(turnId, message, String(data['kind'] ?? 'invalid')))
  return { session_id: room.id, turn_id: turnId, accepted: true, queued: false }
}

function busy(): Error {
  return failure('session is busy; use enqueue=true to queue the prompt', 'busy')
}

async function steer(room: Room, text: string, { corral, newId }: Context): Promise<object> {
  const answer = (accepted: boolean) => ({ session_id: room.id, accepted })
  if (room.agent === null) return answer(false)
  try {
    await corral.steer(room.id, [{ type: 'text', text }], newId())
    return answer(true)
  } catch (error) {
    if (codeOf(error) === 'not_running') return answer(false)
    if (codeOf(error) !== 'unsupported') throw error
    const reason = (error as Error).message
    room.say(room.conversation.remark(`${reason}; queue the message instead (enqueue).`))
    return { ...answer(false), reason }
  }
}

async function interrupt(room: Room, { corral }: Context): Promise<Followed> {
  const answer = (interrupted: boolean) => ({ session_id: room.id, interrupted })
  if (room.agent === null) return new Followed(answer(false), () => {})
  const stop = room.stopAt((event) => event.type === 'turn.interrupting')
  try {
    const interrupted = await corral.interrupt(room.id, false)
    if (interrupted) await stop.reached
    else stop.release()
    return new Followed(answer(interrupted), stop.release)
  } catch (error) {
    stop.release()
    throw error
  }
}

async function clearQueue(room: Room, { corral }: Context): Promise<number> {
  const waiting = [...room.conversation.queue]
  const gone = await Promise.all(waiting.map(({ id }) => corral.unqueue(room.id, id)))
  return gone.filter(Boolean).length
}

export const sessionMethods: Methods = {
  async 'session.create'(params, context) {
    const title =
      optionalParams('session.create', params).optionalText('title')?.slice(0, TITLE_LIMIT) ?? null
    const room = context.rooms.create(title)
    try {
      if (context.choices.selected() !== NOTHING) await settle(room, context)
    } catch (error) {
      // What is missing may be there, or another model chosen, when the first message comes.
      if (codeOf(error) !== 'agent_missing') {
        room.close()
        throw error
      }
    }
    await stateChanged(context, 'session_created', room.id)
    return { session_id: room.id, state: room.conversation.state(room.createdAt) }
  },
  async 'session.get'(params, context) {
    const room = await roomOf('session.get', params, context)
    return room.conversation.state(room.createdAt)
  },
  async 'session.send'(params, context) {
    const given = paramsOf('session.send', params)
    const sessionId = given.text('session_id')
    const text = given.optionalText('text') ?? ''
    const enqueue = given.optionalFlag('enqueue') ?? false
    const images = imageInputs(given.all['images'])
    return context.rooms.inTurn(sessionId, (room) => send(room, { text, images, enqueue }, context))
  },
  async 'session.steer'(params, context) {
    const given = paramsOf('session.steer', params)
    const sessionId = given.text('session_id')
    const text = given.text('text')
    return context.rooms.inTurn(sessionId, (room) => steer(room, text, context))
  },
  async 'session.interrupt'(params, context) {
    const sessionId = paramsOf('session.interrupt', params).text('session_id')
    return context.rooms.inTurn(sessionId, (room) => interrupt(room, context))
  },
  async 'session.queue.list'(params, context) {
    const room = await roomOf('session.queue.list', params, context)
    return { session_id: room.id, queue: [...room.conversation.queue] }
  },
  async 'session.queue.clear'(params, context) {
    const sessionId = paramsOf('session.queue.clear', params).text('session_id')
    const cleared = await context.rooms.inTurn(sessionId, (room) => clearQueue(room, context))
    return { session_id: sessionId, cleared_count: cleared }
  },
}

/** Beyond the original. */
export const moreSessionMethods: Methods = {
  async 'session.list'(params, { corral, rooms }) {
    const cursor = optionalParams('session.list', params).optionalText('cursor') ?? null
    const { sessions, next } = await corral.sessions(cursor)
    const open = new Set(rooms.all.map(({ id }) => id))
    return {
      sessions: sessions.map(({ id, agent, cwd, title, modelInUse: model, activeAt, turn }) => {
        const updatedAt = new Date(activeAt).toISOString()
        return { id, title, agent, model, cwd, updatedAt, pending: turn !== null, open: open.has(id) }
      }),
      next_cursor: next,
    }
  },
  async 'events.replay'(params, context) {
    const given = optionalParams('events.replay', params)
    const after = given.optionalNumber('after') ?? 0
    const limit = Math.max(1, Math.trunc(given.optionalNumber('limit') ?? REPLAY_PAGE))
    const sessionId = given.optionalText('session_id')
    if (sessionId !== undefined) {
      const { agent } = await context.rooms.find(sessionId)
      if (agent === null) return { session_id: sessionId, events: [], next: null }
      return replay(context, sessionId, after, limit)
    }
    const settled = context.rooms.all.filter(({ agent }) => agent !== null)
    const sessions = await Promise.all(settled.map(({ id }) => replay(context, id, after, limit)))
    return { sessions }
  },
}
