import type { Change, Message } from '../core/conversation/item.ts'
import type { Event } from '../core/event.ts'
import { historyItem } from '../dialects/native/history.ts'
import type { Cli } from './cli.ts'
import { clean } from './format.ts'
import { renderItem, renderRemark, renderWait } from './render.ts'

export interface Streamer {
  /** The text that an event and what it changes in the conversation add to the screen. */
  tell(event: Event, changes: readonly Change[]): string
  /** A line that comes from no event. */
  remark(text: string): string
}

export interface StreamerOptions {
  /** The session was paused before the first event. */
  paused?: boolean
  /** The message with this key is already on the screen. */
  isOwn?(key: string): boolean
}

/** A conversation as running text: pieces as they come, and when a message is complete, only what was not shown yet. */
export function createStreamer(paint: Cli['paint'], options: StreamerOptions = {}): Streamer {
  /** Messages that are on the screen before their turns begin. */
  const own = new Set<string>()
  let paused = options.paused ?? false
  /** The message that the last line is in the middle of. */
  let open: string | null = null

  function leaveOpen(): string {
    if (open === null) return ''
    open = null
    return '\n'
  }

  function onLineOfItsOwn(text: string): string {
    return text === '' ? '' : leaveOpen() + text
  }

  function grew({ id, kind, parent }: Message, text: string): string {
    if (parent !== null) return ''
    const before = open === id ? '' : leaveOpen()
    open = id
    return before + piece(kind, text)
  }

  function piece(kind: Message['kind'], text: string): string {
    return kind === 'thinking' ? paint('dim', clean(text)) : clean(text)
  }

  function closed({ message, rest }: Change & { type: 'closed' }, whole: string): string {
    if (message.parent !== null || rest === message.text) return onLineOfItsOwn(whole)
    const goesOn = open === message.id
    if (!goesOn && rest === '') return ''
    const before = goesOn ? '' : leaveOpen()
    open = null
    const end = message.aborted ? paint('dim', ' (cut off)') : ''
    return `${before}${rest === '' ? '' : piece(message.kind, rest)}${end}\n`
  }

  function told(change: Change, event: Event): string {
    if (change.type === 'grew') return grew(change.message, change.piece)
    if (change.type === 'said' && own.delete(change.message.id)) return ''
    if (change.type === 'waits') {
      const { message, position } = change
      // A message that has to wait is shown again when it starts: by then it has scrolled away.
      if (message.key !== null && position === 0 && options.isOwn?.(message.key)) own.add(message.id)
    }
    const item = historyItem(change, event)
    const text = item ? renderItem(item, paint) : renderWait(change, paint, paused)
    return change.type === 'closed' ? closed(change, text) : onLineOfItsOwn(text)
  }

  return {
    tell(event, changes) {
      if (event.type === 'session.status') paused = event.status === 'paused'
      const texts = changes.map((change) => told(change, event))
      return texts.join('') + onLineOfItsOwn(renderRemark(event, paint))
    },
    remark: (text) => `${leaveOpen()}${paint('dim', `-- ${text}`)}\n`,
  }
}
