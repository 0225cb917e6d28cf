import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type NativeClient } from '../../src/client/client.ts'
import type { Event } from '../../src/core/event.ts'
import { corral } from '../cli/support.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { until } from '../support/wait.ts'

/** A way from one machine to another. */
export interface Way {
  /** How the other one is reached; null: it is there by itself. */
  target: string | null
  /** What the daemon that reaches out needs for it. */
  env: NodeJS.ProcessEnv
  /** All connections break, now. */
  cut(): void
  /** Nothing gets through from now on; or it does again. */
  block(blocked: boolean): Promise<void>
  close(): Promise<void>
}

const NAME = 'desk'

/** All events of a session, without what differs from log to log. */
async function told(client: NativeClient, sessionId: string): Promise<unknown[]> {
  const { events } = await client.call('events.read', { sessionId, after: 0, whole: true, limit: 1000 })
  return (events as unknown as Event[]).map(plain)
}

function plain(event: Event): unknown {
  const { seq: _, machine: __, ownerSeq: ___, ...rest } = event
  if (rest.type === 'approval.requested') return { ...rest, approval: { ...rest.approval, machine: null } }
  return rest.type === 'session.marked' ? { ...rest, readSeq: null } : rest
}

/** What every way between two machines must keep. */
export function describeWay(name: string, open: (there: TestDaemon) => Promise<Way>): void {
  describe(name, () => {
    let there: TestDaemon
    let here: TestDaemon
    let way: Way
    let far: NativeClient
    let near: NativeClient
    before(async () => {
      there = await startDaemon()
      way = await open(there)
      here = await startDaemon({ env: way.env })
      far = await connect(there.socket, { reconnect: true })
      near = await connect(here.socket, { reconnect: true })
    })
    after(async () => {
      near?.close()
      far?.close()
      await here?.stop()
      await way?.close()
      await there?.stop()
    })

    const isHere = async (): Promise<boolean> =>
      (await near.call('machine.list')).machines.some(({ state }) => state === 'here')
    const make = async (mode: 'auto' | 'ask' = 'auto'): Promise<string> =>
      (await far.call('session.create', { agent: 'demo', cwd: there.project, mode })).id
    const isKnown = (sessionId: string): Promise<boolean> =>
      near.call('session.get', { sessionId }).then(
        () => true,
        () => false,
      )
    const isIdle = async (sessionId: string): Promise<boolean> => {
      const { status, turnCount } = await near.call('session.get', { sessionId })
      return status === 'idle' && turnCount > 0
    }
    const isOver = async (turnId: string): Promise<boolean> =>
      (await near.call('turn.get', { turnId })).state === 'completed'
    /** What is here is what is there; events of an agent at rest may still be on their way. */
    const same = (sessionId: string): Promise<unknown> =>
      until(async () => {
        assert.deepEqual(await told(near, sessionId), await told(far, sessionId))
        return true
      }, 'all of it is here, once')

    test('a machine is added, and what it had before is here', async () => {
      const old = await make()
      await far.call('session.send', { sessionId: old, content: '[[say long ago]]' })
      await until(
        async () => (await far.call('session.get', { sessionId: old })).status === 'idle',
        'it has ended',
      )
      if (way.target !== null) {
        const added = await corral(here.env, ['machine', 'add', way.target, '--name', NAME])
        assert.deepEqual([added.code, added.stdout], [0, `added ${NAME}\n`], added.stderr)
      }
      await until(() => isKnown(old), 'the session is here')
      await same(old)
      assert.equal((await near.call('session.get', { sessionId: old })).machine, NAME)
      const listed = await corral(here.env, ['ls', '--on', NAME])
      assert.match(listed.stdout, /MACHINE[^]*desk/)
      const { hits } = await near.call('messages.search', { text: '"long ago"' })
      assert.ok(hits.length > 0 && hits.every(({ machine }) => machine === NAME))
      assert.match((await corral(here.env, ['machines'])).stdout, /^here +desk +1 /m)
      const again = await corral(here.env, ['machine', 'add', way.target ?? '/', '--name', NAME])
      assert.match(again.stderr, /there is a machine called desk already/)
    })

    test('a message from here is answered there, and streams here', async () => {
      const sessionId = await make()
      await until(() => isKnown(sessionId), 'the session is here')
      const sent = await corral(here.env, ['send', sessionId, '[[say hello from afar]]'])
      assert.match(sent.stdout, /hello from afar/)
      const key = 'the same'
      const one = await near.call('session.send', { sessionId, content: '[[say once]]', key })
      const two = await near.call('session.send', { sessionId, content: '[[say once]]', key })
      assert.deepEqual([two.turnId, two.seq, two.repeated], [one.turnId, one.seq, true])
      await until(() => isOver(one.turnId), 'it is over')
      await same(sessionId)
      const texts = (await far.call('turn.list', { sessionId })).turns.map(({ text }) => text)
      assert.equal(texts.filter((text) => text?.includes('once')).length, 1)
    })

    test('a question there is answered here', async () => {
      const sessionId = await make('ask')
      await far.call('session.send', { sessionId, content: '[[shell echo hi]]' })
      await until(
        async () =>
          (await near.call('approval.list', { sessionId }).catch(() => null))?.approvals.length === 1,
        'it is asked here',
      )
      const [approval] = (await near.call('approval.list', { sessionId })).approvals
      assert.equal(approval!.machine, NAME)
      assert.match((await corral(here.env, ['approvals'])).stdout, /echo hi/)
      const decided = await near.call('approval.decide', {
        approvalId: approval!.id,
        behavior: 'allow',
        by: 'me',
      })
      assert.equal(decided.decision?.behavior, 'allow')
      await until(() => isIdle(sessionId), 'the turn is over')
      await same(sessionId)
      assert.equal((await far.call('approval.get', { approvalId: approval!.id })).decidedBy, 'me')
      await assert.rejects(near.call('approval.decide', { approvalId: approval!.id, behavior: 'deny' }), {
        code: 'approval_resolved',
      })
    })

    test('a session is started there, with its files, its queue and its end', async () => {
      writeFileSync(join(there.project, 'only-there.txt'), 'far away')
      const args = [
        'new',
        '--on',
        NAME,
        '--cwd',
        there.project,
        '--agent',
        'demo',
        '--mode',
        'auto',
        '--title',
        'Far',
      ]
      const made = await corral(here.env, args)
      assert.equal(made.code, 0, made.stderr)
      const sessionId = made.stdout.trim()
      assert.equal((await far.call('session.get', { sessionId })).title, 'Far')
      const { entries } = await near.call('files.list', { sessionId })
      assert.ok(entries.some((entry) => entry.name === 'only-there.txt'))
      await near.call('session.send', { sessionId, content: '[[hang]]' })
      const queued = await near.call('session.send', { sessionId, content: '[[say later]]' })
      assert.equal(queued.position, 1)
      const { turns } = await near.call('queue.list', { sessionId })
      assert.deepEqual(
        turns.map(({ id }) => id),
        [queued.turnId],
      )
      await near.call('queue.edit', { sessionId, turnId: queued.turnId, content: '[[say edited]]' })
      await near.call('session.interrupt', { sessionId })
      await until(() => isOver(queued.turnId), 'what waited is over')
      await until(() => isIdle(sessionId), 'it rests')
      assert.equal((await near.call('turn.get', { turnId: queued.turnId })).text, 'edited')
      await near.call('session.configure', { sessionId, title: 'Renamed' })
      assert.equal((await far.call('session.get', { sessionId })).title, 'Renamed')
      const { endedSeq } = await ended(near, sessionId)
      await near.call('session.mark', { sessionId, readSeq: endedSeq, pinned: true })
      const marks = (await far.call('session.get', { sessionId })).marks
      assert.equal(marks.pinned, true)
      assert.equal(marks.readSeq, (await ended(far, sessionId)).endedSeq)
      await same(sessionId)
      await near.call('session.destroy', { sessionId })
      await assert.rejects(far.call('session.get', { sessionId }), { code: 'session_not_found' })
      await assert.rejects(near.call('session.get', { sessionId }), { code: 'session_not_found' })
      const noPlace = await corral(here.env, ['new', '--on', NAME, 'hi'])
      assert.match(noPlace.stderr, /--on desk needs --cwd/)
      const nobody = await corral(here.env, ['new', '--on', 'nobody', '--cwd', '/', 'hi'])
      assert.match(nobody.stderr, /No machine is called nobody/)
    })

    test('a broken connection in the middle of an answer loses nothing and repeats nothing', async () => {
      const sessionId = await make()
      await until(() => isKnown(sessionId), 'the session is here')
      const head = async (): Promise<number> => (await near.call('daemon.status')).log.head
      let last = ''
      for (let cuts = 0; cuts < 3; cuts++) {
        const before = await head()
        // However long it takes to connect again, there is something to come.
        last = (await far.call('session.send', { sessionId, content: '[[drip 60 10]]' })).turnId
        await until(async () => (await head()) > before, 'something arrives')
        way.cut()
      }
      // Whether it has begun, nobody knows here before the connection is back.
      await until(() => isOver(last).catch(() => false), 'it is over')
      await same(sessionId)
      await until(isHere, 'it is back')
    })

    test('a session that begins while the connection is made again begins once', async () => {
      const made: string[] = []
      for (let round = 0; round < 5; round++) {
        await until(isHere, 'it is here')
        way.cut()
        await until(async () => !(await isHere()), 'it is away')
        await until(async () => {
          made.push(await make())
          return isHere()
        }, 'it is back')
      }
      for (const sessionId of made) {
        await until(() => isKnown(sessionId), 'the session is here')
        await same(sessionId)
      }
    })

    test('what happens while nothing gets through arrives later, and a command fails at once', async () => {
      const sessionId = await make()
      await until(() => isKnown(sessionId), 'the session is here')
      await way.block(true)
      await until(async () => !(await isHere()), 'it is away')
      const refused = await corral(here.env, ['send', sessionId, 'hi'])
      assert.notEqual(refused.code, 0)
      assert.match(refused.stderr, /desk does not answer/)
      assert.match((await corral(here.env, ['machines'])).stderr, /desk went away .*ago: ./)
      await far.call('session.send', { sessionId, content: '[[say meanwhile]]' })
      await until(
        async () => (await far.call('session.get', { sessionId })).status === 'idle',
        'it is over there',
      )
      assert.equal((await near.call('session.get', { sessionId })).turnCount, 0)
      const own = await corral(here.env, [
        'new',
        '--agent',
        'demo',
        '--mode',
        'auto',
        '--cwd',
        here.project,
        '[[say mine]]',
      ])
      assert.match(own.stdout, /mine/, 'what runs here goes on')
      await way.block(false)
      await until(() => isIdle(sessionId), 'it has arrived')
      await same(sessionId)
    })

    test('either daemon may be killed in the middle of a turn', async () => {
      const sessionId = await make()
      await until(() => isKnown(sessionId), 'the session is here')
      await far.call('session.send', { sessionId, content: '[[drip 300 10]] [[say whole]]' })
      const begun = async (): Promise<boolean> => {
        const { status, turnCount } = await near.call('session.get', { sessionId })
        return status === 'running' || turnCount > 0
      }
      await until(begun, 'it runs, or has run on a busy machine')
      await here.kill9()
      await here.restart()
      await until(
        async () => (await near.call('session.get', { sessionId })).turnCount === 1,
        'it is known again',
      )
      await there.kill9()
      await there.restart()
      await until(() => isIdle(sessionId), 'it is over')
      await until(isHere, 'it is back')
      await same(sessionId)
      const [turn] = (await near.call('turn.list', { sessionId })).turns
      assert.equal(turn!.state, 'completed')
    })

    test('what is larger than any message goes through whole, in both directions', async () => {
      const sessionId = await make()
      await until(() => isKnown(sessionId), 'the session is here')
      const content = `[[say short]] ${'long '.repeat(500_000)}`
      await near.call('session.send', { sessionId, content })
      await until(() => isIdle(sessionId), 'the turn is over')
      await same(sessionId)
      const { hits } = await near.call('messages.search', { text: 'long', sessionId })
      assert.ok(hits.length > 0)
    })

    test('a restored backup is another log: what is in it is here, once, and it goes on', async () => {
      const sessionId = await make()
      await far.call('session.send', { sessionId, content: '[[say kept]]' })
      await until(async () => (await isKnown(sessionId)) && isIdle(sessionId), 'it is here')
      const file = join(there.home, 'corral.tgz')
      const kept = await corral(there.env, ['backup', 'add', file])
      assert.equal(kept.code, 0, kept.stderr)
      await far.call('session.send', { sessionId, content: '[[say lost]]' })
      await until(
        async () => (await near.call('session.get', { sessionId })).turnCount === 2,
        'it is here too',
      )
      await there.terminate()
      const restored = await corral(there.env, ['backup', 'restore', file, '--force'])
      assert.equal(restored.code, 0, restored.stderr)
      await there.restart()
      await until(async () => {
        const session = await near.call('session.get', { sessionId }).catch(() => null)
        return session?.turnCount === 1 && (await isHere())
      }, 'the last turn is not there any more')
      await far.call('session.send', { sessionId, content: '[[say again]]' })
      await until(async () => (await near.call('session.get', { sessionId })).turnCount === 2, 'it goes on')
      await until(() => isIdle(sessionId), 'it rests')
      await same(sessionId)
    })

    test('a device has no more rights there than here', async () => {
      const sessionId = await make()
      await until(() => isKnown(sessionId), 'the session is here')
      const call = (scopes: ('use' | 'manage')[], method: string, params: object): Promise<unknown> =>
        far.call('member.call', { method, params, caller: { name: 'phone', scopes } })
      await assert.rejects(call(['use'], 'daemon.setName', { name: 'x' }), { code: 'forbidden' })
      await call(['use'], 'session.configure', { sessionId, title: 'By a phone' })
      await assert.rejects(call(['use', 'manage'], 'events.subscribe', {}), { code: 'unsupported' })
      await assert.rejects(call(['use', 'manage'], 'member.call', {}), { code: 'unsupported' })
    })

    test('a machine that is removed takes its sessions along', async () => {
      const own = (await far.call('session.list', {})).sessions.filter(({ machine }) => machine === undefined)
      const before = own.length
      assert.ok(before > 0)
      if (way.target === null) {
        const refused = await corral(here.env, ['machine', 'rm', NAME])
        assert.match(refused.stderr, /desk is in the fleet/)
        await way.block(true)
        await until(async () => !(await isHere()), 'it is away')
      }
      assert.equal((await corral(here.env, ['machine', 'rm', NAME])).code, 0)
      const { sessions } = await near.call('session.list', {})
      assert.ok(sessions.every(({ machine }) => machine === undefined))
      const theirs = (await far.call('session.list', {})).sessions.filter(
        ({ machine }) => machine === undefined,
      )
      assert.equal(theirs.length, before)
      assert.match(
        (await corral(here.env, ['machines'])).stderr,
        /this machine is alone|nobody but this machine/,
      )
    })
  })
}

async function ended(client: NativeClient, sessionId: string): Promise<{ endedSeq: number }> {
  const types = ['turn.completed' as const, 'turn.interrupted' as const]
  const { events } = await client.call('events.read', { sessionId, after: 0, types, limit: 1000 })
  return { endedSeq: events.at(-1)!.seq }
}
