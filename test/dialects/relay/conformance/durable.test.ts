import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import type { Anthropic } from '@anthropic-ai/sdk'
import { connect } from '../../../../src/client/client.ts'
import { until } from '../../../support/wait.ts'
import {
  calling,
  callsOf,
  chatting,
  FUNCTIONS,
  type Json,
  MODEL,
  openSse,
  ownFile,
  saying,
  startRelay,
  textOf,
  TOOLS,
} from './rig.ts'

const relay = await startRelay()

type Param = Anthropic.MessageParam
const user = (content: Param['content']): Param => ({ role: 'user', content })
const asked = { model: MODEL, max_tokens: 1000, tools: TOOLS }

/** The daemon is gone without a word, and another one comes. */
async function crash(): Promise<void> {
  await relay.daemon.kill9()
  await relay.daemon.restart()
}

/** What the client says next, once it has carried out the calls. */
function results(question: Param, held: Anthropic.Message, said: string): Param[] {
  const content = callsOf(held).map(({ id, name }) => ({
    type: 'tool_result' as const,
    tool_use_id: id,
    content: `${name}: ${said}`,
  }))
  return [question, { role: 'assistant', content: held.content }, { role: 'user', content }]
}

describe('over a kill -9 of the daemon', () => {
  test('held calls go on, with a name and without; sessions and records are there', async () => {
    const question = user(`[[remember KIWI]] ${calling(['look', {}], ['add', { n: 1 }])}`)
    const sticky = relay.anthropic({ sticky: 'held' })
    const held = await sticky.messages.create({ ...asked, messages: [question] })
    const stateless = await relay.anthropic().messages.create({ ...asked, messages: [question] })
    const rests = relay.anthropic({ sticky: 'rests' })
    await rests.messages.create(saying('[[remember YAM]] [[say ok]]'))
    const before = await relay.calls()
    const stream = await openSse(`${relay.url}/v1/activity/stream`)
    await rests.messages.create(saying('[[say x]]'))
    const { id } = await stream.next()
    stream.close()
    const last = await rests.messages.create(saying('[[say y]]'))
    const { seq } = (await relay.calls()).at(-1)!
    await until(() => readFileSync(ownFile(relay, 'recent-calls.jsonl'), 'utf8').includes(String(seq)))

    await crash()

    const records = await relay.calls()
    assert.deepEqual(records.slice(0, before.length), before)
    const again = await openSse(`${relay.url}/v1/activity/stream`, { 'last-event-id': id! })
    const { data } = await again.next()
    again.close()
    assert.equal(`msg_${String(data['id']).replaceAll('-', '')}`, last.id, 'read on over the restart')

    assert.equal(await relay.active(), 3)
    const messages = results(question, held, 'done')
    const done = await relay.anthropic({ sticky: 'held' }).messages.create({ ...asked, messages })
    assert.equal(textOf(done), 'tool said: look: done\nadd: done')
    const more: Param[] = [...messages, { role: 'assistant', content: done.content }, user('[[recall]]')]
    const recalled = await relay.anthropic({ sticky: 'held' }).messages.create({ ...asked, messages: more })
    assert.equal(textOf(recalled), 'recall: KIWI')
    const other = results(question, stateless, 'ok')
    const alone = await relay.anthropic().messages.create({ ...asked, messages: other })
    assert.equal(textOf(alone), 'tool said: look: ok\nadd: ok')
    const known = await relay.anthropic({ sticky: 'rests' }).messages.create(saying('[[recall]]'))
    assert.equal(textOf(known), 'recall: YAM')
    await until(async () => (await relay.active()) === 2)
  })

  test('a turn whose client went down with the daemon is not left running', async () => {
    const before = await relay.active()
    const asked = relay.anthropic().messages.create(saying('[[hang]]'))
    asked.catch(() => undefined)
    await until(async () => (await relay.active()) > before)
    await crash()
    await assert.rejects(asked)
    await until(async () => (await relay.active()) === before)
  })
})

test('who has not been used for long expires', async () => {
  const brief = await startRelay({ env: { CORRAL_RELAY_IDLE_MS: '1000' } })
  const client = brief.anthropic({ sticky: 'brief' })
  await client.messages.create(saying('[[remember FIG]] [[say ok]]'))
  await brief.anthropic().messages.create({ ...asked, messages: [user(calling(['look', {}]))] })
  await until(async () => (await brief.active()) === 0)
  const { events } = (await brief.get('/v1/events')).body as { events: Json[] }
  const told = (wanted: string): number => events.filter(({ type }) => type === wanted).length
  assert.deepEqual([told('session.created'), told('session.expired')], [2, 2])
  assert.equal(textOf(await client.messages.create(saying('[[recall]]'))), 'recall: none')
})

test('agents do not wait for results for long; late ones are answered all the same', async () => {
  const patient = await startRelay({ env: { CORRAL_RELAY_HELD_MS: '1000' } })
  const question = user(`[[remember KIWI]] ${calling(['look', {}])}`)
  const clients = [patient.anthropic(), patient.anthropic({ sticky: 'late' })]
  const held = await Promise.all(
    clients.map((client) => client.messages.create({ ...asked, messages: [question] })),
  )
  const openai = patient.openai()
  const chat = { role: 'user' as const, content: calling(['look', {}]) }
  const other = await openai.chat.completions.create({ ...chatting(''), messages: [chat], tools: FUNCTIONS })
  const client = await connect(patient.daemon.socket)
  await until(async () => (await client.call('session.list', {})).sessions.length === 0)
  client.close()
  assert.equal(await patient.active(), 1, 'the session with a name is there')
  for (const [at, caller] of clients.entries()) {
    const messages = results(question, held[at]!, '[[recall]]')
    assert.equal(textOf(await caller.messages.create({ ...asked, messages })), 'recall: KIWI')
  }
  const { message } = other.choices[0]!
  const tool = { role: 'tool' as const, tool_call_id: message.tool_calls![0]!.id, content: '[[say seen]]' }
  const messages = [chat, message, tool]
  const completion = await openai.chat.completions.create({ ...chatting(''), messages, tools: FUNCTIONS })
  assert.equal(completion.choices[0]!.message.content, 'seen')
})
