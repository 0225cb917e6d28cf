import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import * as codecast from '../dialects/codecast/client.ts'
import { type Json, type Stream, type StreamEvent, textOf, types } from '../dialects/codecast/client.ts'
import { claudeAbsent } from '../support/claude-env.ts'
import { askUntil } from '../support/wait.ts'
import { call, claudeIn, nobodyIn, processesIn, type Rig, startRig, words } from './rig.ts'

let rig: Rig
let base = ''

interface Made {
  sessionId: string
  cwd: string
}

async function create(params: Json = {}): Promise<Made> {
  const cwd = rig.directory()
  return { sessionId: await codecast.create(base, cwd, { cli_type: 'claude', ...params }), cwd }
}

const send = (sessionId: string, message: string, params: Json = {}): Promise<Stream> =>
  codecast.send(base, sessionId, message, params)

/** A message and all of its stream. */
async function ask(sessionId: string, message: string, params: Json = {}): Promise<StreamEvent[]> {
  return (await send(sessionId, message, params)).rest()
}

const rpc = <T = Json>(method: string, params: Json): Promise<T> => codecast.result<T>(base, method, params)
const initOf = (events: StreamEvent[]): StreamEvent => events.find((event) => event['subtype'] === 'init')!
const rawOf = (event: StreamEvent): Json => event['raw'] as Json
const lastTwo = (events: StreamEvent[]): string[] => types(events).slice(-2)
const subtypes = (events: StreamEvent[]): unknown[] =>
  events.flatMap((event) => (event.type === 'system' ? [event['subtype']] : []))
const modelAsked = (): string => (rig.model.requests.at(-1)!.body as { model: string }).model

/** Allows, over the native protocol, what the session asks for. */
async function allow(stream: Stream): Promise<StreamEvent> {
  const asked = (await stream.until('system')).at(-1)!
  if (asked['subtype'] !== 'approval_requested') return allow(stream)
  await rig.client.call('approval.decide', {
    approvalId: String(rawOf(asked)['approvalId']),
    behavior: 'allow',
  })
  return asked
}

