import type { UserMessage } from '../../src/core/conversation/item.ts'
import { toast } from '../parts/toast.tsx'
import { client } from './connection.ts'
import { freshKey } from './fresh-key.ts'
import { wordsOf } from './session-actions.ts'

/* What can be done about messages that wait. The events that follow change what is shown, here and everywhere. */

function failed(what: string): (error: unknown) => void {
  return (error) => void toast(`${what}: ${wordsOf(error)}`, { tone: 'bad' })
}

/** 1 is the next to run. */
export function moveQueued(sessionId: string, turnId: string, position: number): void {
  client().call('queue.move', { sessionId, turnId, position }).catch(failed('It could not be moved'))
}

export function steerQueued(sessionId: string, turnId: string): void {
  client().call('queue.steer', { sessionId, turnId }).catch(failed('It could not be sent into the turn'))
}

/** Pictures stay with it. */
export async function editQueued(sessionId: string, message: UserMessage, text: string): Promise<boolean> {
  try {
    const { input } = await client().call('turn.get', { turnId: message.id })
    const others = input.filter((part) => part.type !== 'text')
    const content = [{ type: 'text' as const, text }, ...others]
    await client().call('queue.edit', { sessionId, turnId: message.id, content })
    return true
  } catch (error) {
    failed('It could not be changed')(error)
    return false
  }
}

/** Sent again, it goes to the end. */
export function removeQueued(sessionId: string, { id: turnId }: UserMessage): void {
  void client()
    .call('turn.get', { turnId })
    .then(async ({ input: content }) => {
      await client().call('queue.remove', { sessionId, turnId })
      const again = (): void => {
        const message = { sessionId, content, key: freshKey(), origin: 'dashboard' }
        client().call('session.send', message).catch(failed('It could not be sent again'))
      }
      toast('Taken out of the queue', { ms: 8000, action: { label: 'Undo', run: again } })
    })
    .catch(failed('It could not be taken out'))
}
