import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ConnectionLost, TurnFailed, TurnInterrupted, type Event } from '../../src/client/node.ts'
import type { TestDaemon } from '../support/daemon.ts'
import { until } from '../support/wait.ts'
import { corralFor, demo, lastingDaemon, WAYS } from './support.ts'

let daemon: TestDaemon
before(async () => {
  daemon = await lastingDaemon()
})
after(() => daemon.stop())

for (const way of WAYS) {
  describe(`a turn over ${way.name}`, () => {
    test('resolves with the answer, which is told piece by piece as it is written', async (t) => {
      const corral = await corralFor(t, way, daemon)
      const session = await demo(corral, daemon)
      const pieces: string[] = []
      const answer = await session.turn('[[drip 20 1]]', { onText: (piece) => pieces.push(piece) })
      assert.match(answer.text, /^w1 w2 .* w20$/)
      assert.equal(pieces.join(''), answer.text)
      assert.ok(pieces.length > 1)
      assert.ok(answer.usage.outputTokens > 0)
      const turn = await corral.call('turn.get', { turnId: answer.turnId })
      assert.deepEqual([turn.state, turn.text, turn.origin], ['completed', answer.text, 'client'])
    })

    test('that fails throws what the agent said about it', async (t) => {
      const session = await demo(await corralFor(t, way, daemon), daemon)
      await assert.rejects(session.turn('[[fail 500]]'), (error) => {
        assert.ok(error instanceof TurnFailed)
        assert.notEqual(error.code, '')
        assert.notEqual(error.remedy, '')
        return true
      })
      assert.equal((await session.turn('[[say still there]]')).text, 'still there')
    })

    test('is interrupted by a signal, and by somebody else', async (t) => {
      const corral = await corralFor(t, way, daemon)
      const session = await demo(corral, daemon)
      const stop = new AbortController()
      const onEvent = (event: Event): void => void (event.type === 'turn.accepted' && stop.abort('enough'))
      await assert.rejects(session.turn('[[hang]]', { signal: stop.signal, onEvent }), (reason) => {
        assert.equal(reason, 'enough')
        return true
      })
      const [turn] = (await corral.call('turn.list', { sessionId: session.id })).turns
      assert.equal(turn!.state, 'interrupted', 'the agent has stopped when the promise is rejected')
      const hanging = session.turn('[[hang]]', {
        onEvent: (event) => void (event.type === 'turn.accepted' && session.interrupt()),
      })
      await assert.rejects(hanging, TurnInterrupted)
      await assert.rejects(session.turn('never', { signal: AbortSignal.abort('before') }), (reason) => {
        return reason === 'before'
      })
      assert.equal((await corral.call('turn.list', { sessionId: session.id })).turns.length, 2)
    })

    test('that waits and is taken out of the queue says so', async (t) => {
      const corral = await corralFor(t, way, daemon)
      const session = await demo(corral, daemon)
      const first = session.turn('[[hang]]')
      const failed = assert.rejects(first, TurnInterrupted)
      await until(async () => (await session.refresh()).turn)
      const second = session.turn('[[say later]]')
      const cancelled = assert.rejects(
        second,
        (error) => error instanceof TurnInterrupted && error.code === 'cancelled',
      )
      await until(async () => (await session.refresh()).queued === 1)
      await corral.call('session.interrupt', { sessionId: session.id, clearQueue: true })
      await Promise.all([failed, cancelled])
    })

    test('is run once and resolves when the daemon is killed in the middle of it', async (t) => {
      const corral = await corralFor(t, way, daemon)
      const session = await demo(corral, daemon)
      const pieces: string[] = []
      const turn = session.turn('[[drip 30 100]]', { onText: (piece) => pieces.push(piece) })
      await until(() => pieces.length > 2)
      await daemon.kill9()
      const late = session.turn('[[say after the crash]]')
      await daemon.restart()
      const answer = await turn
      assert.match(answer.text, /^w1 .* w30$/)
      assert.equal(pieces.join(''), answer.text, 'no piece is missing, none is told twice')
      assert.equal((await late).text, 'after the crash', 'a message without a daemon waits for it')
      const { turns } = await corral.call('turn.list', { sessionId: session.id })
      assert.equal(turns.length, 2)
    })

    test('is rejected when the client is closed', async (t) => {
      const corral = await corralFor(t, way, daemon)
      const session = await demo(corral, daemon)
      const hanging = session.turn('[[hang]]', {
        onEvent: (event) => void (event.type === 'turn.accepted' && corral.close()),
      })
      await assert.rejects(hanging, (error) => error instanceof ConnectionLost && error.code === 'closed')
      await assert.rejects(session.refresh(), (error) => error instanceof ConnectionLost)
      const again = await corralFor(t, way, daemon)
      assert.equal((await again.sessions.get(session.id)).view.status, 'running', 'the session goes on')
      await again.call('session.interrupt', { sessionId: session.id })
    })
  })
}