describe('Codecast with the real claude', { skip: claudeAbsent }, () => {
  before(async () => {
    rig = await startRig()
    base = rig.daemon.codecast
  })
  after(() => rig.close())

  test('a turn is a ping, an init, pieces that make up the text, a result with its price, and the end', async () => {
    const { sessionId, cwd } = await create()
    const events = await ask(sessionId, '[[drip 12 5]]')
    assert.equal(events[0]!.type, 'ping')
    const init = initOf(events)
    assert.equal(typeof rawOf(init)['session_id'], 'string')
    assert.equal(init['session_id'], rawOf(init)['session_id'])
    assert.equal(rawOf(init)['cwd'], cwd)
    assert.equal(textOf(events, 'partial'), words(12))
    assert.equal(textOf(events), words(12))
    assert.ok(types(events).filter((type) => type === 'partial').length > 3, 'in pieces')
    assert.deepEqual(lastTwo(events), ['result', '[DONE]'])
    const raw = rawOf(events.at(-2)!)
    assert.deepEqual([raw['subtype'], raw['is_error'], raw['result']], ['success', false, words(12)])
    assert.ok(Number(raw['total_cost_usd']) > 0 && Number(raw['duration_ms']) > 0)
    assert.ok(Number((raw['usage'] as Json)['output_tokens']) > 0)
    assert.equal(raw['session_id'], init['session_id'])
    assert.ok(!types(events).includes('error'), JSON.stringify(events))
  })

  test('the second turn is answered by the same process, which remembers the first', async () => {
    const { sessionId } = await create()
    await ask(sessionId, 'hello [[remember MARZIPAN]]')
    const { pid, nativeId } = await rig.view(sessionId)
    assert.ok(pid)
    const events = await ask(sessionId, '[[recall]]')
    assert.equal(textOf(events), 'recall: MARZIPAN')
    const now = await rig.view(sessionId)
    assert.deepEqual([now.pid, now.nativeId, now.turnCount], [pid, nativeId, 2])
  })

  test('in mode auto it runs commands and writes files without asking, and tells of both', async () => {
    const { sessionId, cwd } = await create({ mode: 'auto' })
    const shell = await ask(sessionId, '[[shell echo made by claude > made.txt && cat made.txt]]')
    const [started, done] = shell.filter((event) => event.type === 'tool_use')
    assert.equal(started!['tool'], 'Bash')
    assert.match(String((started!['input'] as Json)['command']), /made\.txt/)
    assert.deepEqual(
      [done!['tool'], done!['message'], done!['is_error']],
      ['Bash', 'made by claude', undefined],
    )
    assert.equal(readFileSync(join(cwd, 'made.txt'), 'utf8'), 'made by claude\n')
    const write = await ask(sessionId, '[[write notes.txt some text]]')
    assert.equal(write.find((event) => event.type === 'tool_use')!['tool'], 'Write')
    assert.equal(readFileSync(join(cwd, 'notes.txt'), 'utf8'), 'some text')
    for (const events of [shell, write]) {
      assert.deepEqual(lastTwo(events), ['result', '[DONE]'])
      assert.ok(!subtypes(events).includes('approval_requested'), 'nobody was asked')
    }
  })

  test('a tool that fails is told as an error of the tool, not of the turn', async () => {
    const { sessionId } = await create()
    const events = await ask(sessionId, '[[shell ls /no/such/place]]')
    const done = events.filter((event) => event.type === 'tool_use').at(-1)!
    assert.equal(done['is_error'], true)
    assert.match(String(done['message']), /No such file/)
    assert.deepEqual(lastTwo(events), ['result', '[DONE]'])
  })

  test('Claude is not offered its tool for questions, which nobody could answer here', async () => {
    const { sessionId } = await create()
    const events = await ask(sessionId, '[[ask Red or blue?]]')
    assert.deepEqual(lastTwo(events), ['result', '[DONE]'])
    const { tools } = rig.model.requests.at(-1)!.body as { tools: { name: string }[] }
    assert.ok(tools.length > 0 && !tools.some(({ name }) => name === 'AskUserQuestion'))
  })

  test('in `auto` Claude gets into a plan and out of it by itself: nobody is asked', async () => {
    const { sessionId } = await create()
    const entered = await ask(sessionId, call('EnterPlanMode', {}))
    assert.deepEqual(lastTwo(entered), ['result', '[DONE]'])
    const left = await ask(sessionId, call('ExitPlanMode', { plan: 'do it' }))
    assert.deepEqual(lastTwo(left), ['result', '[DONE]'])
    assert.ok(!types([...entered, ...left]).includes('error'), JSON.stringify(left))
    assert.equal((await rig.view(sessionId)).mode, 'auto')
  })

  test('a message sent meanwhile is queued and then gets its own answer, not that of the first', async () => {
    const { sessionId } = await create()
    const first = await send(sessionId, '[[drip 20 30]]')
    await first.until('partial')
    const second = await send(sessionId, '[[say mine alone]]', { follow: true })
    assert.deepEqual(await second.next(), { type: 'queued', position: 1 })
    const third = await send(sessionId, '[[say and mine]]', { follow: true })
    assert.deepEqual(await third.next(), { type: 'queued', position: 2 })
    const rest = await first.rest()
    assert.deepEqual(rest.at(-2)!.type, 'result')
    assert.equal(textOf(rest), words(20))
    assert.equal(textOf(await second.rest()), 'mine alone')
    assert.equal(textOf(await third.rest()), 'and mine')
  })

  test('an interrupt while it streams ends the turn as interrupted, and the process answers the next message', async () => {
    const { sessionId } = await create()
    const stream = await send(sessionId, '[[drip 2000 20]]')
    await stream.until('partial')
    const { pid } = await rig.view(sessionId)
    assert.deepEqual(await rpc('session.interrupt', { sessionId }), { ok: true, interrupted: true })
    assert.deepEqual(lastTwo(await stream.rest()), ['interrupted', '[DONE]'])
    assert.equal(textOf(await ask(sessionId, '[[say still here]]')), 'still here')
    assert.equal((await rig.view(sessionId)).pid, pid)
    assert.deepEqual(await rpc('session.interrupt', { sessionId }), { ok: true, interrupted: false })
  })

  test('an interrupt while a command runs ends the command too', async () => {
    const { sessionId, cwd } = await create()
    const stream = await send(sessionId, '[[shell tail -f /dev/null]]')
    const tails = () => processesIn(cwd).filter(({ command }) => command === 'tail -f /dev/null')
    await askUntil(tails, (found) => found.length === 1, 'the command runs')
    await rpc('session.interrupt', { sessionId })
    assert.deepEqual(lastTwo(await stream.rest()), ['interrupted', '[DONE]'])
    await askUntil(tails, (found) => found.length === 0, 'the command is gone')
    assert.equal(textOf(await ask(sessionId, '[[say on we go]]')), 'on we go')
  })

  test('an interrupt clears the queue, and every stream in it ends with interrupted', async () => {
    const { sessionId } = await create()
    const first = await send(sessionId, '[[drip 2000 20]]')
    await first.until('partial')
    const second = await send(sessionId, '[[say never]]', { follow: true })
    await second.until('queued')
    await rpc('session.interrupt', { sessionId })
    assert.deepEqual(types(await second.rest()), ['interrupted', '[DONE]'])
    assert.deepEqual(lastTwo(await first.rest()), ['interrupted', '[DONE]'])
  })

  test('another model is used from the next message on, in the same process', async () => {
    const { sessionId } = await create({ model: 'sonnet' })
    assert.match(String(initOf(await ask(sessionId, 'hello'))['model']), /sonnet/)
    const { pid } = await rig.view(sessionId)
    await rpc('session.set_model', { sessionId, model: 'haiku' })
    assert.match(String(initOf(await ask(sessionId, 'hello again'))['model']), /haiku/)
    assert.match(modelAsked(), /haiku/)
    assert.equal((await rig.view(sessionId)).pid, pid)
  })

  test('in mode plan nothing is written, and the model is told why', async () => {
    const { sessionId, cwd } = await create({ mode: 'plan' })
    const events = await ask(sessionId, '[[write planned.txt text]]')
    assert.ok(!existsSync(join(cwd, 'planned.txt')))
    assert.match(textOf(events), /plan mode/i)
    assert.deepEqual(lastTwo(events), ['result', '[DONE]'])
  })

  test('in mode code an edit passes without asking, and a command waits for a human', async () => {
    const { sessionId, cwd } = await create({ mode: 'code' })
    const write = await ask(sessionId, '[[write code.txt text]]')
    assert.ok(existsSync(join(cwd, 'code.txt')))
    assert.ok(!subtypes(write).includes('approval_requested'))
    const stream = await send(sessionId, '[[shell node -e 0]]')
    const asked = await allow(stream)
    assert.equal(rawOf(asked)['tool'], 'Bash')
    const rest = await stream.rest()
    assert.ok(subtypes(rest).includes('approval_resolved'))
    assert.deepEqual(lastTwo(rest), ['result', '[DONE]'])
  })

  test('in mode ask both an edit and a command wait for a human', async () => {
    const { sessionId, cwd } = await create({ mode: 'ask' })
    const write = await send(sessionId, '[[write asked.txt text]]')
    assert.equal(rawOf(await allow(write))['tool'], 'Write')
    await write.rest()
    assert.ok(existsSync(join(cwd, 'asked.txt')))
    const shell = await send(sessionId, '[[shell touch touched.txt]]')
    assert.ok(!existsSync(join(cwd, 'touched.txt')))
    assert.equal(rawOf(await allow(shell))['tool'], 'Bash')
    assert.deepEqual(lastTwo(await shell.rest()), ['result', '[DONE]'])
    assert.ok(existsSync(join(cwd, 'touched.txt')))
  })

  test('another mode holds from the next message on, in both directions', async () => {
    const { sessionId, cwd } = await create({ mode: 'auto' })
    await ask(sessionId, '[[write one.txt 1]]')
    await rpc('session.set_mode', { sessionId, mode: 'plan' })
    await ask(sessionId, '[[write two.txt 2]]')
    await rpc('session.set_mode', { sessionId, mode: 'ask' })
    const third = await send(sessionId, '[[write three.txt 3]]')
    await allow(third)
    await third.rest()
    await rpc('session.set_mode', { sessionId, mode: 'auto' })
    await ask(sessionId, '[[write four.txt 4]]')
    const written = ['one', 'two', 'three', 'four'].filter((name) => existsSync(join(cwd, `${name}.txt`)))
    assert.deepEqual(written, ['one', 'three', 'four'])
    assert.equal((await rig.view(sessionId)).mode, 'auto')
  })

  test('mode auto set while a command waits lets it pass, and later ones too', async () => {
    const { sessionId, cwd } = await create({ mode: 'ask' })
    const stream = await send(sessionId, '[[shell touch first.txt]]')
    await askUntil(
      () => rig.client.call('approval.list', { sessionId }),
      (found) => found.approvals.length === 1,
      'an approval',
    )
    await rpc('session.set_mode', { sessionId, mode: 'auto' })
    assert.deepEqual(lastTwo(await stream.rest()), ['result', '[DONE]'])
    await ask(sessionId, '[[shell touch second.txt]]')
    assert.ok(existsSync(join(cwd, 'first.txt')) && existsSync(join(cwd, 'second.txt')))
  })

  test('a client that drops out in the middle gets the whole turn with reconnect', async () => {
    const { sessionId } = await create()
    const stream = await send(sessionId, '[[drip 40 20]]')
    await stream.until('partial')
    stream.cut()
    const seen: StreamEvent[] = []
    await askUntil(
      async () => {
        const found = await rpc<{ bufferedEvents: StreamEvent[] }>('session.reconnect', { sessionId })
        seen.push(...found.bufferedEvents)
        return seen.at(-1)?.type
      },
      (type) => type === 'result',
      'the result',
    )
    assert.equal(textOf(seen), words(40))
    assert.equal(initOf(seen)['subtype'], 'init')
    assert.deepEqual(await rpc('session.reconnect', { sessionId }), { bufferedEvents: [] })
  })

  test('a prompt of 1 MiB reaches the model whole', async () => {
    const { sessionId } = await create()
    const text = `${'0123456789abcdef'.repeat(65_536)} [[say got it]]`
    assert.equal(textOf(await ask(sessionId, text)), 'got it')
    const bodies = rig.model.requests.map(({ body }) => JSON.stringify(body))
    assert.ok(bodies.some((body) => body.includes(text)))
  })

  test('an answer of 1 MiB arrives whole', async () => {
    const { sessionId } = await create()
    const events = await ask(sessionId, '[[burst 1024 1024]]')
    assert.equal(textOf(events).length, 1024 * 1024)
    assert.equal(textOf(events, 'partial').length, 1024 * 1024)
  })

  test('an image in a message reaches the model', async () => {
    const { sessionId } = await create()
    const images = [{ mediaType: 'image/png', data: PIXEL }]
    const events = await ask(sessionId, '[[attachments]]', { images })
    assert.match(textOf(events), /^attachments: 1 image\/png\/\d+/)
  })

  test('thinking is not mixed into the answer', async () => {
    const { sessionId } = await create()
    const events = await ask(sessionId, '[[think deep thought]] [[say 42]]')
    assert.deepEqual([textOf(events), textOf(events, 'partial')], ['42', '42'])
  })

  test('destroying a session ends its process and all that it started', async () => {
    const { sessionId, cwd } = await create()
    const stream = await send(sessionId, '[[shell tail -f /dev/null]]')
    await askUntil(
      () => processesIn(cwd).map(({ command }) => command),
      (found) => found.includes('tail -f /dev/null'),
      'the command runs',
    )
    assert.ok(claudeIn(cwd).pid)
    assert.deepEqual(await rpc('session.destroy', { sessionId }), { ok: true })
    await nobodyIn(cwd)
    assert.deepEqual(lastTwo(await stream.rest()), ['interrupted', '[DONE]'])
    assert.deepEqual(await rpc('session.destroy', { sessionId }), { ok: false })
  })

  test('resume with the conversation of another session goes on with it', async () => {
    const one = await create()
    await ask(one.sessionId, 'hello [[remember QUINCE]]')
    const { nativeId } = await rig.view(one.sessionId)
    const two = await create()
    await ask(two.sessionId, 'hello [[remember PEAR]]')
    const answer = await rpc('session.resume', { sessionId: two.sessionId, sdkSessionId: nativeId })
    assert.deepEqual(answer, { ok: true, fallback: false })
    assert.equal(textOf(await ask(two.sessionId, '[[recall]]')), 'recall: QUINCE')
    assert.equal((await rig.view(two.sessionId)).nativeId, nativeId)
    assert.equal((await rig.view(one.sessionId)).pid, null, 'one conversation never has two processes')
  })

  test('resume with a conversation that never was begins a new one, and says so', async () => {
    const { sessionId } = await create()
    await rpc('session.resume', { sessionId, sdkSessionId: '00000000-0000-4000-8000-000000000000' })
    const events = await ask(sessionId, '[[say afresh]]')
    assert.equal(textOf(events), 'afresh')
    assert.ok(subtypes(events).includes('conversation_lost'), JSON.stringify(subtypes(events)))
    assert.deepEqual(lastTwo(events), ['result', '[DONE]'])
  })
})

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
