import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rigFor, type Json, type Push } from './support.ts'

const b64 = (text: string): string => Buffer.from(text).toString('base64')

function short({ method, params }: Push): string {
  const { status, toolCall, message } = params as { status?: string; toolCall?: Json; message?: Json }
  const about = message
    ? `${message['role']} ${message['status']}`
    : toolCall
      ? `${toolCall['name']} ${toolCall['status']}`
      : status
  return `${method.split('.')[1]} ${String(about)}`
}

test('the answer, then the user’s message, running, the reply as it grows, done, idle', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  const sessionId = await rig.session(client)
  const from = client.frames.length
  const pushes = await client.turn(sessionId, '[[drip 5 80]]')
  const frames = client.frames.slice(from)
  assert.equal((frames[0]!['result'] as Json)['role'], 'user', 'the answer comes before its own pushes')
  assert.equal((frames[0]!['result'] as Json)['status'], 'done')
  assert.deepEqual(pushes.slice(0, 2).map(short), ['messageCreated user done', 'statusChanged running'])
  assert.equal(short(pushes[2]!), 'messageCreated assistant streaming')
  assert.equal((pushes[2]!.params['message'] as Json)['content'], '', 'it begins empty')
  const updates = pushes.slice(3, -1)
  for (const update of updates.slice(0, -1)) assert.equal(short(update), 'messageUpdated streaming')
  assert.equal(short(updates.at(-1)!), 'messageUpdated done')
  assert.equal(short(pushes.at(-1)!), 'statusChanged idle')
  const texts = updates.map(({ params }) => params['content'] as string)
  for (const [index, text] of texts.entries()) assert.ok(index === 0 || text.startsWith(texts[index - 1]!))
  assert.equal(texts.at(-1), 'w1 w2 w3 w4 w5')
  for (const { params } of pushes) {
    assert.equal(params['sessionId'], sessionId)
    assert.equal(params['session_id'], sessionId)
  }
  const seqs = pushes.map(({ params }) => params['seq'] as number)
  assert.deepEqual(
    seqs,
    seqs.toSorted((a, b) => a - b),
  )
})

test('tools: the message is done, the call runs, the next text is another message', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  const sessionId = await rig.session(client)
  const script = `[[saycall ${b64('let me see')} Bash ${b64('{"command":"echo 42"}')}]]`
  const pushes = await client.turn(sessionId, script)
  const told = pushes.map(short)
  const created = told.indexOf('toolCallCreated Bash running')
  assert.ok(created > told.indexOf('messageUpdated done'))
  const done = pushes.findIndex(
    ({ method, params }) => method === 'session.toolCallUpdated' && params['status'] === 'done',
  )
  assert.ok(done > created)
  const call = pushes[created]!.params['toolCall'] as Json
  assert.deepEqual(call['input'], { command: 'echo 42' })
  assert.equal(call['riskLevel'], 'high')
  assert.equal(pushes[done]!.params['toolCallId'], call['id'])
  assert.equal(pushes[done]!.params['output'], '(pretend) called Bash')
  const said = pushes.filter(
    ({ params }) => (params['message'] as Json | undefined)?.['role'] === 'assistant',
  )
  assert.equal(said.length, 2)
  for (const { params } of said) assert.equal((params['message'] as Json)['content'], '')

  const messages = await client.call<Json[]>('session.getMessages', { sessionId })
  assert.deepEqual(
    messages.map(({ role }) => role),
    ['user', 'assistant', 'tool', 'assistant'],
  )
  assert.equal((messages[2]!['toolCall'] as Json)['id'], call['id'])
  assert.equal((await client.call('session.get', { sessionId }))['messageCount'], 4)
})

