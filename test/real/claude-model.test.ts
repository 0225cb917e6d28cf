import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as codecast from '../dialects/codecast/client.ts'
import { claudeAbsent } from '../support/claude-env.ts'
import { startRig } from './rig.ts'

test(
  'the model that claude names is told, and a turn keeps the one that it ran with',
  { skip: claudeAbsent },
  async (t) => {
    const rig = await startRig()
    t.after(() => rig.close())
    const id = await rig.session()
    const inUse = async () => (await rig.view(id)).modelInUse
    assert.equal(await inUse(), null)
    await rig.turn(id, '[[say one]]')
    const own = await inUse()
    assert.match(own ?? '', /^claude-/)
    await rig.client.call('session.configure', { sessionId: id, model: 'haiku' })
    assert.equal(await inUse(), 'haiku')
    await rig.turn(id, '[[say two]]')
    const chosen = await inUse()
    assert.match(chosen ?? '', /^claude-.*haiku/, 'in claude’s own words')
    assert.notEqual(chosen, own)
    const { turns } = await rig.client.call('turn.list', { sessionId: id })
    assert.deepEqual(
      turns.map(({ agent, mode, model }) => [agent, mode, model]),
      [
        ['claude', 'auto', chosen],
        ['claude', 'auto', own],
      ],
    )
    const { sessions } = await codecast.result<{ sessions: codecast.Json[] }>(
      rig.daemon.codecast,
      'session.list',
    )
    assert.equal(sessions[0]!['model'], chosen)
  },
)
