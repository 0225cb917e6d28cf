import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { METHODS } from '../../../src/dialects/clawde/methods.ts'
import { PUSHES } from '../../../src/dialects/clawde/pushes.ts'
import type { Updates } from '../../../src/dialects/ports.ts'
import { aPlace } from '../../workspace/support.ts'
import { rigFor, type Json } from './support.ts'

/** Told only under circumstances that other tests bring about. */
const ELSEWHERE = new Set(['events.lagged', 'session.modeChanged', 'daemon.updateAvailable'])

/** What a method can do without, said in so many words; where null means something it is not said. */
function leftOut({ params }: (typeof METHODS)[number], given: Json): Json {
  const shape = params instanceof z.ZodObject ? (params.shape as Record<string, z.ZodType>) : {}
  const names = Object.keys(shape).filter((name) => {
    const takes = (value: unknown): boolean => shape[name]!.safeParse(value).success
    return !(name in given) && takes(undefined) && !takes(null)
  })
  return Object.fromEntries(names.map((name) => [name, null]))
}

const snake = (key: string): string => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

test('every method answers what it says, in either spelling, with nulls for what is left out, and every push is told', async (t) => {
  const place = aPlace()
  t.after(() => place.close())
  const repo = place.repo('project', { 'a.txt': 'one\n' })
  const other = place.repo('other', { 'a.txt': 'one\n' })
  const updates: Updates = {
    check: async () => ({ state: 'available', current: '9.9.9', latest: '10.0.0', notes: '' }),
    stage: async () => {
      throw new Error('the package is not the one that was signed')
    },
    pending: null,
  }
  const rig = await rigFor(t, { parts: { updates } })
  const client = await rig.client()
  const called = new Set<string>()

  async function call(name: string, params: Json = {}): Promise<Json> {
    const method = METHODS.find((one) => one.name === name || one.also?.includes(name))!
    called.add(method.name)
    const spelled = called.size % 2 === 0
    const given = Object.fromEntries(
      Object.entries({ ...leftOut(method, params), ...params }).map(([key, value]) => [
        spelled ? snake(key) : key,
        value,
      ]),
    )
    const result = await client.call(name, Object.keys(given).length === 0 ? [] : given)
    const judged = method.result.safeParse(result)
    assert.ok(judged.success, `${name}: ${judged.error?.message}\n${JSON.stringify(result)}`)
    return result
  }

  await call('events.subscribe', {})
  for (const name of ['auth', 'ping', 'status', 'providers', 'doctor', 'checkUpdate'])
    await call(`daemon.${name}`)
  await call('daemon.checkProvider', { provider: 'demo' })
  await call('daemon.setName', { name: 'Here' })
  called.add('daemon.applyUpdate')
  assert.match((await client.refusal('daemon.applyUpdate')).message, /not the one that was signed/)

  const params = { repoPath: repo.path, provider: 'demo', permissions: [] }
  const { id: sessionId } = await call('session.create', params)
  await call('session.setMode', { sessionId, mode: 'FORGE' })
  await call('session.setMode', { sessionId, mode: 'NORMAL' })
  await call('session.rename', { sessionId, title: 'Named' })
  await call('session.setModel', { sessionId, model: 'big' })
  for (const method of ['session.sendMessage', 'session.send', 'message.send']) {
    const from = client.pushes.length
    await call(method, { sessionId, content: '[[shell true]]' })
    const waits = () =>
      client.pushes.slice(from).flatMap(({ params: told }) => {
        const found = (told['toolCall'] as Json | undefined) ?? {
          id: told['toolCallId'],
          status: told['status'],
        }
        return found['status'] === 'pending' ? [found['id']] : []
      })[0]
    await client.until(() => waits() !== undefined)
    await call(method === 'session.send' ? 'tool.reject' : 'tool.approve', { sessionId, toolCallId: waits() })
    await client.until(() => client.pushes.slice(from).some(({ params: told }) => told['status'] === 'idle'))
  }
  for (const name of ['list', 'get', 'getMessages', 'messages', 'pause', 'resume', 'cancel']) {
    await call(`session.${name}`, name === 'list' ? {} : { sessionId })
  }

  for (const name of ['open', 'status', 'diff', 'tree']) await call(`repo.${name}`, { repoPath: repo.path })
  await call('repo.list')
  await call('repo.fileDiff', { repoPath: repo.path, file: 'a.txt' })
  await call('repo.readFile', { repoPath: repo.path, file: 'a.txt' })
  repo.write('a.txt', 'two\n')
  await client.push('repo.statusChanged')
  await call('repo.close', { repoPath: repo.path })

  const apart = await call('session.create', { ...params, worktree: true })
  await call('worktrees.diff', { sessionId: apart['id'] })
  await call('worktrees.merge', { sessionId: apart['id'] })
  await call('worktrees.discard', { sessionId: apart['id'] })
  await call('session.delete', { sessionId: apart['id'] })

  const { id } = await call('project.create', { name: 'App', repoPaths: [repo.path] })
  await call('project.list')
  await call('project.get', { id })
  await call('project.update', { id, orgSlug: 'acme' })
  await call('project.addRepo', { projectId: id, repoPath: other.path })
  await call('project.removeRepo', { projectId: id, repoPath: other.path })
  await call('project.delete', { id })

  const { pin } = await call('daemon.pairPin')
  const device = await call('device.pair', { pin, name: 'Phone', platform: 'web' })
  await call('device.list')
  await call('device.rename', { deviceId: device['deviceId'], name: 'Tablet' })
  await call('device.revoke', { deviceId: device['deviceId'] })

  await call('system.resources')
  await call('system.resourceHistory', { limit: 10 })
  await client.push('device.revoked')
  await call('events.unsubscribe')

  assert.deepEqual(
    METHODS.map(({ name }) => name).filter((name) => !called.has(name)),
    [],
    'every method is called here',
  )
  const told = new Set(client.pushes.map(({ method }) => method))
  assert.deepEqual(
    Object.keys(PUSHES).filter((name) => !told.has(name) && !ELSEWHERE.has(name)),
    [],
    'every push is told here',
  )
  for (const { method, params: pushed } of client.pushes) {
    assert.equal(typeof pushed['seq'], 'number', method)
    for (const key of Object.keys(pushed))
      assert.ok(snake(key) in pushed, `${method} has ${key} in both spellings`)
  }
})
