import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { connect } from '../../../src/client/client.ts'
import { crashSuite } from '../../support/crash.ts'
import { until } from '../../support/wait.ts'
import type { RealAgent } from './agent.ts'
import { count, isBackTo, marked } from './counts.ts'

/** A daemon of its own, in a process that can be killed. */
export function daemons({ driver: { name: agent }, home, steers }: RealAgent): void {
  let mark = ''
  let close = () => Promise.resolve()
  after(async () => {
    const left = marked(mark)
    await close()
    assert.deepEqual(left, [])
  })

  crashSuite({
    agent,
    rounds: 3,
    steers,
    async options() {
      const at = await home()
      mark = `HOME=${at.env['HOME']}`
      close = at.close
      return { env: at.env }
    },
    before({ daemon, client, turn }) {
      test(`${agent}: two clients that send at once get their own answers; then the daemon is as it was`, async () => {
        const now = () => count(daemon().pid, mark, join(daemon().corralHome, 'runs'))
        const before = now()
        const { id } = await client().call('session.create', { agent, cwd: daemon().project, mode: 'auto' })
        const other = await connect(daemon().socket)
        const names = ['one', 'two', 'three', 'four']
        const sent = await Promise.all(
          names.map((name, index) =>
            (index % 2 ? other : client()).call('session.send', {
              sessionId: id,
              content: `[[say ${name}]]`,
            }),
          ),
        )
        const texts = await Promise.all(sent.map((one) => turn(id, one)))
        assert.deepEqual(texts, names)
        other.close()
        await client().call('session.destroy', { sessionId: id })
        await until(
          () => isBackTo(before, now()),
          () => `${JSON.stringify(before)}, but it is ${JSON.stringify(now())}`,
        )
      })
    },
  })
}
