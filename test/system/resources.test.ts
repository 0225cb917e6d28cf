import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { startTime } from '../../src/agents/host/process.ts'
import {
  createProcessLook,
  footprint,
  listWithPs,
  parsePs,
  parseStat,
  type ProcessRow,
} from '../../src/system/processes.ts'
import { createResources, ownersOf, resourcesOf } from '../../src/system/resources.ts'
import { newSession } from '../support/asking.ts'
import { startEngine } from '../support/engine.ts'
import { aSession, running } from '../support/session.ts'
import { endGroup, heavyDemo, holdArgs, holdMemory, MIB } from './holder.ts'

const row = (pid: number, parent: number, group: number, start = '1'): ProcessRow => ({
  pid,
  parent,
  group,
  start,
  rssBytes: null,
})

test('a process whose name is made to confuse is read all the same', () => {
  const tail = Array.from({ length: 30 }, (_, index) => index + 4)
  const { pid, parent, group, start } = parseStat(`77 (a) R 9 (x) S ${tail.join(' ')}\n`)
  assert.deepEqual({ pid, parent, group, start }, { pid: 77, parent: 4, group: 5, start: '22' })
})

test('the list that ps makes', async () => {
  assert.deepEqual(parsePs('    1     0     1  1024\n 4321  1  4320   7\nnonsense\n\n'), [
    { pid: 1, parent: 0, group: 1, start: null, rssBytes: 1024 * 1024 },
    { pid: 4321, parent: 1, group: 4320, start: null, rssBytes: 7 * 1024 },
  ])
  const own = (await listWithPs()).find(({ pid }) => pid === process.pid)
  assert.equal(own?.parent, process.ppid)
  assert.ok(own.rssBytes! > 10 * MIB)
})

test('a process belongs to an agent by its group, its ancestors or its mark', () => {
  const rows = [
    row(1, 0, 1),
    row(10, 1, 10), // the agent
    row(11, 10, 10), // in its group
    row(12, 11, 12), // a group of its own, still a descendant
    row(13, 1, 13), // its parent is gone, the mark is not
    row(14, 13, 14), // below that
    row(15, 1, 15), // somebody else's
    row(21, 1, 20), // the group of an agent whose first process is gone
    row(30, 1, 30, '99'), // the pid of an agent that is gone
    row(31, 30, 30),
  ]
  const marks: Record<number, string> = { 13: 'run-a', 15: 'run-z' }
  const roots = [
    { pid: 10, start: '1', mark: 'run-a' },
    { pid: 20, start: '1', mark: 'run-b' },
    { pid: 30, start: '1', mark: 'run-c' },
  ]
  const owners = ownersOf({ rows, markOf: ({ pid }) => marks[pid] ?? null }, roots)
  assert.deepEqual(Object.fromEntries(owners), { 10: 10, 11: 10, 12: 10, 13: 10, 14: 10, 21: 20 })
})

test('a circle in a table that changed while it was read does no harm', () => {
  const rows = [row(5, 6, 5), row(6, 5, 6)]
  assert.equal(ownersOf({ rows, markOf: () => null }, [{ pid: 9, start: '1', mark: 'm' }]).size, 0)
})

test('sessions in one process share its memory; a turn without a process yet is active', () => {
  const run = (pid: number) => ({ id: 'r', pid, startTime: '1', bootId: 'b' })
  const sessions = [
    running({ id: 'a', run: run(10) }),
    aSession({ id: 'b', run: run(20) }),
    aSession({ id: 'c', run: run(20) }),
    { ...running({ id: 'd' }), run: null },
    aSession({ id: 'e', queue: ['t9'] }),
  ]
  sessions[0] = { ...sessions[0]!, run: run(10), paused: true }
  const found = resourcesOf(
    sessions,
    new Map([
      [10, 500],
      [20, 300],
    ]),
  )
  assert.deepEqual(
    found.map(({ sessionId, tier, bytes }) => [sessionId, tier, bytes]),
    [
      ['a', 'active', 500],
      ['b', 'warm', 150],
      ['c', 'warm', 150],
      ['d', 'active', 0],
    ],
  )
})

const onLinux = { skip: process.platform === 'linux' ? false : 'needs /proc' }

test('children that left the group and lost their parent are found by the mark', onLinux, async (t) => {
  // Another run of this test on the same machine has another one.
  const mark = `run-${process.pid}-${Date.now()}`
  const look = createProcessLook()
  await look() // whoever comes after this is new to it
  const agent = await holdMemory(64, { CORRAL_RUN: mark })
  t.after(() => endGroup(agent.pid!))
  const script = `"$0" "$@" & echo > /dev/null`
  const stray = spawn('setsid', ['sh', '-c', script, process.execPath, ...holdArgs(48)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'], CORRAL_RUN: mark },
  })
  const [[told]] = await Promise.all([once(stray.stdout, 'data'), once(stray, 'exit')])
  const strayPid = Number(String(told))
  t.after(() => process.kill(strayPid, 'SIGKILL'))

  const root = { pid: agent.pid!, start: startTime(agent.pid!)!, mark }
  const owners = ownersOf(await look(), [root])
  assert.deepEqual(new Set(owners.keys()), new Set([agent.pid!, strayPid]))
  const sizes = await Promise.all([...owners.keys()].map((pid) => footprint(row(pid, 0, 0))))
  const sum = sizes.reduce((a, b) => a + b, 0)
  assert.ok(sum > 112 * MIB && sum < 400 * MIB, `${sum / MIB} MiB`)
})

test('a sample of real sessions: tiers, and the memory of each', async (t) => {
  const rig = await startEngine({ drivers: [heavyDemo] })
  t.after(() => rig.stop())
  const sample = createResources({ log: rig.log })
  const empty = await sample()
  assert.deepEqual([empty.active, empty.warm, empty.cold, empty.agentsBytes], [0, 0, 0, 0])

  const heavy = await newSession(rig, { title: '96' })
  const light = await newSession(rig, { title: '0' })
  await newSession(rig)
  await rig.turn(heavy, '[[say hello]]')
  await rig.engine.turns.send({ sessionId: light, input: [{ type: 'text', text: '[[hang]]' }] })
  await rig.event('turn.accepted', { sessionId: light })

  const both = await Promise.all([sample(), sample()])
  assert.equal(both[0], both[1], 'who asks meanwhile gets the same one')
  const [{ active, warm, cold, sessions, agentsBytes, usedBytes, totalBytes, daemonBytes }] = both
  assert.deepEqual([active, warm, cold], [1, 1, 1])
  const of = (id: string) => sessions.find(({ sessionId }) => sessionId === id)!
  assert.equal(of(heavy).tier, 'warm')
  assert.equal(of(light).tier, 'active')
  assert.ok(of(heavy).bytes > 96 * MIB, `${of(heavy).bytes}`)
  assert.ok(of(heavy).bytes - of(light).bytes > 64 * MIB, `${of(light).bytes}`)
  assert.equal(agentsBytes, of(heavy).bytes + of(light).bytes)
  assert.ok(usedBytes > 0 && usedBytes < totalBytes && daemonBytes > 10 * MIB)

  await rig.engine.sessions.pause(light)
  assert.equal((await sample()).active, 1, 'paused in the middle of a turn')
})
