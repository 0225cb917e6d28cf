import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { connect, type Corral, type Event } from '../../src/client/node.ts'
import { nativeSchema } from '../../src/dialects/native/json-schema.ts'
import { METHODS } from '../../src/dialects/native/methods.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { until } from '../support/wait.ts'
import { recording, type Recorded } from './recording.ts'

/*
 * A day with the native API, over a socket that keeps every message. Each is held against the JSON Schema, in which here a
 * field that is not documented is wrong.
 */

let daemon: TestDaemon
before(async () => {
  daemon = await startDaemon()
})
after(() => daemon.stop())

const ajv = new Ajv2020({ strict: false, validateFormats: false })
ajv.addSchema({ ...nativeSchema({ strict: true }), $id: 'corral:native' })

function schemaOf(name: string): ValidateFunction {
  return ajv.getSchema(`corral:native#/$defs/${name}`) ?? assert.fail(`there is no schema ${name}`)
}

/** What is wrong with the messages. */
function problemsIn(messages: readonly Recorded[]): string[] {
  const methods = new Map<string, string>()
  return messages.flatMap(({ connection, from, message }) => {
    const key = `${connection}:${message.id}`
    if (from === 'client') {
      methods.set(key, message.method!)
      return problem('Request', message)
    }
    if (message.method !== undefined) return problem('Notification', message)
    const method = methods.get(key)!
    if (message.error === undefined) return problem(`${method}.result`, message.result)
    return problem('Response', message)
  })
}

function problem(name: string, value: unknown): string[] {
  const validate = schemaOf(name)
  if (validate(value)) return []
  const [first] = validate.errors ?? []
  return [`${name}: ${first?.instancePath} ${first?.message} in ${JSON.stringify(value).slice(0, 300)}`]
}

/** Talk: answers, tools, thoughts, failures, interrupts, steers, the queue. */
async function talk(corral: Corral, directory: string): Promise<void> {
  const session = await corral.sessions.start({ agent: 'demo', directory, mode: 'ask' })
  const { id: sessionId } = session
  await session.turn('[[think hm]] [[drip 5 1]]')
  await session.turn('[[fail 500]]').catch(() => {})
  const asking = session.turn('[[shell echo one]]')
  for await (const approval of session.approvals()) {
    await corral.call('approval.context', { approvalId: approval.id })
    await corral.call('approval.defer', { approvalId: approval.id, until: Date.now() + 60_000 })
    await approval.allow({ forSession: true })
    break
  }
  await asking
  const hanging = session.turn('[[hang]]').catch(() => {})
  await until(async () => (await session.refresh()).turn?.accepted)
  const { turnId } = await session.send('[[say queued]]')
  await session.send('[[say second]]')
  await corral.call('queue.edit', { sessionId, turnId, content: '[[say edited]]' })
  await corral.call('queue.move', { sessionId, turnId, position: 2 })
  await corral.call('session.interrupt', { sessionId, clearQueue: true })
  await hanging
  await corral.call('session.configure', { sessionId, title: 'A day', effort: 'low', archived: false })
  await corral.call('session.mark', { sessionId, pinned: true, flags: ['a'] })
  await corral.call('draft.set', { sessionId, text: 'not yet' })
  await corral.call('session.pause', { sessionId }).catch(() => {})
  await corral.call('session.resume', { sessionId }).catch(() => {})
  const fork = await corral.call('session.fork', { sessionId })
  await corral.call('session.destroy', { sessionId: fork.id })
  await read(corral, sessionId)
}

/** Everything that can be read of a session, and refusals. */
async function read(corral: Corral, sessionId: string): Promise<void> {
  await corral.call('history.read', { sessionId })
  await corral.call('conversation.read', { sessionId })
  await corral.call('turn.list', { sessionId })
  await corral.call('queue.list', { sessionId })
  await corral.call('session.list')
  await corral.call('session.export', { sessionId })
  await corral.call('approval.list', { open: false })
  await corral.call('approval.history', { automatic: true })
  await corral.call('checkpoint.list', { sessionId })
  await corral.call('messages.search', { text: 'echo' })
  await corral.call('files.list', { sessionId })
  await corral.call('daemon.status')
  await corral.call('daemon.doctor')
  await corral.call('agents.list')
  await corral.call('session.defaults')
  await corral.call('system.resources')
  await corral.call('rpc.discover')
  for (const refused of [
    () => corral.call('session.get', { sessionId: 'nobody' }),
    () => corral.call('turn.get', { turnId: 'nobody' }),
    () => corral.call('approval.get', { approvalId: 'nobody' }),
    () => corral.call('session.create', { agent: 'nobody', cwd: '/' }),
    () => corral.call('session.create', { agent: 'demo', cwd: '/nowhere' }),
    () => corral.call('events.read', { after: 1, log: 'another' }),
  ])
    await assert.rejects(refused)
}

/** What belongs to no session. */
async function house(corral: Corral, directory: string): Promise<void> {
  await corral.call('daemon.setName', { name: 'Test' })
  await corral.call('directory.configure', { path: directory, rules: { allow: ['edit'] } })
  const project = await corral.call('project.create', { name: 'p', repos: [directory] })
  await corral.call('project.update', { projectId: project.id, description: 'd' })
  await corral.call('project.delete', { projectId: project.id })
  const { pin } = await corral.call('device.pin')
  const paired = await corral.call('device.pair', { pin, name: 'Phone', platform: 'ios' })
  const { devices } = await corral.call('device.list')
  assert.ok(paired && devices.length === 1)
  await corral.call('device.rename', { deviceId: devices[0]!.id, name: 'Other' })
  await corral.call('device.revoke', { deviceId: devices[0]!.id })
}

/** With a file that nobody has committed. */
function repository(): string {
  const directory = join(daemon.home, 'repository')
  execFileSync('git', ['init', '--quiet', directory])
  writeFileSync(join(directory, 'a.txt'), 'one\n')
  return directory
}

test('every message is as the schema says', async (t) => {
  const { socket, messages } = await recording(t, daemon)
  const corral = await connect({ socket, name: 'conformance' })
  t.after(() => corral.close())
  const watching = (async () => {
    for await (const _ of corral.sessions.watch());
  })()
  const events: Event[] = []
  const feed = corral.events({ from: 'start' })
  const reading = (async () => {
    for await (const event of feed) events.push(event)
  })()
  const directory = repository()
  await talk(corral, directory)
  await house(corral, directory)
  const { log } = await corral.call('daemon.status')
  await until(() => (events.at(-1)?.seq ?? 0) >= log.head)
  corral.close()
  await Promise.all([watching, reading])

  assert.deepEqual(problemsIn(messages), [])
  const types = new Set(events.map(({ type }) => type))
  t.diagnostic(`${messages.length} messages, ${types.size} types of events`)
  assert.ok(types.size >= 30, [...types].join(' '))
  const called = new Set(messages.map(({ message }) => message.method))
  assert.ok(METHODS.filter(({ name }) => called.has(name)).length >= 40)
})
