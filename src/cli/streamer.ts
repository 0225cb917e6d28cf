import type { Content } from '../core/content.ts'
import type { Event } from '../core/event.ts'
import { historyItem } from '../dialects/native/history.ts'
import type { TurnView } from '../dialects/native/wire.ts'
import type { Cli } from './cli.ts'
import { clean } from './format.ts'
import { renderItem, renderRemark } from './render.ts'

export interface Streamer {
  /** The text that this event adds to the screen. */
  step(event: Event): string
  /** A line that is no event's, on a line of its own. */
  remark(text: string): string
}

export interface StreamerOptions {
  /** Turns that were queued before the first event. */
  waiting?: readonly TurnView[]
  /** The session was paused before the first event. */
  paused?: boolean
  /** The message of this key stands on the screen already. */
  isOwn?(key: string): boolean
}

/** Turns events into running text: pieces as they come, and of a completed message only what has not been shown. */
export function createStreamer(paint: Cli['paint'], options: StreamerOptions = {}): Streamer {
  const inputs = new Map<string, { input: Content[]; origin: string | null }>(
    options.waiting?.map((turn) => [turn.id, turn]),
  )
  const own = new Set<string>()
  const shown = new Map<string, string>()
  let paused = options.paused ?? false
  let open: string | null = null

  function leaveOpen(): string {
    if (open === null) return ''
    open = null
    return '\n'
  }

  function delta(event: Event & { type: 'message.delta' }): string {
    if (event.parent !== null) return ''
    const before = open === event.messageId ? '' : leaveOpen()
    open = event.messageId
    shown.set(event.messageId, (shown.get(event.messageId) ?? '') + event.text)
    return before + piece(event.kind, event.text)
  }

  function piece(kind: 'text' | 'thinking', text: string): string {
    return kind === 'thinking' ? paint('dim', clean(text)) : clean(text)
  }

  function completed(event: Event & { type: 'message.completed' }): string {
    const had = shown.get(event.messageId)
    shown.delete(event.messageId)
    if (had === undefined || !event.text.startsWith(had)) return leaveOpen() + item(event)
    const rest = event.text.slice(had.length)
    const goesOn = open === event.messageId
    if (!goesOn && rest === '') return ''
    const before = goesOn ? '' : leaveOpen()
    open = null
    const end = event.aborted ? paint('dim', ' (cut off)') : ''
    return `${before}${rest === '' ? '' : piece(event.kind, rest)}${end}\n`
  }

  function queued(event: Event & { type: 'turn.queued' }): void {
    inputs.set(event.turnId, { input: event.input, origin: event.origin })
    // One that has to wait is shown when it starts: by then it is far up.
    if (event.key !== null && event.position === 0 && options.isOwn?.(event.key)) own.add(event.turnId)
  }

  function item(event: Event): string {
    if (event.type === 'turn.started' && own.delete(event.turnId)) return ''
    const entry = historyItem(event, (turnId) => inputs.get(turnId) ?? { input: [], origin: null })
    return entry ? renderItem(entry, paint) : renderRemark(event, paint, paused)
  }

  return {
    step(event) {
      if (event.type === 'message.delta') return delta(event)
      if (event.type === 'message.completed') return completed(event)
      if (event.type === 'turn.queued') queued(event)
      if (event.type === 'session.status') paused = event.status === 'paused'
      const text = item(event)
      if (event.type === 'turn.started' || event.type === 'turn.cancelled') inputs.delete(event.turnId)
      return text === '' ? '' : leaveOpen() + text
    },
    remark: (text) => `${leaveOpen()}${paint('dim', `-- ${text}`)}\n`,
  }
}
