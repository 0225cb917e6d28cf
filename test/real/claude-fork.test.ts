import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { claudeAbsent } from '../support/claude-env.ts'
import { call, only, type Rig, startRig } from './rig.ts'

let rig: Rig

/** A session that was told to remember these, a turn each; the ids of the turns. */
async function remembering(...words: string[]): Promise<{ sessionId: string; turns: string[] }> {
  const sessionId = await rig.session()
  const turns: string[] = []
  for (const word of words) turns.push((await rig.turn(sessionId, `hello [[remember ${word}]]`)).turnId)
  return { sessionId, turns }
}

const fork = async (sessionId: string, turnId: string) =>
  (await rig.client.call('session.fork', { sessionId, turnId })).id

const recalled = async (sessionId: string) => (await rig.turn(sessionId, '[[recall]]')).text

/** What went to the model last, as text. */
const lastAsked = (): string => JSON.stringify(rig.model.requests.at(-1)?.body)

describe('branching off with the real claude', { skip: claudeAbsent }, () => {
  before(async () => {
    rig = await startRig()
  })
  after(() => rig.close())

  test('claude itself branches off after an earlier turn, and the model hears nothing of what came later', async () => {
    const { sessionId, turns } = await remembering('FIG', 'PLUM', 'LIME')
    const early = await fork(sessionId, turns[0]!)
    assert.equal(await recalled(early), 'recall: FIG')
    assert.ok(!/PLUM|LIME|earlier_conversation/.test(lastAsked()), lastAsked())
    const middle = await fork(sessionId, turns[1]!)
    assert.equal(await recalled(middle), 'recall: PLUM')
    assert.ok(!lastAsked().includes('LIME'))
    assert.equal(await recalled(sessionId), 'recall: LIME', 'the one that it branched off goes on')
    const [one, two] = [await rig.view(early), await rig.view(sessionId)]
    assert.notEqual(one.nativeId, two.nativeId)
  })

  test('a branch can be branched off again', async () => {
    const { sessionId, turns } = await remembering('FIG', 'PLUM')
    const branch = await fork(sessionId, turns[0]!)
    const { turnId } = await rig.turn(branch, 'hello [[remember PEAR]]')
    await rig.turn(branch, 'hello [[remember NUT]]')
    const again = await fork(branch, turnId)
    assert.equal(await recalled(again), 'recall: PEAR')
  })

  test('a turn that used tools is branched off after its answer', async () => {
    const sessionId = await rig.session()
    const used = await rig.turn(sessionId, '[[shell echo out-of-the-tool]]')
    await rig.turn(sessionId, 'hello [[remember PLUM]]')
    const branch = await fork(sessionId, used.turnId)
    assert.equal(await recalled(branch), 'recall: none')
    assert.ok(lastAsked().includes('out-of-the-tool') && !lastAsked().includes('PLUM'))
  })

  test('what claude has summed up it cannot branch off in: then it is told what was said', async () => {
    const { sessionId, turns } = await remembering('FIG', 'PLUM')
    const { turnId } = await rig.client.call('session.compact', { sessionId })
    const follower = rig.follow(sessionId)
    await follower.until('turn.completed', (event) => event.turnId === turnId)
    follower.close()
    const branch = await fork(sessionId, turns[0]!)
    const sent = await rig.send(branch, '[[recall]]')
    await sent.end('turn.completed')
    assert.ok(lastAsked().includes('[[remember FIG]]') && !lastAsked().includes('PLUM'), lastAsked())
    assert.ok(lastAsked().includes('earlier_conversation'))
    assert.equal(only(sent.seen, 'turn.retried').length, 1)
  })

  test('what a sub-agent has used is told when it is done', async () => {
    const sessionId = await rig.session()
    for (const prompt of ['[[say from below]]', '[[shell echo hi]]']) {
      const task = call('Task', { description: 'a part', prompt, subagent_type: 'general-purpose' })
      await rig.turn(sessionId, task)
    }
    const { agents } = await rig.client.call('subagents.list', { sessionId })
    assert.deepEqual(
      agents.map(({ title, kind, state, parent, calls }) => [title, kind, state, parent, calls]),
      [
        ['a part', 'general-purpose', 'done', null, 0],
        ['a part', 'general-purpose', 'done', null, 1],
      ],
    )
    const [spoke, worked] = agents.map(({ usage }) => usage!)
    assert.deepEqual([spoke!.modelCalls, worked!.modelCalls], [1, 2])
    assert.ok(spoke!.inputTokens > 0 && spoke!.outputTokens > 0 && spoke!.durationMs > 0)
  })
})
