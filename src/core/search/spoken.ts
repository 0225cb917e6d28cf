import { textOf } from '../content.ts'
import type { Event, EventType } from '../event.ts'

/** The events in which somebody says something: a user, or an agent that answers. Not what it thinks, nor what tools say. */
export const SPOKEN_TYPES: readonly EventType[] = ['turn.queued', 'turn.steer_accepted', 'message.completed']

export interface Spoken {
  role: 'user' | 'assistant'
  text: string
}

export function spokenIn(event: Event): Spoken | null {
  switch (event.type) {
    case 'turn.queued':
    case 'turn.edited':
    case 'turn.steer_accepted':
      return { role: 'user', text: textOf(event.input) }
    case 'message.completed':
      return event.kind === 'text' ? { role: 'assistant', text: event.text } : null
    default:
      return null
  }
}
