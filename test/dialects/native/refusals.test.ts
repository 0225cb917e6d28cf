import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { connect, type MethodName, type NativeClient } from '../../../src/client/client.ts'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { refusal } from './support.ts'

let daemon: TestDaemon
let client: NativeClient

before(async () => {
  daemon = await startDaemon()
  client = await connect(daemon.socket)
})

after(async () => {
  client.close()
  await daemon.stop()
})

const refusals: [name: MethodName, params: unknown, code: string, field?: string][] = [
  ['session.create', { agent: 'nobody', cwd: '/' }, 'agent_unknown'],
  ['session.create', { agent: 'demo', cwd: '/does/not/exist' }, 'path_not_found'],
  ['session.create', { agent: 'demo', cwd: '/', mode: 'yolo' }, 'invalid', 'mode'],
  ['session.create', { agent: 'demo' }, 'invalid', 'cwd'],
  ['session.get', { sessionId: 'nope' }, 'session_not_found'],
  ['session.get', {}, 'invalid', 'sessionId'],
  ['session.send', { sessionId: 'nope', content: 'x' }, 'session_not_found'],
  ['session.send', { sessionId: 'nope', content: '' }, 'invalid', 'content'],
  ['session.send', { sessionId: 'nope', content: 'x', extra: 1 }, 'invalid', 'extra'],
  ['turn.get', { turnId: 'nope' }, 'turn_not_found'],
  ['approval.get', { approvalId: 'nope' }, 'approval_not_found'],
  ['approval.decide', { approvalId: 'nope', behavior: 'allow' }, 'approval_not_found'],
  ['approval.decide', { approvalId: 'nope', behavior: 'maybe' }, 'invalid', 'behavior'],
  ['approval.decide', { approvalId: 'nope', behavior: 'deny', input: {} }, 'invalid', 'input'],
  ['events.read', { after: 10 ** 12 }, 'cursor_reset'],
  ['events.read', { limit: 100_000 }, 'invalid', 'limit'],
  ['events.subscribe', { after: 0, log: 'another' }, 'cursor_reset'],
  ['events.subscribe', { types: ['no.such'] }, 'invalid', 'types.0'],
]

for (const [name, params, code, field] of refusals) {
  test(`${name} with ${JSON.stringify(params)} is refused as ${code}`, async () => {
    const error = await refusal(
      (client.call as (name: string, params: unknown) => Promise<unknown>)(name, params),
    )
    assert.equal(error.code, code)
    if (field !== undefined) assert.equal(error.data['field'], field)
  })
}
