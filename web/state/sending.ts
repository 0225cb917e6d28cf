import { toast } from '../parts/toast.tsx'
import { type Attachment, contentOf } from './attachments.ts'
import type { OwnCommand } from './completion.ts'
import { client } from './connection.ts'
import { freshKey } from './fresh-key.ts'
import { wordsOf } from './session-actions.ts'

export interface Outgoing {
  sessionId: string
  text: string
  attachments: readonly Attachment[]
  /** While a turn runs: to that one, or after it. */
  busy: 'queue' | 'steer'
}

/** Sends a message; says whether it has gone. The key makes it safe that a lost connection sends it again. */
export async function sendMessage({ sessionId, text, attachments, busy }: Outgoing): Promise<boolean> {
  const content = attachments.length === 0 ? text : contentOf(text, attachments)
  const key = freshKey()
  try {
    await client().call('session.send', { sessionId, content, busy, key, origin: 'dashboard' })
    return true
  } catch (error) {
    toast(`The message was not sent: ${wordsOf(error)}`, { tone: 'bad' })
    return false
  }
}

/** Does what the dashboard itself can do; says whether it is done. */
export async function runOwn(sessionId: string, command: OwnCommand): Promise<boolean> {
  try {
    if (command.do === 'compact') {
      await client().call('session.compact', { sessionId, key: freshKey(), origin: 'dashboard' })
    } else {
      await client().call('session.configure', { sessionId, [command.do]: command.value })
    }
    return true
  } catch (error) {
    toast(`That could not be done: ${wordsOf(error)}`, { tone: 'bad' })
    return false
  }
}

/** The turn that is shown, and not one that has begun meanwhile. */
export function interruptSession(sessionId: string, turnId: string): void {
  client()
    .call('session.interrupt', { sessionId, turnId })
    .catch((error: unknown) => toast(`It could not be stopped: ${wordsOf(error)}`, { tone: 'bad' }))
}
