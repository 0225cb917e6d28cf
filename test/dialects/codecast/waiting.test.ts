import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { askUntil } from '../../support/wait.ts'
import { create, type Json, result, send, textOf, types } from './client.ts'

let daemon: TestDaemon
let base = ''
before(async () => {
  daemon = await startDaemon()
  base = daemon.codecast
})
after(() => daemon.stop())

test('a question that nobody can answer here does not hold up the turn, in any mode', async () => {
  for (const mode of ['auto', 'ask']) {
    const sessionId = await create(base, daemon.project, { mode })
    const events = await (await send(base, sessionId, '[[ask Red or blue?]]')).rest()
    assert.deepEqual(types(events).slice(-2), ['result', '[DONE]'])
    assert.ok(!types(events).includes('error'), 'nobody is asked')
    assert.match(textOf(events), /Nobody can answer questions/)
  }
})

test('an approval that waits is told in words and for programs, once, with where to answer it', async () => {
  const sessionId = await create(base, daemon.project, { mode: 'ask' })
  const stream = await send(base, sessionId, '[[shell rm -rf build]]')
  const events = await stream.until('error')
  const [asked, words] = events.slice(-2)
  assert.equal(asked!['subtype'], 'approval_requested')
  const { tool, approvalId } = asked!['raw'] as Json
  assert.equal(tool, 'Shell')
  assert.equal(words!['code'], 'approval_waiting')
  assert.match(String(words!['message']), /waits for you to allow Shell: rm -rf build/)
  assert.ok(String(words!['message']).includes(`corral approve ${String(approvalId)}`))
  const { sessions } = await result<{ sessions: Json[] }>(base, 'session.list')
  assert.equal(sessions.find((session) => session['sessionId'] === sessionId)?.['status'], 'busy')
  assert.deepEqual(await result(base, 'session.interrupt', { sessionId }), { ok: true, interrupted: true })
  const rest = types(await stream.rest())
  assert.deepEqual([rest.slice(-2), rest.includes('error')], [['interrupted', '[DONE]'], false])
})

test('the words name all that a call is about, and the whole input of a tool that nobody knows', async () => {
  const words = async (tool: string, input: Json): Promise<string> => {
    const sessionId = await create(base, daemon.project, { mode: 'ask' })
    const encoded = Buffer.from(JSON.stringify(input)).toString('base64')
    const stream = await send(base, sessionId, `[[call ${tool} ${encoded}]]`)
    const { message } = (await stream.until('error')).at(-1)!
    await result(base, 'session.interrupt', { sessionId })
    await stream.rest()
    return String(message)
  }
  const moved = await words('Move', { path: 'notes.txt', destination: '/etc/passwd' })
  assert.match(moved, /allow Move: notes\.txt, \/etc\/passwd\n/)
  const queried = await words('mcp__db__run', { path: 'main.db', sql: 'DROP TABLE users' })
  assert.match(queried, /DROP TABLE users/)
})

test('an approval that waits is told in words to who comes back, once; one that was answered meanwhile is not', async () => {
  const sessionId = await create(base, daemon.project, { mode: 'ask' })
  const told = async (): Promise<number> => {
    const { bufferedEvents } = await result<{ bufferedEvents: Json[] }>(base, 'session.reconnect', {
      sessionId,
    })
    return bufferedEvents.filter((event) => event['code'] === 'approval_waiting').length
  }
  const cut = async (command: string): Promise<void> => {
    const stream = await send(base, sessionId, `[[shell ${command}]]`)
    await stream.until('error')
    stream.cut()
    await askUntil(
      () => result(base, 'session.queue_stats', { sessionId }),
      (stats) => stats['clientConnected'] === false,
    )
  }
  await cut('one')
  assert.deepEqual([await told(), await told()], [1, 0])
  await result(base, 'session.interrupt', { sessionId })
  await askUntil(
    async () => (await result<{ sessions: Json[] }>(base, 'session.list')).sessions,
    (all) => all.some((one) => one['sessionId'] === sessionId && one['status'] === 'idle'),
  )
  await cut('two')
  await result(base, 'session.set_mode', { sessionId, mode: 'auto' })
  assert.equal(await told(), 0)
})

test('with ids, what waits is told once over a stream that was cut and all that comes after it', async () => {
  const sessionId = await create(base, daemon.project, { mode: 'ask' })
  const stream = await send(base, sessionId, '[[shell once]]', { ids: true })
  const seen: Json[] = await stream.until('error')
  stream.cut()
  const reconnect = (): Promise<{ bufferedEvents: Json[] }> =>
    result(base, 'session.reconnect', { sessionId, after: stream.ids.at(-1)! })
  seen.push(...(await reconnect()).bufferedEvents)
  assert.equal(seen.filter((event) => event['code'] === 'approval_waiting').length, 1)
  assert.equal(seen.filter((event) => event['subtype'] === 'approval_requested').length, 1)
})
