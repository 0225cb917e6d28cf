import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentContext } from '@agentclientprotocol/sdk/unstable'
import { OpenSessions } from '../../../src/dialects/acp/open-sessions.ts'
import type { Corral, SessionView } from '../../../src/dialects/acp/port.ts'
import { arrival } from '../../support/wait.ts'

/*
 * An editor that closes a session which is being opened. The daemon is a stand-in that answers when it is told to.
 */

const SESSION: SessionView = {
  id: 's1',
  agent: 'demo',
  cwd: '/',
  title: null,
  mode: 'auto',
  model: null,
  modelInUse: null,
  activeAt: 0,
}
const CLOSED = { code: -32800, message: 'The session was closed' }
const EDITOR = { notify: async () => {} } as unknown as AgentContext

/** Its past never comes to an end: nobody gets to where the session is open. */
function endless() {
  const { promise: closed, resolve: close } = Promise.withResolvers<IteratorResult<never>>()
  return {
    [Symbol.asyncIterator]: () => ({ next: () => closed }),
    close: () => close({ done: true, value: undefined }),
  }
}

function sessionsOf(daemon: Partial<Corral>): OpenSessions {
  const corral = { models: async () => [], lastSeq: async () => 9, events: endless, ...daemon }
  return new OpenSessions(corral as unknown as Corral, () => 'key')
}

test('a session that is closed while its past is told: what would have opened it was cancelled', async () => {
  const reading = Promise.withResolvers<void>()
  const events = (): ReturnType<typeof endless> => {
    reading.resolve()
    return endless()
  }
  const sessions = sessionsOf({ events })
  const loaded = sessions.open(EDITOR, SESSION, 'tell')
  await arrival(reading.promise, 'its events are read')
  await Promise.all([assert.rejects(loaded, CLOSED), sessions.leave('s1')])
})

test('the same before there is anything to close', async () => {
  const models = Promise.withResolvers<[]>()
  const sessions = sessionsOf({ models: () => models.promise })
  const loaded = sessions.open(EDITOR, SESSION, 'tell')
  await sessions.leave('s1')
  models.resolve([])
  await assert.rejects(loaded, CLOSED)
})

test('a session that is loaded twice at a time is open for both', async () => {
  let reads = 0
  const events = () => (reads++ === 0 ? endless() : ended())
  const ended = () => ({
    async *[Symbol.asyncIterator]() {
      yield { type: 'session.status', seq: 9, sessionId: 's1', turnId: null, status: 'idle' } as never
      await new Promise(() => {})
    },
    close() {},
  })
  const sessions = sessionsOf({ events })
  const first = sessions.open(EDITOR, SESSION, 'tell')
  const second = sessions.open(EDITOR, SESSION, 'tell')
  const [one, other] = await arrival(Promise.all([first, second]), 'both are answered')
  assert.equal(one.session, other.session)
})
