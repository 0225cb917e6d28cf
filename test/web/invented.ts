import type { Event, EventBody } from '../../src/core/event.ts'
import { NO_USAGE } from '../../src/core/usage.ts'

type Random = (below: number) => number

/** What is under way in an invented session. */
interface Scene {
  turn: string | null
  queue: string[]
  calls: { id: string; parent: string | null; asked: string | null }[]
  messages: { id: string; parent: string | null; kind: 'text' | 'thinking'; text: string }[]
  steers: string[]
  last: number
}

type Act = (scene: Scene, random: Random) => EventBody[]

/** The events of a session that never was, as an agent could have made them: the same ones for the same seed. */
export function inventedEvents(random: Random, count: number): Event[] {
  const scene: Scene = { turn: null, queue: [], calls: [], messages: [], steers: [], last: 0 }
  const events: Event[] = []
  while (events.length < count) {
    const acts = scene.turn === null ? [asks, begins] : RUNNING
    const turnId = scene.turn
    for (const body of acts[random(acts.length)]!(scene, random)) {
      const seq = events.length + 1
      events.push({ turnId: turnId ?? scene.turn, seq, at: 1000 + seq * 10, sessionId: 's', ...body })
    }
  }
  return events
}

const asks: Act = (scene, random) => {
  const turnId = `t${++scene.last}`
  scene.queue.push(turnId)
  const position = scene.turn === null ? 0 : scene.queue.length
  const input = [{ type: 'text' as const, text: `please ${turnId} ${'x'.repeat(random(40))}` }]
  return [{ type: 'turn.queued', turnId, input, key: null, origin: 'test', position }]
}

const begins: Act = (scene) => {
  const turnId = scene.queue.shift()
  if (turnId === undefined) return []
  scene.turn = turnId
  return [{ type: 'turn.started', turnId }]
}

const speaks: Act = (scene, random) => {
  const open = scene.messages[random(scene.messages.length + 1)]
  const message = open ?? {
    id: `m${++scene.last}`,
    parent: parentIn(scene, random),
    kind: random(3) === 0 ? ('thinking' as const) : ('text' as const),
    text: '',
  }
  if (!open) scene.messages.push(message)
  const text = `piece ${++scene.last} `
  message.text += text
  const { id: messageId, kind, parent } = message
  return [{ type: 'message.delta', messageId, kind, text, parent }]
}

const finishes: Act = (scene, random) => {
  const [message] = scene.messages.splice(random(scene.messages.length), 1)
  if (!message) return [whole({ id: `m${++scene.last}`, parent: null, kind: 'text', text: 'at once' }, false)]
  return [whole(message, random(5) === 0)]
}

function whole(message: Scene['messages'][number], aborted: boolean): EventBody {
  const { id: messageId, kind, text, parent } = message
  return { type: 'message.completed', messageId, kind, text, parent, aborted }
}

const calls: Act = (scene, random) => {
  const waiting = scene.calls.find(({ asked }) => asked === 'unbegun')
  const id = waiting?.id ?? `c${++scene.last}`
  const parent = waiting ? waiting.parent : parentIn(scene, random)
  if (waiting) waiting.asked = null
  else scene.calls.push({ id, parent, asked: null })
  const input = { command: `make ${id}`, text: 'y'.repeat(random(1200)) }
  return [{ type: 'tool.started', callId: id, tool: 'shell', input, parent }]
}

const returns: Act = (scene, random) => {
  const at = scene.calls.findIndex(({ asked }) => asked === null)
  if (at < 0) return []
  const { id: callId, parent } = scene.calls[at]!
  if (random(4) > 0) scene.calls.splice(at, 1)
  const isError = random(4) === 0
  return [{ type: 'tool.completed', callId, output: 'z'.repeat(random(900)), isError, parent, cut: 0 }]
}

