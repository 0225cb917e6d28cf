import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Anthropic, BadRequestError } from '@anthropic-ai/sdk'
import { calling, callsOf, chatting, type Json, MODEL, saying, sharedRelay, textOf, TOOLS } from './rig.ts'
import { until } from '../../../support/wait.ts'

const relay = await sharedRelay()

type Param = Anthropic.MessageParam
const user = (content: string): Param => ({ role: 'user', content })
const assistant = (content: string): Param => ({ role: 'assistant', content })

/** A call in the session of this name. */
async function ask(sticky: string, messages: Param[], more: object = {}): Promise<string> {
  const client = relay.anthropic({ sticky })
  return textOf(await client.messages.create({ model: MODEL, max_tokens: 1000, messages, ...more }))
}

/** How often an agent was begun with for this name. */
async function begun(sticky: string): Promise<number> {
  const events = (await relay.get('/v1/events')).body['events'] as Json[]
  return events.filter(({ type, sessionId }) => type === 'session.created' && sessionId === sticky).length
}

describe('a session with a name', () => {
  const first = user('[[remember PLUM]] [[say noted]]')

  test('is sent only what is new to it', async () => {
    assert.equal(await ask('prefix', [first]), 'noted')
    const told = await ask('prefix', [first, assistant('noted'), user('what now?')])
    assert.equal(told, 'echo: what now?', 'no transcript')
    const story = [first, assistant('noted'), user('what now?'), assistant(told), user('[[recall]]')]
    assert.equal(await ask('prefix', story), 'recall: PLUM')
    assert.equal(await begun('prefix'), 1)
  })

  test('knows its own words again, however the client keeps them', async () => {
    await ask('blocks', [first])
    const noted: Param = {
      role: 'assistant',
      content: [
        { type: 'text', text: 'no' },
        { type: 'text', text: 'ted' },
      ],
    }
    assert.equal(await ask('blocks', [first, noted, user('[[recall]]')]), 'recall: PLUM')
    assert.equal(await begun('blocks'), 1)
  })

  test('goes on with a lone message', async () => {
    await ask('lone', [first])
    assert.equal(await ask('lone', [user('[[recall]]')]), 'recall: PLUM')
    assert.equal(await begun('lone'), 1)
  })

  test('begins anew when it is told another story', async () => {
    await ask('story', [first])
    const other = [user('hi'), assistant('ho'), user('[[recall]]')]
    assert.equal(await ask('story', other), 'recall: none')
    assert.equal(await begun('story'), 2)
  })

  test('replays the story that it is told', async () => {
    await ask('replay', [user('[[say x]]')])
    const told = [user('my word is FIG [[remember FIG]]'), assistant('ok'), user('[[recall]]')]
    assert.equal(await ask('replay', told), 'recall: FIG')
  })

  test('goes on with another system prompt, and keeps the one that it has', async () => {
    await ask('system', [first], { system: 'one' })
    assert.equal(await ask('system', [user('[[recall]]')], { system: 'one' }), 'recall: PLUM')
    assert.equal(
      await ask('system', [user('[[recall]]')]),
      'recall: PLUM',
      'who leaves it out means the same',
    )
    assert.equal(await begun('system'), 1)
    const two = { system: '[[sysword TWO]]' }
    assert.equal(await ask('system', [user('[[recall]]')], two), 'recall: PLUM')
    assert.equal(await ask('system', [user('[[system]]')]), 'system: TWO')
    assert.equal(await begun('system'), 2)
  })

  test('goes on with other tools', async () => {
    await ask('tools', [first], { tools: TOOLS })
    assert.equal(await ask('tools', [user('[[recall]]')], { tools: TOOLS.slice(1) }), 'recall: PLUM')
  })

  test('is the same in both shapes', async () => {
    await ask('both', [first])
    const openai = relay.openai({ sticky: 'both' })
    const completion = await openai.chat.completions.create(chatting('[[recall]]'))
    assert.equal(completion.choices[0]!.message.content, 'recall: PLUM')
    assert.equal(await begun('both'), 1)
  })

  test('is apart from the others', async () => {
    await ask('apart', [first])
    assert.equal(await ask('apart-2', [user('[[recall]]')]), 'recall: none')
  })

  test('takes one call at a time, in order', async () => {
    const order: string[] = []
    const note = (name: string) => (said: string) => {
      order.push(name)
      return said
    }
    const slow = ask('lane', [user('[[drip 6 20]]')]).then(note('slow'))
    await until(async () => (await begun('lane')) === 1)
    const said = await Promise.all([slow, ask('lane', [user('[[say after]]')]).then(note('after'))])
    assert.deepEqual(said, ['w1 w2 w3 w4 w5 w6', 'after'])
    assert.deepEqual(order, ['slow', 'after'])
  })

  test('goes on with a call that it waits for', async () => {
    const client = relay.anthropic({ sticky: 'held' })
    const question = user(`[[remember KIWI]] ${calling(['look', {}])}`)
    const asked = { model: MODEL, max_tokens: 1000, tools: TOOLS }
    const held = await client.messages.create({ ...asked, messages: [question] })
    const result = { type: 'tool_result' as const, tool_use_id: callsOf(held)[0]!.id, content: 'blue' }
    const messages: Param[] = [
      question,
      { role: 'assistant', content: held.content },
      { role: 'user', content: [result] },
    ]
    const done = await client.messages.create({ ...asked, messages })
    assert.equal(textOf(done), 'tool said: blue')
    const more: Param[] = [...messages, { role: 'assistant', content: done.content }, user('[[recall]]')]
    assert.equal(textOf(await client.messages.create({ ...asked, messages: more })), 'recall: KIWI')
    assert.equal(await begun('held'), 1)
  })

  test('has a name of up to 128 characters', async () => {
    assert.equal(await ask('x'.repeat(128), [user('[[say x]]')]), 'x')
    await assert.rejects(ask('x'.repeat(129), [user('[[say x]]')]), (error) => {
      assert.ok(error instanceof BadRequestError)
      assert.match(error.message, /X-IR-Session-ID.*129/)
      return true
    })
  })

  test('an empty name is none', async () => {
    const active = await relay.active()
    assert.equal(await ask('', [user('[[say x]]')]), 'x')
    await until(async () => (await relay.active()) === active)
  })
})

