import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startTime } from '../../src/agents/host/process.ts'
import { runFiles } from '../../src/agents/host/wrapper.ts'
import type { Event, EventType } from '../../src/core/event.ts'
import { connect, type NativeClient } from '../../src/client/client.ts'
import { startDaemon, type TestDaemon, type TestDaemonOptions } from './daemon.ts'
import { arrival, until } from './wait.ts'

export interface CrashSuite {
  agent: string
  options?: () => Promise<TestDaemonOptions>
  /** How often the daemon is killed at a moment of chance. */
  rounds: number
  /** When the agent hears a message in the middle of a turn; by default between two rounds of it. */
  steers?: 'never' | 'at once' | 'between rounds'
  /** Tests of the caller's own with the same daemon, before it is ended. */
  before?: (given: CrashRig) => void
}

export interface CrashRig {
  daemon(): TestDaemon
  client(): NativeClient
  /** The text that a turn ends with. */
  turn(sessionId: string, sent: { turnId: string; seq: number }): Promise<string | null>
}

const END: readonly EventType[] = ['turn.completed', 'turn.failed', 'turn.interrupted', 'turn.cancelled']

/** The daemon is killed with -9 at awkward moments: turns, queues and approvals go on as if nothing had happened. */
export function crashSuite({
  agent,
  options,
  rounds,
  steers = 'between rounds',
  before: own,
}: CrashSuite): void {
  let daemon: TestDaemon
  let client: NativeClient
  before(async () => {
    daemon = await startDaemon((await options?.()) ?? {})
    client = await connect(daemon.socket, { reconnect: true })
  })
  after(async () => {
    client.close()
    await daemon.stop()
  })

  async function newSession(mode: 'auto' | 'ask' = 'auto'): Promise<string> {
    return (await client.call('session.create', { agent, cwd: daemon.project, mode })).id
  }

  /** Reads a session from a cursor to the end of a turn, over as many daemons as it takes. */
  async function readTurn(
    sessionId: string,
    after: number,
    turnId: string,
    seen: (event: Event) => Promise<void>,
  ) {
    const events: Event[] = []
    const stream = client.events({ after, sessionId })
    async function read(): Promise<void> {
      for await (const event of stream as AsyncIterable<Event>) {
        events.push(event)
        await seen(event)
        if (END.includes(event.type) && event.turnId === turnId) break
      }
    }
    const types = (): string => events.map(({ type }) => type).join(', ')
    await arrival(read(), () => `the end of the turn ${turnId}; events: ${types()}`).finally(() =>
      stream.close(),
    )
    const seqs = events.map((event) => event.seq)
    assert.deepEqual(
      seqs,
      [...new Set(seqs)].sort((a, b) => a - b),
      'no event twice, none out of order',
    )
    assert.equal(events.at(-1)?.type, 'turn.completed', JSON.stringify(events.at(-1)))
    return events
  }

  async function crash(): Promise<void> {
    await daemon.kill9()
    await daemon.restart()
  }

  const words = (count: number): string => Array.from({ length: count }, (_, i) => `w${i + 1}`).join(' ')

  async function pidOf(sessionId: string): Promise<number | null> {
    return (await client.call('session.get', { sessionId })).pid
  }

  async function ofType(sessionId: string, types: EventType[]): Promise<Event[]> {
    const { events } = await client.call('events.read', { after: 0, sessionId, types, limit: 1000 })
    return events as Event[]
  }

  test(`${agent}: killed in the middle of a streamed answer, the same process finishes it, each event once`, async () => {
    const sessionId = await newSession()
    const { turnId, seq } = await client.call('session.send', {
      sessionId,
      content: '[[drip 40 25]]',
      key: 'one',
    })
    let pid: number | null = null
    const events = await readTurn(sessionId, seq - 1, turnId, async (event) => {
      if (event.type !== 'message.delta' || pid !== null) return
      pid = await pidOf(sessionId)
      await crash()
    })
    assert.ok(pid)
    assert.equal(await pidOf(sessionId), pid, 'the same process')
    const done = events.find((event) => event.type === 'message.completed')
    assert.equal(done?.type === 'message.completed' && done.text, words(40))
    const again = await client.call('session.send', { sessionId, content: '[[drip 40 25]]', key: 'one' })
    assert.equal(again.turnId, turnId, 'a retry with the same key is the same message')
    const logged = await ofType(sessionId, ['turn.started', 'message.completed', 'turn.completed'])
    assert.deepEqual(
      logged.map((event) => event.type),
      ['turn.started', 'message.completed', 'turn.completed'],
    )
  })

  test(`${agent}: an open approval outlives the daemon, and so does an answer it has just taken`, async () => {
    const sessionId = await newSession('ask')
    const { turnId, seq } = await client.call('session.send', {
      sessionId,
      content: '[[shell touch made.txt]]',
    })
    let pid: number | null = null
    const events = await readTurn(sessionId, seq - 1, turnId, async (event) => {
      if (event.type !== 'approval.requested') return
      pid = await pidOf(sessionId)
      await crash()
      const { approvals } = await client.call('approval.list', { sessionId, open: true })
      assert.equal(approvals.length, 1)
      await client.call('approval.decide', { approvalId: approvals[0]!.id, behavior: 'allow' })
      await crash()
    })
    assert.equal(await pidOf(sessionId), pid, 'the same process')
    const results = events.flatMap((event) => (event.type === 'tool.completed' ? [event.isError] : []))
    assert.deepEqual(results, [false])
  })

  test(`${agent}: what waits in the queue runs after the crash, in order, once`, async () => {
    const sessionId = await newSession()
    const sent: { turnId: string; seq: number }[] = []
    for (const content of ['[[drip 10 30]]', '[[say second]]', '[[say third]]']) {
      sent.push(await client.call('session.send', { sessionId, content }))
    }
    await crash()
    await readTurn(sessionId, sent[0]!.seq - 1, sent[2]!.turnId, async () => undefined)
    const texts = (await ofType(sessionId, ['message.completed'])).map(
      (e) => e.type === 'message.completed' && e.text,
    )
    assert.deepEqual(texts, [words(10), 'second', 'third'])
  })

  /** What became of a steer: how often it was taken into a turn, how often it was one of its own. */
  async function fateOf(sessionId: string, steerId: string): Promise<[number, number]> {
    const events = await ofType(sessionId, ['turn.steer_accepted', 'turn.completed'])
    const taken = events.filter((event) => event.type === 'turn.steer_accepted' && event.steerId === steerId)
    return [taken.length, events.filter((event) => event.turnId === steerId).length]
  }

  /** Waits until an agent has written it, whoever reads that. */
  async function said(text: string): Promise<void> {
    const runs = join(daemon.corralHome, 'runs')
    const journals = () => readdirSync(runs).map((run) => runFiles(join(runs, run)).journal)
    const isThere = () => journals().some((path) => readFileSync(path, 'utf8').includes(text))
    await until(isThere, `an agent has said ${text}`)
  }

  async function textsOf(sessionId: string): Promise<string[]> {
    const events = await ofType(sessionId, ['message.completed'])
    return events.flatMap((event) => (event.type === 'message.completed' ? [event.text] : []))
  }

  const unheard = steers === 'never' && 'it takes no message in the middle of a turn'
  test(
    `${agent}: a steer outlives the daemon that has just taken it, and is heard once`,
    { skip: unheard },
    async () => {
      const sessionId = await newSession('ask')
      const content = '[[shell touch steered.txt]]'
      const { turnId, seq } = await client.call('session.send', { sessionId, content })
      let steerId = ''
      await readTurn(sessionId, seq - 1, turnId, async (event) => {
        if (event.type !== 'approval.requested') return
        const steered = await client.call('session.steer', {
          sessionId,
          content: '[[say steered]]',
          key: 's',
        })
        steerId = steered.steerId
        await crash()
        const again = await client.call('session.steer', { sessionId, content: '[[say steered]]', key: 's' })
        assert.deepEqual([again.steerId, again.repeated], [steerId, true])
        await client.call('approval.decide', { approvalId: event.approval.id, behavior: 'allow' })
      })
      const fate = await fateOf(sessionId, steerId)
      // The answer may be read before the steer: then that is the next turn.
      if (fate[0] === 0) await readTurn(sessionId, seq - 1, steerId, async () => undefined)
      const [taken, own] = await fateOf(sessionId, steerId)
      assert.equal(taken + own, 1)
      assert.equal((await textsOf(sessionId)).filter((text) => text === 'steered').length, 1)
    },
  )

  const inTime = steers !== 'between rounds' && 'a message cannot come too late'
  test(
    `${agent}: a steer that came too late for a turn that ended without a daemon is the next one, once`,
    { skip: unheard || inTime },
    async () => {
      const sessionId = await newSession()
      const { seq } = await client.call('session.send', { sessionId, content: '[[drip 30 100]]' })
      const stream = client.events({ after: seq - 1, sessionId })
      for await (const event of stream as AsyncIterable<Event>) if (event.type === 'message.delta') break
      stream.close()
      const { steerId } = await client.call('session.steer', { sessionId, content: '[[say late]]' })
      await daemon.kill9()
      await said('"late"')
      await daemon.restart()
      await readTurn(sessionId, seq - 1, steerId, async () => undefined)
      assert.deepEqual(await fateOf(sessionId, steerId), [0, 1])
      assert.deepEqual(await textsOf(sessionId), [words(30), 'late'])
    },
  )

  test(`${agent}: killed at ${rounds} moments of chance, nothing acknowledged is lost or done twice`, async (context) => {
    const sessionId = await newSession()
    await client.call('session.send', { sessionId, content: '[[say warm]]' })
    for (let round = 0; round < rounds; round++) {
      const { turnId, seq } = await client.call('session.send', {
        sessionId,
        content: `[[drip 12 15]]`,
        key: `r${round}`,
      })
      const wait = Math.floor(Math.random() * 250)
      context.diagnostic(`round ${round}: killed after ${wait} ms`)
      await new Promise((resolve) => setTimeout(resolve, wait))
      await crash()
      const events = await readTurn(sessionId, seq - 1, turnId, async () => undefined)
      const texts = events.flatMap((event) => (event.type === 'message.completed' ? [event.text] : []))
      assert.deepEqual(texts.slice(-1), [words(12)])
    }
    const completed = await ofType(sessionId, ['message.completed', 'turn.completed'])
    assert.equal(completed.length, 2 * (rounds + 1))
  })

  own?.({
    daemon: () => daemon,
    client: () => client,
    async turn(sessionId, { turnId, seq }) {
      const end = (await readTurn(sessionId, seq - 1, turnId, async () => undefined)).at(-1)
      return end?.type === 'turn.completed' ? end.text : null
    },
  })

  test(`${agent}: no process is left over`, async () => {
    const { sessions } = await client.call('session.list', { limit: 100 })
    const pids = sessions.flatMap(({ pid }) => (pid ? [pid] : []))
    assert.ok(pids.length > 0)
    assert.equal(await daemon.terminate(), 0)
    for (const pid of pids) assert.equal(startTime(pid), null)
  })
}
