import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { NativeError } from '../../src/client/client.ts'
import { claudeAbsent } from '../support/claude-env.ts'
import { claudeIn, only, type Rig, startRig } from './rig.ts'

describe('steering the real claude', { skip: claudeAbsent, concurrency: false }, () => {
  let rig: Rig
  before(async () => {
    rig = await startRig()
  })
  after(() => rig?.close())

  const steer = (sessionId: string, content: string, key?: string) =>
    rig.client.call('session.steer', { sessionId, content, ...(key === undefined ? {} : { key }) })

  /** A turn that waits for an answer about a command, so that there is another round of it. */
  async function asked(sessionId: string) {
    const sent = await rig.send(sessionId, '[[shell touch made.txt]]')
    const { approval } = await sent.until('approval.requested')
    return {
      sent,
      allow: () => rig.client.call('approval.decide', { approvalId: approval.id, behavior: 'allow' }),
    }
  }

  test('while a tool is on, it is in the next request of the same turn', async () => {
    const sessionId = await rig.session({ mode: 'ask' })
    const { sent, allow } = await asked(sessionId)
    const { steerId, turnId } = await steer(sessionId, '[[say steered]]')
    assert.equal(turnId, sent.turnId)
    await allow()
    const end = await sent.end('turn.completed')
    assert.equal(end.text, 'steered')
    const accepted = only(sent.seen, 'turn.steer_accepted')
    assert.deepEqual(
      accepted.map((event) => [event.steerId, event.turnId]),
      [[steerId, turnId]],
    )
    const order = sent.seen.map((event) => event.type)
    assert.ok(order.indexOf('tool.completed') < order.indexOf('turn.steer_accepted'))
    const { turnCount, steering, queued } = await rig.view(sessionId)
    assert.deepEqual([turnCount, steering, queued], [1, 0, 0])
    const { items } = await rig.client.call('history.read', { sessionId })
    assert.deepEqual(
      items.flatMap((item) => (item.kind === 'user' ? [item.content] : [])),
      [[{ type: 'text', text: '[[shell touch made.txt]]' }], [{ type: 'text', text: '[[say steered]]' }]],
    )
  })

  test('in the last words of a turn it is too late: they are the next turn, together, and run once', async () => {
    const sessionId = await rig.session()
    const sent = await rig.send(sessionId, '[[drip 25 40]]')
    await sent.until('message.delta')
    const waiting = await rig.client.call('session.send', { sessionId, content: '[[say waited]]' })
    const first = await steer(sessionId, 'one')
    const second = await steer(sessionId, '[[say two]]')
    const follower = rig.follow(sessionId, sent.seq - 1)
    await follower.until('turn.completed', (event) => event.turnId === waiting.turnId)
    follower.close()
    sent.close()
    const texts = only(follower.seen, 'message.completed').map(({ text }) => text)
    assert.deepEqual(texts.slice(1), ['two', 'waited'])
    assert.deepEqual(
      only(follower.seen, 'turn.started').map(({ turnId }) => turnId),
      [sent.turnId, first.steerId, waiting.turnId],
    )
    const [taken] = only(follower.seen, 'turn.steer_accepted')
    assert.deepEqual([taken!.steerId, taken!.turnId], [second.steerId, first.steerId])
    assert.equal(only(follower.seen, 'turn.completed').length, 3)
  })

  test('a message that waits is brought to the turn under its own id, as it was edited, and claude takes it once', async () => {
    const sessionId = await rig.session({ mode: 'ask' })
    const { sent, allow } = await asked(sessionId)
    const { turnId } = await rig.client.call('session.send', { sessionId, content: '[[say before]]' })
    await rig.client.call('queue.edit', { sessionId, turnId, content: '[[say after]]' })
    const { steerId } = await rig.client.call('queue.steer', { sessionId, turnId })
    assert.equal(steerId, turnId)
    await allow()
    assert.equal((await sent.end('turn.completed')).text, 'after')
    assert.deepEqual(
      only(sent.seen, 'turn.steer_accepted').map((event) => event.steerId),
      [turnId],
    )
    const { turnCount, steering, queued } = await rig.view(sessionId)
    assert.deepEqual([turnCount, steering, queued], [1, 0, 0])
  })

  test('a message that waits and comes too late as a steer is the next turn, once', async () => {
    const sessionId = await rig.session()
    const sent = await rig.send(sessionId, '[[drip 25 40]]')
    await sent.until('message.delta')
    const { turnId } = await rig.client.call('session.send', { sessionId, content: '[[say late]]' })
    await rig.client.call('queue.steer', { sessionId, turnId })
    const follower = rig.follow(sessionId, sent.seq - 1)
    await follower.until('turn.completed', (event) => event.turnId === turnId)
    follower.close()
    sent.close()
    const texts = only(follower.seen, 'message.completed').map(({ text }) => text)
    assert.deepEqual(texts.slice(1), ['late'])
    assert.deepEqual(
      only(follower.seen, 'turn.started').map((event) => event.turnId),
      [sent.turnId, turnId],
    )
  })

  test('a picture goes with it', async () => {
    const sessionId = await rig.session({ mode: 'ask' })
    const { sent, allow } = await asked(sessionId)
    const data =
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    await rig.client.call('session.steer', {
      sessionId,
      content: [
        { type: 'text', text: '[[attachments]]' },
        { type: 'image', mediaType: 'image/png', data },
      ],
    })
    await allow()
    assert.match((await sent.end('turn.completed')).text ?? '', /^attachments: 1 image\/png/)
  })

  test('an interrupt leaves it for the next turn, clearing the queue takes it back', async () => {
    const sessionId = await rig.session()
    const hanging = async () => {
      const sent = await rig.send(sessionId, '[[drip 500 50]]')
      await sent.until('message.delta')
      return sent
    }
    const one = await hanging()
    const { steerId } = await steer(sessionId, '[[say kept]]')
    const follower = rig.follow(sessionId, one.seq - 1)
    await rig.client.call('session.interrupt', { sessionId })
    const end = await follower.until('turn.completed', (event) => event.turnId === steerId)
    assert.equal(end.text, 'kept')
    follower.close()
    await one.end('turn.interrupted')
    const two = await hanging()
    const waiting = await rig.client.call('session.send', { sessionId, content: '[[say never]]' })
    const dropped = await steer(sessionId, '[[say dropped]]')
    const { cancelled } = await rig.client.call('session.interrupt', { sessionId, clearQueue: true })
    assert.deepEqual(cancelled, [dropped.steerId, waiting.turnId])
    await two.end('turn.interrupted')
    const after = await rig.send(sessionId, '[[say after]]')
    assert.equal((await after.end('turn.completed')).text, 'after')
    assert.deepEqual(only(two.seen, 'agent.notice'), [], 'nothing was refused')
    const bodies = rig.model.requests.map(({ body }) => JSON.stringify(body))
    assert.ok(!bodies.some((body) => body.includes('[[say dropped]]')), 'the model has not heard of it')
  })

  test('a claude that dies under it leaves it to the next one', async () => {
    const cwd = rig.directory()
    const sessionId = await rig.session({ mode: 'ask', cwd })
    const { sent } = await asked(sessionId)
    const { steerId } = await steer(sessionId, '[[say survived]]')
    process.kill(claudeIn(cwd).pid, 'SIGKILL')
    await sent.end('turn.failed')
    const follower = rig.follow(sessionId, sent.seq)
    const end = await follower.until('turn.completed', (event) => event.turnId === steerId)
    follower.close()
    assert.equal(end.text, 'survived')
  })

  test('without a turn it is refused', async () => {
    const sessionId = await rig.session()
    await assert.rejects(
      steer(sessionId, 'hi'),
      (error) => error instanceof NativeError && error.code === 'not_running',
    )
  })
})
