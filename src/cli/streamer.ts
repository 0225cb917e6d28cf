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
}

/**
 * Turns events into running text: pieces as they come, and of a completed message only what has not been shown.
 * `waiting`: turns that were queued before the first event.
 */
export function createStreamer(paint: Cli['paint'], waiting: readonly TurnView[] = []): Streamer {
  const inputs = new Map<string, { input: Content[]; origin: string | null }>(
    waiting.map((turn) => [turn.id, turn]),
  )
  const shown = new Map<string, string>()
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
    const text = clean(event.text)
    return before + (event.kind === 'thinking' ? paint('dim', text) : text)
  }

  function completed(event: Event & { type: 'message.completed' }): string {
    const had = shown.get(event.messageId)
    shown.delete(event.messageId)
    if (had === undefined || open !== event.messageId || !event.text.startsWith(had)) {
      return leaveOpen() + item(event)
    }
    open = null
    return `${clean(event.text.slice(had.length))}${event.aborted ? paint('dim', ' (cut off)') : ''}\n`
  }

  function item(event: Event): string {
    const entry = historyItem(event, (turnId) => inputs.get(turnId) ?? { input: [], origin: null })
    return entry ? renderItem(entry, paint) : renderRemark(event, paint)
  }

  return {
    step(event) {
      if (event.type === 'message.delta') return delta(event)
      if (event.type === 'message.completed') return completed(event)
      if (event.type === 'turn.queued') inputs.set(event.turnId, { input: event.input, origin: event.origin })
      const text = item(event)
      if (event.type === 'turn.started' || event.type === 'turn.cancelled') inputs.delete(event.turnId)
      return text === '' ? '' : leaveOpen() + text
    },
  }
}