test('getMessages: the last ones, those before one, at most two hundred', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  const sessionId = await rig.session(client)
  for (let n = 1; n <= 4; n++) await client.turn(sessionId, `[[say reply ${n}]]`)
  const all = await client.call<Json[]>('session.getMessages', { sessionId })
  assert.equal(all.length, 8)
  assert.deepEqual(
    all.filter(({ role }) => role === 'assistant').map(({ content }) => content),
    [1, 2, 3, 4].map((n) => `reply ${n}`),
  )
  assert.deepEqual(await client.call('session.getMessages', { sessionId, limit: 3 }), all.slice(-3))
  const before = all[5]!['id']
  assert.deepEqual(await client.call('session.getMessages', { sessionId, limit: 2, before }), all.slice(3, 5))
  assert.deepEqual(
    await client.call('session.getMessages', { session_id: sessionId, before: all[0]!['id'] }),
    [],
  )
  assert.deepEqual(await client.call('session.getMessages', { sessionId, limit: 5000 }), all)
  assert.deepEqual(await client.call('session.messages', { sessionId }), { messages: all })
  assert.equal((await client.refusal('session.getMessages', { sessionId, before: 'nothing' })).code, -32602)
  assert.equal((await client.refusal('session.getMessages', { sessionId, limit: 0 })).code, -32602)
  for (const { id, sessionId: of, createdAt } of all) {
    assert.equal(typeof id, 'string')
    assert.equal(of, sessionId)
    assert.ok(Number.isSafeInteger(createdAt))
  }
})

test('a long history is read in pages, each message once', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  const sessionId = await rig.session(client)
  const many = Array.from({ length: 350 }, () => `Bash ${b64('{"command":"true"}')}`).join(' ')
  await client.turn(sessionId, `[[call ${many}]]`)
  const seen: Json[] = []
  for (let before: unknown = null; ;) {
    const page = await client.call<Json[]>('session.getMessages', { sessionId, limit: 100, before })
    seen.unshift(...page)
    if (page.length < 100) break
    before = page[0]!['id']
  }
  assert.equal(seen.length, (await client.call('session.get', { sessionId }))['messageCount'])
  assert.equal(new Set(seen.map(({ id }) => id)).size, seen.length)
  assert.equal(seen.length, 352)
})

test('all connections are told the same', async (t) => {
  const rig = await rigFor(t)
  const clients = await Promise.all([rig.client(), rig.client(), rig.client()])
  const sessionId = await rig.session(clients[0]!)
  const pushes = await clients[0]!.turn(sessionId, '[[drip 4 60]]')
  for (const client of clients) {
    await client.until(() => client.pushes.at(-1)?.params['seq'] === pushes.at(-1)!.params['seq'])
    assert.deepEqual(client.pushes, clients[0]!.pushes)
  }
})

test('who connects in the middle of a message is told the whole of it', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  const sessionId = await rig.session(client)
  await client.call('session.sendMessage', { sessionId, content: '[[drip 100000 40]]' })
  await client.push('session.messageUpdated', ({ content }) => /w5/.test(content as string))
  const late = await rig.client()
  const open = await late.call<Json[]>('session.getMessages', { sessionId })
  assert.equal(open.at(-1)?.['status'], 'streaming')
  assert.match(open.at(-1)?.['content'] as string, /^w1 w2/)
  const update = await late.push('session.messageUpdated')
  assert.match(update['content'] as string, /^w1 w2/)
  await client.call('session.cancel', { sessionId })
  const [own, theirs] = await Promise.all(
    [client, late].map((one) => one.push('session.messageUpdated', ({ status }) => status === 'done')),
  )
  assert.match(theirs!['content'] as string, /^w1 w2 w3 w4 w5/)
  assert.equal(theirs!['content'], own!['content'])
})

