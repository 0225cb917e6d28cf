import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Event } from '../../src/core/event.ts'
import { codexAbsent } from '../support/codex-env.ts'
import { type CodexRig, decide, endOf, found, only, type Sent, startCodexRig } from './codex-rig.ts'

describe('steering the real codex', { skip: codexAbsent, concurrency: false }, () => {
  let rig: CodexRig
  before(async () => {
    rig = await startCodexRig()
  })
  after(() => rig?.close())

  const steer = (sessionId: string, text: string) =>
    rig.engine.engine.steer({ sessionId, input: [{ type: 'text', text }] })

  const eventsOf = (sessionId: string): Event[] =>
    rig.engine.engine.events({ sessionId, after: 0, limit: 10_000 }).map(({ event }) => event)

  /** The last words of a turn that was not sent but steered. */
  const lateEnd = (sessionId: string, turnId: string): Promise<string | null> =>
    found(
      () => {
        const end = only(eventsOf(sessionId), 'turn.completed').find((event) => event.turnId === turnId)
        return end ? { text: end.text } : null
      },
      () => `the end of ${turnId} after ${eventsOf(sessionId).map(({ type }) => type)}`,
    ).then(({ text }) => text)

  const taken = (sessionId: string) =>
    only(eventsOf(sessionId), 'turn.steer_accepted').map(({ steerId, turnId }) => [steerId, turnId])

  async function asked(sessionId: string): Promise<{ sent: Sent; approvalId: string }> {
    const sent = await rig.send(sessionId, '[[shell touch made.txt]]')
    return { sent, approvalId: (await sent.until('approval.requested')).approval.id }
  }

  test('it cuts off what is being said, and the turn goes on with it', async () => {
    const id = await rig.session()
    const sent = await rig.send(id, '[[drip 200 40]]')
    await sent.until('message.delta')
    const { steerId, turnId } = await steer(id, '[[say steered]]')
    const events = await sent.end()
    assert.equal(endOf(events), 'completed: steered')
    assert.deepEqual(taken(id), [[steerId, turnId]])
    const messages = only(events, 'message.completed')
    assert.deepEqual(
      messages.map(({ aborted }) => aborted),
      [true, false],
    )
    const order = events.map((event) => event.type)
    assert.ok(order.indexOf('message.completed') < order.indexOf('turn.steer_accepted'), 'in their order')
    assert.equal(rig.engine.engine.session(id).turnCount, 1)
  })

  test('while a command waits, it is heard after it', async () => {
    const id = await rig.session({ mode: 'ask' })
    const { sent, approvalId } = await asked(id)
    const { steerId } = await steer(id, '[[say steered]]')
    await decide(rig, approvalId, { behavior: 'allow' })
    const events = await sent.end()
    assert.equal(endOf(events), 'completed: steered')
    assert.deepEqual(taken(id), [[steerId, sent.turnId]])
  })

  test('an interrupt that comes before it is heard leaves it for the next turn', async () => {
    const id = await rig.session({ mode: 'ask' })
    const { sent } = await asked(id)
    const { steerId } = await steer(id, '[[say kept]]')
    await rig.engine.engine.interrupt({ sessionId: id })
    assert.equal(endOf(await sent.end()), 'interrupted')
    assert.equal(await lateEnd(id, steerId), 'kept')
    assert.deepEqual(taken(id), [])
  })

  test('after a crash it is heard once, by the same process', async () => {
    const id = await rig.session({ mode: 'ask' })
    const { sent, approvalId } = await asked(id)
    const { steerId } = await steer(id, '[[say once]]')
    await rig.restart()
    // Written, answered or neither: the next engine finds out before it writes.
    await decide(rig, approvalId, { behavior: 'allow' })
    await sent.end()
    const own = only(eventsOf(id), 'turn.queued').filter((event) => event.late)
    if (own.length > 0) await lateEnd(id, steerId)
    assert.equal(taken(id).length + own.length, 1)
    const heard = rig.model.requests.at(-1)!.body as { input: { role?: string; content?: unknown }[] }
    const said = heard.input.filter(({ role, content }) => {
      return role === 'user' && JSON.stringify(content).includes('[[say once]]')
    })
    assert.equal(said.length, 1)
  })
})
