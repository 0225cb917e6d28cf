import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { connect, type Approval, type Corral } from '../../src/client/node.ts'
import type { TestDaemon } from '../support/daemon.ts'
import { until } from '../support/wait.ts'
import { cutting } from './cutting.ts'
import { corralFor, demo, lastingDaemon, WAYS } from './support.ts'

let daemon: TestDaemon
before(async () => {
  daemon = await lastingDaemon()
})
after(() => daemon.stop())

/** Has a session ask, and waits until it does. */
async function asking(corral: Corral, command: string) {
  const session = await demo(corral, daemon, 'ask')
  const turn = session.turn(`[[shell ${command}]]`)
  turn.catch(() => {})
  await until(async () => (await session.refresh()).openApprovals === 1)
  return { session, turn }
}

for (const way of WAYS) {
  describe(`approvals over ${way.name}`, () => {
    test('are those that wait, then each new one, once', async (t) => {
      const corral = await corralFor(t, way, daemon, { name: 'policy' })
      const before = await asking(corral, 'echo before')
      const seen: string[] = []
      let later: Awaited<ReturnType<typeof asking>> | null = null
      for await (const approval of corral.approvals()) {
        seen.push(String(approval.about.subjects[0]))
        const verdict = await approval.allow()
        assert.deepEqual([verdict.counted, verdict.by, verdict.decision.behavior], [true, 'policy', 'allow'])
        if (later) break
        later = await asking(corral, 'echo later')
      }
      assert.deepEqual(seen, ['echo before', 'echo later'])
      assert.match((await before.turn).text, /tool said/)
      assert.match((await later!.turn).text, /tool said/)
    })

    test('that somebody else answers are left out, or say whose answer counts', async (t) => {
      const corral = await corralFor(t, way, daemon, { name: 'slow' })
      const other = await corralFor(t, way, daemon, { name: 'quick' })
      const { session, turn } = await asking(corral, 'echo first')
      const approvals = session.approvals()[Symbol.asyncIterator]()
      const { value } = await approvals.next()
      const approval = value as Approval
      const settled = approval.settled()
      for await (const same of other.approvals({ sessionId: session.id })) {
        await same.deny('not that')
        break
      }
      const verdict = await approval.allow()
      const told = { decision: { behavior: 'deny', comment: 'not that' }, by: 'quick', counted: false }
      assert.deepEqual(verdict, told)
      assert.deepEqual(await settled, told)
      await turn
      // One that is answered before the reader comes to it never reaches it.
      const feed = session.events({ types: ['approval.resolved'] })
      await feed.ready
      const second = session.turn('[[shell echo second]]')
      for await (const same of other.approvals({ sessionId: session.id })) {
        await same.allow()
        break
      }
      await second
      for await (const _ of feed) break
      const third = session.turn('[[shell echo third]]')
      third.catch(() => {})
      const next = (await approvals.next()).value as Approval
      assert.equal(next.about.subjects[0], 'echo third')
      await next.allow()
      await third
      await approvals.return!(undefined)
    })

    test('go on over a restart of the daemon, and end with the client', async (t) => {
      const corral = await corralFor(t, way, daemon)
      const session = await demo(corral, daemon, 'ask')
      const seen: string[] = []
      const reading = (async () => {
        for await (const approval of session.approvals()) {
          seen.push(approval.id)
          await approval.allow()
        }
      })()
      await session.turn('[[shell echo one]]')
      await daemon.kill9()
      await daemon.restart()
      await session.turn('[[shell echo two]]')
      assert.equal(new Set(seen).size, 2)
      corral.close()
      await reading
    })
  })
}

test('an answer whose own answer is lost counts once', async (t) => {
  const socket = await cutting(t, daemon, 'approval.decide')
  const corral = await connect({ socket, name: 'unlucky' })
  t.after(() => corral.close())
  const { session, turn } = await asking(corral, 'echo lost')
  for await (const approval of session.approvals()) {
    const { counted, by, decision } = await approval.allow()
    assert.deepEqual([counted, by, decision.behavior], [true, 'unlucky', 'allow'])
    break
  }
  await turn
})

test('an iteration ends with its signal', async (t) => {
  const corral = await corralFor(t, WAYS[0]!, daemon)
  const stop = new AbortController()
  const reading = (async () => {
    for await (const _ of corral.approvals({ signal: stop.signal }));
  })()
  stop.abort()
  await reading
})