test('events.subscribe replays from any place, then follows, only what is wanted', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  const sessionId = await rig.session(client)
  const other = await rig.session(client)
  const pushes = await client.turn(sessionId, '[[say one]]')
  await client.turn(other, '[[say two]]')
  const reader = await rig.client()
  const answer = await reader.call('events.subscribe', { after: 0, sessions: [sessionId] })
  assert.equal(answer['head'], rig.engine.events.head)
  const last = pushes.at(-1)!.params['seq']
  await reader.until(() => reader.pushes.at(-1)?.params['seq'] === last)
  assert.equal(reader.pushes[0]?.method, 'daemon.ready')
  const told = reader.pushes.slice(1)
  assert.deepEqual(new Set(told.map(({ params }) => params['sessionId'])), new Set([sessionId]))
  assert.ok(told.some(({ params }) => params['content'] === 'one'))
  const middle = pushes[1]!.params['seq']
  const rest = await rig.client()
  await rest.call('events.subscribe', {
    after: middle,
    sessions: [sessionId],
    types: ['session.statusChanged'],
  })
  await rest.until(() => rest.pushes.at(-1)?.params['status'] === 'idle')
  assert.deepEqual(new Set(rest.pushes.map(({ method }) => method)), new Set(['session.statusChanged']))
  await client.turn(sessionId, '[[say three]]')
  await reader.push('session.messageUpdated', ({ content }) => content === 'three')
  assert.equal((await reader.refusal('events.subscribe', { after: 10 ** 9 })).data['reason'], 'cursor_reset')
  assert.equal(
    (await reader.refusal('events.subscribe', { after: 0, log: 'x' })).data['reason'],
    'cursor_reset',
  )
  await reader.call('events.unsubscribe')
  await client.turn(other, '[[say four]]')
  await reader.push('session.messageUpdated', ({ content }) => content === 'four')
})

test('who puts messages together itself gets pieces, and nobody else', async (t) => {
  const rig = await rigFor(t)
  const [plain, chat] = [await rig.client(), await rig.client()]
  const sessionId = await rig.session(chat)
  await chat.call('session.send', { session_id: sessionId, message: '[[drip 6 50]]' })
  await chat.push('session.messageComplete')
  const pieces = (method: string): string =>
    chat.pushes
      .filter((one) => one.method === method)
      .map(({ params }) => params['delta'])
      .join('')
  assert.equal(pieces('session.message.delta'), 'w1 w2 w3 w4 w5 w6')
  assert.equal(pieces('session.messageDelta'), 'w1 w2 w3 w4 w5 w6')
  assert.equal((await chat.push('session.message.complete'))['content'], 'w1 w2 w3 w4 w5 w6')
  await plain.push('session.messageUpdated', ({ status }) => status === 'done')
  assert.ok(!plain.pushes.some(({ method }) => /delta|complete/i.test(method)))
})

test('moments are seconds; texts for ClawDE’s own applications and for who asks for it', async (t) => {
  const rig = await rigFor(t)
  const dart = { 'user-agent': 'Dart/3.9 (dart:io)' }
  const own = await rig.stranger(dart)
  await own.call('daemon.auth', { token: rig.token })
  const bearer = await rig.stranger({ ...dart, authorization: `Bearer ${rig.token}` })
  const texts = [own, bearer, await rig.client({ timestamps: 'iso' })]
  const modern = await rig.stranger(dart)
  await modern.call('daemon.auth', { token: rig.token, timestamps: 'unix' })
  const numbers = [await rig.client(), modern, await rig.client({ timestamps: 'unix' })]
  const sessionId = await rig.session(own)
  await own.turn(sessionId, '[[say hi]]')
  for (const client of [...texts, ...numbers]) {
    const session = await client.call('session.get', { sessionId })
    const { message } = (await client.push('session.messageCreated')) as { message: Json }
    for (const { createdAt, createdAtUnix } of [session, message]) {
      if (numbers.includes(client)) assert.equal(createdAt, createdAtUnix)
      else assert.equal(Math.floor(Date.parse(createdAt as string) / 1000), createdAtUnix)
    }
  }
})

test('a text that grows long is told in proportion, and whole at the end', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  const sessionId = await rig.session(client)
  const pushes = await client.turn(sessionId, '[[burst 20000 10]]')
  const updates = pushes.filter(({ method }) => method === 'session.messageUpdated')
  const bytes = updates.reduce((sum, { params }) => sum + (params['content'] as string).length, 0)
  assert.equal((updates.at(-1)!.params['content'] as string).length, 200_000)
  assert.ok(bytes < 200_000 * 100, `${bytes} characters for 200000`)
})
