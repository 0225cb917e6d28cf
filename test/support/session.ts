import { apply, type Session } from '../../src/core/session.ts'

/** A session as it is right after it was made, but for what the test needs otherwise. */
export function aSession(patch: Partial<Session> = {}): Session {
  const made = {
    agent: 'demo',
    cwd: '/project',
    mode: 'ask',
    model: null,
    title: null,
    settings: {},
  } as const
  const unset = { nativeId: null, parentId: null, forkFrom: null, origin: null }
  const event = {
    type: 'session.created',
    seq: 1,
    at: 0,
    sessionId: patch.id ?? 's1',
    ...made,
    ...unset,
  } as const
  return { ...apply(null, event), ...patch }
}