const questions: Act = (scene, random) => {
  const id = `a${++scene.last}`
  const open = random(3) > 0
  const known = scene.calls.find(({ asked }) => asked === null)
  const kinds = ['of a call', 'before a call', 'alone'] as const
  const kind = kinds[random(kinds.length)]!
  const parent = kind === 'of a call' ? (known?.parent ?? null) : parentIn(scene, random)
  const callId = kind === 'alone' ? null : kind === 'of a call' && known ? known.id : `c${++scene.last}`
  const approval = {
    id,
    requestId: id,
    kind: 'tool' as const,
    tool: 'shell',
    input: { command: id, text: 'q'.repeat(random(900)) },
    edits: false,
    callId,
    summary: null,
    suggestions: null,
    parent,
  }
  const asked: EventBody = {
    type: 'approval.requested',
    turnId: scene.turn,
    approval,
    open,
    external: false,
    timeoutAt: null,
  }
  if (!open) return [asked, resolution(id, random(2) === 0, false)]
  if (callId === null) scene.calls.push({ id, parent, asked: id })
  else if (known?.id === callId) known.asked = id
  else scene.calls.push({ id: callId, parent, asked: id })
  return [asked]
}

const answers: Act = (scene, random) => {
  const call = scene.calls.find(({ asked }) => asked !== null && asked !== 'unbegun')
  if (!call) return []
  const event = resolution(call.asked!, random(2) === 0, true)
  if (call.id === call.asked) scene.calls.splice(scene.calls.indexOf(call), 1)
  else call.asked = null
  return [event]
}

function resolution(approvalId: string, allowed: boolean, asked: boolean): EventBody {
  const decision = allowed ? ({ behavior: 'allow' } as const) : ({ behavior: 'deny', comment: 'no' } as const)
  return { type: 'approval.resolved', approvalId, decision, by: asked ? 'me' : 'rule', asked }
}

const steers: Act = (scene) => {
  const steerId = `s${++scene.last}`
  scene.steers.push(steerId)
  const input = [{ type: 'text' as const, text: `rather ${steerId}` }]
  return [{ type: 'turn.steered', turnId: scene.turn!, steerId, input, key: null, origin: 'test' }]
}

const takes: Act = (scene) => {
  const steerId = scene.steers.shift()
  if (steerId === undefined) return []
  const input = [{ type: 'text' as const, text: `rather ${steerId}` }]
  return [{ type: 'turn.steer_accepted', turnId: scene.turn!, steerId, input, origin: 'test' }]
}

const remarks: Act = (scene, random) => {
  const message = `notice ${++scene.last}`
  const notice: EventBody = {
    type: 'agent.notice',
    level: 'info',
    code: 'x',
    message,
    data: { deep: 'x'.repeat(50) },
  }
  const compacted = { tokensBefore: 10, tokensAfter: 1, window: null, error: null }
  const plan: EventBody = { type: 'agent.plan', entries: [{ text: message, state: 'active' }] }
  return [[notice, { type: 'agent.compacted' as const, ...compacted }, plan][random(3)]!]
}

const ends: Act = (scene, random) => {
  const turnId = scene.turn!
  const said = random(2) === 0 ? scene.messages.map((message) => whole(message, true)) : []
  const late = scene.steers.map((id): EventBody => {
    const input = [{ type: 'text' as const, text: `rather ${id}` }]
    return { type: 'turn.queued', turnId: id, input, key: null, origin: 'test', position: 1, late: true }
  })
  scene.queue.unshift(...scene.steers)
  Object.assign(scene, { turn: null, calls: [], messages: [], steers: [] })
  const usage = { ...NO_USAGE, outputTokens: random(100) }
  const end: EventBody =
    random(3) === 0
      ? { type: 'turn.interrupted', turnId, usage }
      : { type: 'turn.completed', turnId, usage, text: 'the last words' }
  return [...said, end, ...late]
}

const RUNNING: Act[] = [
  asks,
  speaks,
  speaks,
  speaks,
  speaks,
  finishes,
  finishes,
  calls,
  calls,
  calls,
  returns,
  returns,
  questions,
  answers,
  steers,
  takes,
  remarks,
  ends,
]

function parentIn(scene: Scene, random: Random): string | null {
  const running = scene.calls.filter(({ asked }) => asked === null)
  return random(3) === 0 ? (running[random(running.length)]?.id ?? null) : null
}