describe('what one may do with a session', () => {
  const word = user('[[remember PEAR]] [[say ok]]')
  const recall = (sticky: string): Promise<string> => ask(sticky, [user('[[recall]]')])

  test('reset forgets what was said', async () => {
    await ask('reset', [word])
    const { status, body } = await relay.post('/v1/sessions/reset/reset')
    assert.deepEqual([status, body['ok'], body['session_id']], [200, true, 'reset'])
    assert.equal(typeof body['latency_ms'], 'number')
    const { body: cleared } = await relay.post('/v1/sessions/reset/clear-prompt')
    assert.equal(cleared['note'], undefined, 'it is there, with nothing said in it')
    assert.equal(await recall('reset'), 'recall: none')
  })

  test('a session that was reset is still there, until it is removed', async () => {
    await ask('still', [word])
    const before = await relay.active()
    await relay.post('/v1/sessions/still/reset')
    assert.equal(await relay.active(), before)
    assert.equal((await relay.post('/v1/sessions/still/clear-prompt')).body['note'], undefined)
    const removed = await relay.send('DELETE', '/v1/sessions/still')
    assert.deepEqual([removed.status, removed.body], [200, { ok: true, session_id: 'still' }])
    assert.equal((await relay.send('DELETE', '/v1/sessions/still')).status, 404)
  })

  test('a name is the same in the header and in a path, whatever letters it has', async () => {
    for (const [name, sent] of [
      ['Prüfung ✓', Buffer.from('Prüfung ✓').toString('latin1')],
      ['Prüfung', 'Prüfung'],
      ['../../x', '../../x'],
    ] as const) {
      await relay.post('/v1/messages', saying('[[say hi]]'), { 'x-ir-session-id': sent })
      const removed = await relay.send('DELETE', `/v1/sessions/${encodeURIComponent(name)}`)
      assert.deepEqual([removed.status, removed.body['session_id']], [200, name])
    }
  })

  test('reset of an unknown one is no error', async () => {
    const { status, body } = await relay.post('/v1/sessions/nobody/reset')
    assert.deepEqual([status, body['ok'], body['session_id']], [200, true, 'nobody'])
    const again = await relay.send('DELETE', '/v1/sessions/nobody')
    assert.deepEqual([again.status, again.body], [200, { ok: true, session_id: 'nobody' }], 'it is there now')
  })

  test('clearing a conversation is a reset', async () => {
    await ask('clear', [word])
    const { status, body } = await relay.post('/v1/conversations/clear/clear')
    assert.deepEqual([status, body['ok']], [200, true])
    assert.equal(await recall('clear'), 'recall: none')
  })

  test('clear-prompt keeps what was said', async () => {
    await ask('prompt', [word])
    const { status, body } = await relay.post('/v1/sessions/prompt/clear-prompt')
    assert.equal(status, 200)
    const cleared = { prompt: true, staged: 0, attachments: 0 }
    assert.deepEqual(body, { ok: true, session_id: 'prompt', cleared })
    assert.equal(await recall('prompt'), 'recall: PEAR')
  })

  test('clear-prompt of an unknown one says so', async () => {
    const { status, body } = await relay.post('/v1/sessions/nobody/clear-prompt')
    assert.deepEqual([status, body['ok'], body['note']], [200, true, 'no active session for this id'])
  })

  test('DELETE forgets it, once', async () => {
    await ask('gone', [word])
    const active = await relay.active()
    const { status, body } = await relay.send('DELETE', '/v1/sessions/gone')
    assert.deepEqual([status, body], [200, { ok: true, session_id: 'gone' }])
    assert.equal(await relay.active(), active - 1)
    const again = await relay.send('DELETE', '/v1/sessions/gone')
    assert.deepEqual([again.status, again.body], [404, { ok: false, session_id: 'gone' }])
    assert.equal(await recall('gone'), 'recall: none')
  })

  test('names are not told', async () => {
    const { body } = await relay.get('/v1/sessions')
    assert.deepEqual(body['sessions'], [])
    assert.deepEqual(Object.keys(body['pool'] as Json).toSorted(), ['active', 'idle', 'spawning'])
  })

  test('their names may need escaping', async () => {
    await ask('a b/c', [word])
    const { body } = await relay.send('DELETE', '/v1/sessions/a%20b%2Fc')
    assert.deepEqual(body, { ok: true, session_id: 'a b/c' })
  })
})

describe('the pool', () => {
  test('is warmed on demand, at once or when it is done', async () => {
    const soon = await relay.post('/v1/warmup', { count: 1 })
    assert.deepEqual([soon.status, soon.body['ok']], [202, true])
    const { status, body } = await relay.post('/v1/warmup', { count: 1, wait: true })
    assert.deepEqual([status, body['ok']], [200, true])
    assert.ok(Number(body['idle']) >= 1)
    assert.equal(typeof body['latency_ms'], 'number')
  })

  test('refuses nonsense', async () => {
    for (const [body, field] of [
      [{ count: -1 }, 'count'],
      [{ count: 'two' }, 'count'],
      [{ wait: 'yes' }, 'wait'],
    ] as const) {
      const answer = await relay.post('/v1/warmup', body)
      assert.equal(answer.status, 400)
      assert.match(String(answer.body['error']), new RegExp(field))
    }
  })
})
