import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { NativeClient } from '../../../src/client/client.ts'
import { openTranscript, prepend, visibleRows, type Transcript } from '../../../web/state/transcript.ts'
import { clientFor, daemonFor, demoSession, readTo, turn } from './support.ts'

/** What somebody sees who has opened all there is. */
function seen(transcript: Transcript) {
  return visibleRows(transcript, () => true).map(({ id, depth }) => ({ depth, ...transcript.rows.get(id)! }))
}

/** The whole conversation, read in parts of so many items. */
async function readIn(client: NativeClient, sessionId: string, limit: number): Promise<Transcript> {
  const newest = await client.call('conversation.read', { sessionId, limit })
  const transcript = openTranscript(newest)
  for (let { next } = newest; next !== null;) {
    const part = await client.call('conversation.read', { sessionId, before: next, limit })
    prepend(transcript, part, part.of !== sessionId)
    next = part.next
  }
  return transcript
}

async function stageFor(t: TestContext) {
  const daemon = await daemonFor(t)
  const client = await clientFor(t, daemon)
  const session = await demoSession(client, daemon)
  return { daemon, client, id: session.id }
}

const task = (prompt: string): string =>
  `[[call Task ${Buffer.from(JSON.stringify({ description: 'Look into it', prompt })).toString('base64')}]]`

test('parts of any size, put together, are the whole conversation', async (t) => {
  const { client, id } = await stageFor(t)
  for (const content of [
    'hello',
    '[[think about it]] [[say done]]',
    '[[shell ls]]',
    task('[[shell pwd]]'),
    '[[fail 500]]',
    'the end',
  ]) {
    const sent = await client.call('session.send', { sessionId: id, content })
    const stream = client.events({ after: sent.seq - 1, log: sent.log, sessionId: id })
    await readTo(stream, content.includes('fail') ? 'turn.failed' : 'turn.completed')
  }
  const whole = seen(await readIn(client, id, 2000))
  assert.ok(whole.length > 15)
  assert.ok(
    whole.some(({ depth }) => depth === 1),
    'a sub-agent has done something',
  )
  for (const limit of [1, 2, 3, 5, 8])
    assert.deepEqual(seen(await readIn(client, id, limit)), whole, `parts of ${limit}`)
})

test('an answer that is not complete is one event, and goes on with events.subscribe', async (t) => {
  const { client, id } = await stageFor(t)
  const sent = await client.call('session.send', { sessionId: id, content: '[[drip 60 10]]' })
  const stream = client.events({ after: sent.seq - 1, log: sent.log, sessionId: id })
  let pieces = 0
  for await (const event of stream) if (event.type === 'message.delta' && ++pieces === 10) break
  const part = await client.call('conversation.read', { sessionId: id })
  const streamed = part.events.filter((event) => event.type === 'message.delta')
  assert.equal(streamed.length, 1)
  const rest = client.events({ after: part.seq, log: part.log, sessionId: id })
  const later = await readTo(rest, 'turn.completed')
  const live = openTranscript({ ...part, events: [...part.events, ...later] })
  assert.deepEqual(seen(live), seen(await readIn(client, id, 100)))
})

test('outputs and long inputs are left out; events.read has them', async (t) => {
  const { client, id } = await stageFor(t)
  const events = await turn(client, id, `[[shell echo ${'long '.repeat(300)}]]`)
  const { events: told } = await client.call('conversation.read', { sessionId: id })
  const call = told.find((event) => event.type === 'tool.started')!
  const result = told.find((event) => event.type === 'tool.completed')!
  assert.ok(JSON.stringify(call).length < 1000)
  assert.equal(result.type === 'tool.completed' && result.output, '')
  const { events: whole } = await client.call('events.read', { after: result.seq - 1, limit: 1 })
  assert.deepEqual(
    whole[0],
    events.find((event) => event.type === 'tool.completed'),
  )
})

test('a question that waits is told whole, and the queue in its order', async (t) => {
  const daemon = await daemonFor(t)
  const client = await clientFor(t, daemon)
  const { id } = await demoSession(client, daemon, 'ask')
  const command = `echo ${'x'.repeat(3000)}`
  const sent = await client.call('session.send', { sessionId: id, content: `[[shell ${command}]]` })
  await readTo(client.events({ after: sent.seq - 1, log: sent.log, sessionId: id }), 'approval.requested')
  const first = await client.call('session.send', { sessionId: id, content: 'first' })
  const second = await client.call('session.send', { sessionId: id, content: 'second' })
  await client.call('queue.move', { sessionId: id, turnId: second.turnId, position: 1 })
  const part = await client.call('conversation.read', { sessionId: id, limit: 1 })
  const transcript = openTranscript(part)
  assert.deepEqual(transcript.queue, [second.turnId, first.turnId])
  const asked = [...transcript.rows.values()].flatMap((row) => (row.kind === 'call' ? row.questions : []))
  assert.equal(asked.length, 1)
  assert.deepEqual((asked[0]!.approval.input as { command: string }).command, command)
})

test('what a session branched off comes before its own, settled', async (t) => {
  const { client, id } = await stageFor(t)
  await turn(client, id, 'before the fork')
  const sent = await client.call('session.send', { sessionId: id, content: 'at the fork' })
  await readTo(client.events({ after: sent.seq - 1, log: sent.log, sessionId: id }), 'turn.completed')
  await turn(client, id, 'after the fork')
  const fork = await client.call('session.fork', { sessionId: id, turnId: sent.turnId })
  const empty = await client.call('conversation.read', { sessionId: fork.id })
  assert.equal(empty.of, fork.id)
  assert.deepEqual(
    empty.events.filter(({ type }) => type === 'turn.started'),
    [],
  )
  await turn(client, fork.id, 'in the fork')
  for (const limit of [1, 4, 100]) {
    const texts = seen(await readIn(client, fork.id, limit)).flatMap((row) =>
      row.kind === 'user' ? row.content.map((part) => (part.type === 'text' ? part.text : '')) : [],
    )
    assert.deepEqual(texts, ['before the fork', 'at the fork', 'in the fork'], `parts of ${limit}`)
  }
})
