import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { RealAgent } from './agent.ts'
import { type Rig, words } from './rig.ts'

export function turns({ driver }: RealAgent, rigOf: () => Rig): void {
  let rig: Rig
  let id: string
  before(async () => {
    rig = rigOf()
    id = await rig.session({ settings: { appendSystemPrompt: 'Speak of zebras.' } })
  })
  test('a turn tells its words, its usage and who answered, and nothing else', async () => {
    const from = rig.model.requests.length
    const { end, events, texts, notices } = await rig.turn(id, '[[drip 5 20]]')
    assert.ok(end.type === 'turn.completed')
    assert.deepEqual([texts, end.text, notices], [[words(5)], words(5), []])
    const { inputTokens, outputTokens, durationMs } = end.usage
    assert.ok(inputTokens > 0 && outputTokens > 0 && durationMs > 0, JSON.stringify(end.usage))
    assert.deepEqual(
      events.filter(({ type }) => type === 'agent.other'),
      [],
    )
    const { lastError, nativeId, usage, turnCount } = rig.now.engine.sessions.get(id)
    assert.ok(lastError === null && nativeId !== null)
    assert.ok(usage.inputTokens >= inputTokens && turnCount === 1)
    const init = await rig.next('agent.init', id)
    assert.ok(init.model && init.version, JSON.stringify(init))
    const requested = rig.model.requests.slice(from).map(({ body }) => JSON.stringify(body))
    assert.ok(requested.some((body) => body.includes('Speak of zebras.')))
  })

  test('a burst arrives whole, and once', async () => {
    const { texts } = await rig.turn(id, '[[burst 300 1000]]')
    assert.equal(texts.length, 1)
    assert.ok(texts[0] === 'x'.repeat(300_000), `${texts[0]!.length} characters`)
  })

  test('messages that come while it is busy are turns of their own, in order', async () => {
    const sent = await Promise.all(
      ['drip 5 30', 'say two', 'say three'].map((what) => rig.send(id, `[[${what}]]`)),
    )
    const told = []
    for (const one of sent) told.push((await rig.told(id, one)).texts.join())
    assert.deepEqual(told, [words(5), 'two', 'three'])
  })

  test('it stops in the middle of its text, and keeps what was said', async () => {
    const sent = await rig.send(id, '[[drip 2000 20]]')
    await rig.next('message.delta', id, sent.seq)
    await rig.interrupt(id)
    const told = await rig.told(id, sent)
    assert.equal(told.end.type, 'turn.interrupted')
    const half = told.events.find((event) => event.type === 'message.completed')
    assert.ok(half?.aborted)
    assert.match(half.text, /^w1\b/)
    await goesOn()
  })

  test('it stops while the model is silent, again and again', async () => {
    for (let round = 0; round < 3; round++) {
      const requested = rig.model.next()
      const sent = await rig.send(id, '[[hang]]')
      await requested
      await rig.interrupt(id)
      assert.equal((await rig.told(id, sent)).end.type, 'turn.interrupted')
    }
    await goesOn()
  })

  /** It was stopped by asking, not by a signal: the process is the same. */
  async function goesOn(): Promise<void> {
    const { texts, events } = await rig.turn(id, '[[say on]]')
    assert.deepEqual(texts, ['on'])
    assert.ok(!events.some(({ type }) => type === 'agent.started'), `another ${driver.title}`)
  }
}
