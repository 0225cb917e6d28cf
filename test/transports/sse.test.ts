import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { after, test } from 'node:test'
import { createHttpApp } from '../../src/transports/http.ts'
import { createSseWriter, type SseOptions, type SseWriter } from '../../src/transports/sse.ts'
import { until } from '../support/wait.ts'

const app = createHttpApp()
let options: SseOptions = {}
let opened = Promise.withResolvers<SseWriter>()
app.route('GET', '/', ({ res }) => opened.resolve(createSseWriter(res, options)))
const listener = await app.listen({ host: '127.0.0.1', port: 0 })
after(() => app.close(0))

async function open(with_: SseOptions = {}): Promise<{ writer: SseWriter; res: IncomingMessage }> {
  options = with_
  opened = Promise.withResolvers()
  const [res] = (await once(get(listener.url, { agent: false }), 'response')) as [IncomingMessage]
  return { writer: await opened.promise, res }
}

async function text(res: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of res) parts.push(part as Buffer)
  return Buffer.concat(parts).toString('utf8')
}

test('the head says what it is, and is sent before the first event', async () => {
  const { writer, res } = await open()
  assert.equal(res.headers['content-type'], 'text/event-stream')
  assert.equal(res.headers['cache-control'], 'no-cache')
  assert.equal(res.headers['x-accel-buffering'], 'no')
  writer.end()
  assert.equal(await text(res), '')
})

test('events are framed, with an id where one is given, and the end is flushed', async () => {
  const { writer, res } = await open()
  writer.send('one')
  writer.send('two', 7)
  writer.end('[DONE]')
  assert.equal(writer.open, false)
  assert.equal(writer.send('late'), false)
  assert.equal(await text(res), 'data: one\n\nid: 7\ndata: two\n\ndata: [DONE]\n\n')
  assert.equal(await writer.finished, true)
})

test('what one tick brings is one write', async () => {
  const { writer, res } = await open()
  const chunks: string[] = []
  res.on('data', (chunk: Buffer) => chunks.push(chunk.toString()))
  for (let i = 0; i < 100; i++) writer.send(String(i))
  await once(res, 'data')
  assert.equal(chunks[0]?.match(/data: /g)?.length, 100)
  writer.end()
  await once(res, 'end')
})

test('pings come by themselves until the end', async () => {
  const { writer, res } = await open({ ping: { data: 'ping', everyMs: 5 } })
  let seen = ''
  while (!seen.includes('data: ping\n\ndata: ping\n\n')) seen += String((await once(res, 'data'))[0])
  writer.end('bye')
  assert.ok((await text(res)).endsWith('data: bye\n\n'))
})

test('frames of any kind go out as they are, as pings too', async () => {
  const { writer, res } = await open({ ping: { frame: ': alive\n\n', everyMs: 5 } })
  writer.write('event: named\nid: 1\ndata: one\n\n')
  const wanted = [': alive\n\n', 'event: named\nid: 1\ndata: one\n\n']
  let seen = ''
  while (!wanted.every((frame) => seen.includes(frame))) seen += String((await once(res, 'data'))[0])
  writer.end()
  assert.equal(writer.write('late'), false)
  await text(res)
})

test('a client that leaves is noticed and is not complete', async () => {
  const closed = Promise.withResolvers<boolean>()
  const { writer, res } = await open({ onSettled: closed.resolve })
  res.destroy()
  assert.equal(await closed.promise, false)
  assert.equal(await writer.finished, false)
  assert.equal(writer.open, false)
})

test('a slow reader stops the sender at the bound, and goes on where it was', async () => {
  const maxBacklog = 200_000
  const event = 'x'.repeat(10_000)
  const total = 2_000
  let drains = 0
  let sent = 0
  let high = 0
  function pump(): void {
    while (sent < total) {
      sent++
      if (!writer.send(event)) break
    }
    high = Math.max(high, sent)
    if (sent === total) writer.end('[DONE]')
  }
  const { writer, res } = await open({
    maxBacklog,
    onDrain() {
      drains++
      pump()
    },
  })
  res.pause()
  pump()
  // Nobody reads: the kernel's buffers fill, then nothing more is taken.
  await until(async () => {
    const before = sent
    await new Promise((resolve) => setTimeout(resolve, 20))
    return sent === before
  }, 'nothing more is taken')
  assert.ok(sent < total, 'the sender was stopped')
  const body = await text(res)
  assert.equal(body.match(/data: x/g)?.length, total)
  assert.ok(body.endsWith('data: [DONE]\n\n'))
  assert.ok(drains > 1)
  assert.equal(await writer.finished, true)
})
