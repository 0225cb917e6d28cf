import type { SessionView } from '../../src/dialects/native/wire.ts'
import type { Api } from '../client/client.ts'
import { toast } from '../parts/toast.tsx'
import { client } from './connection.ts'
import { freshKey } from './fresh-key.ts'
import { go } from './router.ts'
import { wordsOf } from './session-actions.ts'

/* What is set about one session. */

type Settings = Omit<Api['session.configure']['params'], 'sessionId'>

function failed(what: string): (error: unknown) => void {
  return (error) => void toast(`${what}: ${wordsOf(error)}`, { tone: 'bad' })
}

export function configure({ id: sessionId }: SessionView, settings: Settings): void {
  client()
    .call('session.configure', { sessionId, ...settings })
    .catch(failed('That could not be set'))
}

/** An empty title leaves it to the daemon. */
export function rename(view: SessionView, title: string): void {
  if (title !== (view.title ?? '')) configure(view, { title: title === '' ? null : title })
}

export function pause({ id: sessionId }: SessionView, isPaused: boolean): void {
  client()
    .call(isPaused ? 'session.pause' : 'session.resume', { sessionId })
    .catch(failed(isPaused ? 'It could not be paused' : 'It could not go on'))
}

/** Goes on in a new session: as the conversation is now, or after one of its turns. */
export function fork(sessionId: string, turnId?: string): void {
  const place = turnId === undefined ? {} : { turnId }
  client()
    .call('session.fork', { sessionId, ...place, key: freshKey(), origin: 'dashboard' })
    .then(({ id }) => go({ page: 'session', id }), failed('It could not be forked'))
}
