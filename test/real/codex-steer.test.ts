import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { EventType } from '../../src/core/event.ts'
import { codex } from './conformance/agents.ts'
import { type Of, type Rig, startRig, type Told } from './conformance/rig.ts'

describe('steering the real codex', { skip: codex.absent, concurrency: false }, () => {
  let rig: Rig
  before(async () => {
    rig = await startRig(codex)
  })
  after(() => rig?.close())

  const steer = (sessionId: string, text: string) =>
    rig.now.engine.turns.steer({ sessionId, input: [{ type: 'text', text }] })
  const all = <T extends EventType>(sessionId: string, type: T): Of<T>[] =>
    rig.now.engine.events
      .read({ sessionId, after: 0, types: [type], limit: 10_000 })
      .map(({ event }) => event as Of<T>)
  /** The turn that a steer became which came too late. */
  const late = (sessionId: string, turnId: string) => rig.told(sessionId, { turnId, seq: 1 })
  const taken = (sessionId: string) =>
    all(sessionId, 'turn.steer_accepted').map(({ steerId, turnId }) => [steerId, turnId])
  const lastWords = ({ end }: Told) => (end.type === 'turn.completed' ? end.text : end.type)

  async function asked(sessionId: string) {
    const sent = await rig.send(sessionId, '[[shell touch made.txt]]')
    const { approval } = await rig.next('approval.requested', sessionId, sent.seq)
    return { sent, approvalId: approval.id }
  }

  test('it cuts off what is being said, and the turn goes on with it', async () => {
    const id = await rig.session()
    const sent = await rig.send(id, '[[drip 200 40]]')
    await rig.next('message.delta', id, sent.seq)
    const { steerId, turnId } = await steer(id, '[[say steered]]')
    const told = await rig.told(id, sent)
    assert.equal(lastWords(told), 'steered')
    assert.deepEqual(taken(id), [[steerId, turnId]])
    assert.deepEqual(
      all(id, 'message.completed').map(({ aborted }) => aborted),
      [true, false],
    )
    const order = told.events.map((event) => event.type)
    assert.ok(order.indexOf('message.completed') < order.indexOf('turn.steer_accepted'), 'in their order')
    assert.equal(rig.now.engine.sessions.get(id).turnCount, 1)
  })

  test('an interrupt that comes before it is heard leaves it for the next turn', async () => {
    const id = await rig.session()
    const { sent } = await asked(id)
    const { steerId } = await steer(id, '[[say kept]]')
    await rig.interrupt(id)
    assert.equal((await rig.told(id, sent)).end.type, 'turn.interrupted')
    assert.equal(lastWords(await late(id, steerId)), 'kept')
    assert.deepEqual(taken(id), [])
  })

  test('after a crash it is heard once, by the same process', async () => {
    const id = await rig.session()
    const { sent, approvalId } = await asked(id)
    const { steerId } = await steer(id, '[[say once]]')
    await rig.restart()
    // Written, answered or neither: the next engine finds out before it writes.
    await rig.decide(approvalId, { behavior: 'allow' })
    await rig.told(id, sent)
    const own = all(id, 'turn.queued').filter((event) => event.late)
    if (own.length > 0) await late(id, steerId)
    assert.equal(taken(id).length + own.length, 1)
    const heard = rig.model.requests.at(-1)!.body as { input: { role?: string; content?: unknown }[] }
    const said = heard.input.filter(({ role, content }) => {
      return role === 'user' && JSON.stringify(content).includes('[[say once]]')
    })
    assert.equal(said.length, 1)
  })
})
