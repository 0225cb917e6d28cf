import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test, type TestContext } from 'node:test'
import { takeLock } from '../../../src/system/lock.ts'
import { corral } from '../../cli/support.ts'
import { COMPILED, leftAgents, startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { MAIN } from '../../support/program.ts'
import { clientFor as nativeFor, daemonFor } from '../native/support.ts'
import { until } from '../../support/wait.ts'
import { catchesHangups, clientFor, demoSession, startClient, turn } from './support.ts'
import type { Client, Sent } from './support.ts'

/** A home in which no daemon runs. */
function emptyHome(t: TestContext, more: NodeJS.ProcessEnv = {}) {
  const home = mkdtempSync(join(tmpdir(), 'corral-loaf-'))
  const project = join(home, 'project')
  mkdirSync(project)
  const env = {
    PATH: process.env['PATH'],
    ...COMPILED,
    CORRAL_VERIFY: process.env['CORRAL_VERIFY'],
    HOME: home,
    CORRAL_HOME: join(home, '.corral'),
    CORRAL_CODECAST_PORT: '0',
    CORRAL_CLAWDE_PORT: '0',
    CORRAL_DEMO_STATE: join(home, 'demo'),
    ...more,
  }
  const clients: Client[] = []
  t.after(async () => {
    // The one that has the engine goes last.
    for (const client of clients.toReversed()) await client.close()
    if (leftAgents(env.CORRAL_HOME)) {
      // A daemon takes them up, and ends them.
      await corral(env, ['start', '--detach'])
      await corral(env, ['stop', '--now'])
    }
    rmSync(home, { recursive: true, force: true })
  })
  return {
    env,
    project,
    start(args: string[] = []): Client {
      const client = startClient({ env, project }, args)
      clients.push(client)
      return client
    },
  }
}

/** A client with an engine for itself: a turn of it runs, and another session's process waits. */
async function alone(place: ReturnType<typeof emptyHome>) {
  const client = place.start(['--standalone'])
  await turn(client, await demoSession(client), 'hello')
  const sessionId = await demoSession(client)
  await client.call('session.send', { session_id: sessionId, text: '[[drip 5000 20]]' })
  await client.event('session.stream.chunk', (it) => it.session_id === sessionId)
  const groups = groupsIn(place.env.CORRAL_HOME)
  assert.equal(living(groups).length, groups.length)
  assert.ok(groups.length >= 2, 'both have a process')
  return { client, groups }
}

/** The process groups of all agents. */
function groupsIn(corralHome: string): number[] {
  const runs = join(corralHome, 'runs')
  return readdirSync(runs).map((run) => Number(readFileSync(join(runs, run, 'pid'), 'utf8')))
}

/** Those of them in which somebody is left; what nobody has asked after yet is a zombie, and gone. */
function living(groups: readonly number[]): number[] {
  const rows = execFileSync('ps', ['-A', '-o', 'pgid=', '-o', 'stat='], { encoding: 'utf8' }).split('\n')
  const found = rows.map((row) => row.trim().split(/\s+/)).filter(([, state]) => !state?.startsWith('Z'))
  return groups.filter((group) => found.some(([id]) => Number(id) === group))
}

const allGone = (groups: readonly number[]): Promise<true> =>
  until(() => living(groups).length === 0, 'the end of all agents')

function residentMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024
}

describe('with a daemon', () => {
  let daemon: TestDaemon
  before(async () => {
    daemon = await startDaemon()
  })
  after(() => daemon.stop())

  test('that is killed in the middle of a turn: the next one brings the rest', async (t) => {
    const daemon = await daemonFor(t)
    const client = clientFor(t, daemon)
    const sessionId = await demoSession(client)
    await client.call('session.send', { session_id: sessionId, text: '[[drip 60 20]]' })
    await client.event('session.stream.chunk')
    await daemon.kill9()
    await daemon.restart()
    await client.event('session.completed')
    const pieces = client.events('session.stream.chunk').map(({ payload }) => payload.chunk.answerText)
    const words = Array.from({ length: 60 }, (_, at) => `w${at + 1}`).join(' ')
    assert.equal(pieces.join(''), words)
    assert.equal((await client.state(sessionId)).history.at(-1)!.text, words)
    await turn(client, sessionId, 'again')
  })

  test('that is stopped in the middle of a turn: nobody is said to have interrupted it', async (t) => {
    const daemon = await daemonFor(t)
    const client = clientFor(t, daemon)
    const sessionId = await demoSession(client)
    await client.call('session.send', { session_id: sessionId, text: '[[hang]]' })
    await client.event('session.message.appended')
    await corral(daemon.env, ['stop', '--now'])
    await daemon.restart()
    await client.event('session.interrupted')
    const { messages } = await client.state(sessionId)
    assert.match(messages.at(-1)!.text, /^response interrupted: the daemon was stopped\./)
  })

  test('its sessions are there for everybody, and go on when the client leaves', async (t) => {
    const native = await nativeFor(t, daemon)
    for (const end of ['stdin', 'SIGINT', 'SIGTERM'] as const) {
      const client = clientFor(t, daemon)
      const sessionId = await demoSession(client)
      await client.call('session.send', { session_id: sessionId, text: '[[drip 1000 20]]' })
      await client.event('session.stream.chunk')
      if (end === 'stdin') client.child.stdin!.end()
      else client.child.kill(end)
      assert.equal(await client.exited, 0)
      const last = client.events('state.changed').at(-1)!.payload.reason
      assert.equal(last, end === 'stdin' ? 'session_created' : end.toLowerCase())
      assert.equal((await native.call('session.get', { sessionId })).status, 'running')
      assert.equal(client.stderr(), '')
      await native.call('session.interrupt', { sessionId })
    }
  })

  test('system.shutdown stops what was begun here, says so, answers, and ends; late requests are refused', async (t) => {
    const native = await nativeFor(t, daemon)
    const client = clientFor(t, daemon)
    const sessionId = await demoSession(client)
    await client.call('session.send', { session_id: sessionId, text: '[[hang]]' })
    await client.call('session.send', { session_id: sessionId, text: 'waiting', enqueue: true })
    const shutdown = { jsonrpc: '2.0', id: 'end', method: 'system.shutdown', params: { reason: ' enough ' } }
    const late = { jsonrpc: '2.0', id: 'late', method: 'system.ping' }
    client.write(`${JSON.stringify(shutdown)}\n${JSON.stringify(late)}\n`)
    assert.equal(await client.exited, 0)
    const answer = client.lines.find(({ id }) => id === 'end')!
    assert.deepEqual(answer.result, { accepted: true, reason: 'enough' })
    const { error } = client.lines.find(({ id }) => id === 'late')!
    assert.deepEqual([error!.code, error!.data.kind], [-32603, 'shutting_down'])
    const said = client.lines.findIndex(({ params }) => params?.payload.reason === 'enough')
    assert.ok(said >= 0 && said < client.lines.indexOf(answer))
    await until(async () => {
      const { turn: running, queued } = await native.call('session.get', { sessionId })
      return running === null && queued === 0
    }, 'its end')
  })

  test('system.shutdown without a reason', async (t) => {
    const client = clientFor(t, daemon)
    assert.deepEqual(await client.call('system.shutdown'), { accepted: true })
    assert.equal(await client.exited, 0)
    assert.equal(client.events('state.changed').at(-1)!.payload.reason, 'shutdown')
  })

  test('a client that does not read costs little, and reads on later', async (t) => {
    if (process.platform !== 'linux') return t.skip('reads /proc')
    const native = await nativeFor(t, daemon)
    const client = clientFor(t, daemon)
    const sessionId = await demoSession(client)
    await turn(client, sessionId, 'warm up')
    const before = residentMb(client.child.pid!)
    client.child.stdout!.pause()
    const ask = { jsonrpc: '2.0', id: 'big', method: 'session.send' }
    const params = { session_id: sessionId, text: '[[burst 10000 1000]]' }
    client.write(`${JSON.stringify({ ...ask, params })}\n`)
    await until(async () => {
      const { turnCount, turn: running } = await native.call('session.get', { sessionId })
      return turnCount === 2 && running === null
    }, 'the end of the turn')
    // Requests wait in the pipe, too.
    for (let count = 0; count < 20_000; count++) {
      client.write(`{"jsonrpc":"2.0","id":${count},"method":"system.ping"}\n`)
    }
    const grown = residentMb(client.child.pid!) - before
    assert.ok(grown < 60, `${grown} MB more, with 10 MB to tell`)
    client.child.stdout!.resume()
    const { turn_id } = (await until(() => client.lines.find(({ id }) => id === 'big'), 'the answer'))
      .result as unknown as Sent
    const { payload } = await client.event('session.completed', (it) => it.turn_id === turn_id)
    assert.equal(payload['answer_length'], 10_000_000)
    await until(() => client.lines.find(({ id }) => id === 19_999), 'the last pong')
  })

  test('a parent that dies takes only its own with it', async (t) => {
    const native = await nativeFor(t, daemon)
    const script = `
      const { spawn } = require('node:child_process')
      const child = spawn(process.execPath, [${JSON.stringify(MAIN)}, 'rpc'], { stdio: ['pipe', 'pipe', 'ignore'] })
      process.stdout.write(child.pid + '\\n')
      const say = (id, method, params) => child.stdin.write(JSON.stringify({ jsonrpc: '2.0', id, method, params }) + '\\n')
      say(1, 'model.select', { model_id: 'demo', provider: 'demo', thinking_level: 'LOW' })
      let text = ''
      child.stdout.on('data', (data) => {
        text += data
        if (text.includes('"id":1')) { text = ''; say(2, 'session.create', {}) }
        const made = /"id":2,"result":\\{"session_id":"([^"]+)"/.exec(text)
        if (made) { text = ''; say(3, 'session.send', { session_id: made[1], text: '[[drip 2000 20]]' }); process.stdout.write(made[1] + '\\n') }
        if (text.includes('stream.chunk')) process.stdout.write('running\\n')
      })`
    const parent = spawn(process.execPath, ['-e', script], { env: daemon.env, cwd: daemon.project })
    let said = ''
    parent.stdout.on('data', (data: Buffer) => (said += data.toString()))
    t.after(() => parent.kill('SIGKILL'))
    await until(() => said.includes('running'), 'a turn')
    parent.kill('SIGKILL')
    await until(() => {
      try {
        process.kill(Number(said.split('\n')[0]), 0)
        return null
      } catch {
        return true
      }
    }, 'the end of the process')
    const sessionId = said.split('\n')[1]!
    assert.equal((await native.call('session.get', { sessionId })).status, 'running')
    await native.call('session.interrupt', { sessionId })
  })

  test('--standalone is refused, and says who is there', async () => {
    const { code, stdout, stderr } = await corral(daemon.env, ['rpc', '--standalone'])
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, new RegExp(`pid ${daemon.pid}\\b`))
  })
})

describe('without a daemon', () => {
  test('it has an engine of its own, which leaves running turns to the next one', async (t) => {
    const place = emptyHome(t)
    const client = place.start()
    const sessionId = await demoSession(client, 'Alone')
    await turn(client, sessionId, 'hello')
    const { stdout } = await corral(place.env, ['ls', '--quiet'])
    assert.equal(stdout.trim(), sessionId)
    const status = await corral(place.env, ['status', '--json'])
    const [{ listeners }] = status.json<{ listeners: { name: string }[] }>() as [
      { listeners: { name: string }[] },
    ]
    assert.deepEqual(
      listeners.map(({ name }) => name),
      ['native'],
    )
    await client.call('session.send', { session_id: sessionId, text: '[[drip 80 20]]' })
    await client.event('session.stream.chunk', (it) => it.chunk.answerText.startsWith('w1'))
    client.child.stdin!.end()
    assert.equal(await client.exited, 0)
    const next = place.start(['--standalone'])
    await until(async () => {
      const { history } = await next.state(sessionId)
      return history.at(-1)!.text.endsWith('w80')
    }, 'the whole answer')
  })

  for (const end of ['stdin', 'SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    test(`--standalone that ends by ${end} ends its agents, at work or not`, async (t) => {
      const { client, groups } = await alone(emptyHome(t))
      if (end === 'stdin') client.child.stdin!.end()
      else client.child.kill(end)
      assert.equal(await client.exited, 0)
      assert.equal(client.stderr(), '')
      await allGone(groups)
    })
  }

  test('--standalone that is killed, or hangs: its agents end by themselves', async (t) => {
    await Promise.all(
      (['SIGKILL', 'SIGSTOP'] as const).map(async (signal) => {
        const { client, groups } = await alone(emptyHome(t, { CORRAL_AGENTS_ORPHAN_MS: '4000' }))
        client.child.kill(signal)
        await allGone(groups).finally(() => client.child.kill('SIGKILL'))
      }),
    )
  })

  test('a parent that dies leaves nothing behind that does nothing', async (t) => {
    const place = emptyHome(t)
    const client = place.start()
    await turn(client, await demoSession(client), 'hello')
    // Both ends of the pipes are gone, and there is something to say.
    client.child.stdout!.destroy()
    client.write('{"jsonrpc":"2.0","id":1,"method":"system.ping"}\n')
    client.child.stdin!.end()
    assert.equal(await client.exited, 0)
    assert.equal(leftAgents(place.env.CORRAL_HOME), false)
  })

  test('two at once share one, and the one that stays takes it over', async (t) => {
    const place = emptyHome(t)
    const clients = [place.start(), place.start()]
    const [first] = await Promise.all(clients.map((client) => demoSession(client)))
    assert.equal((await clients[1]!.state(first!)).id, first)
    const { pid } = (await corral(place.env, ['status', '--json'])).json<{ pid: number }>()[0]!
    const leaving = clients.find(({ child }) => child.pid === pid)!
    const staying = clients.find(({ child }) => child.pid !== pid)!
    await staying.call('session.send', { session_id: first, text: '[[drip 60 20]]' })
    await staying.event('session.stream.chunk')
    leaving.child.kill('SIGTERM')
    assert.equal(await leaving.exited, 0)
    await staying.event('session.completed')
    assert.match((await staying.state(first!)).history.at(-1)!.text, /^w1 .* w60$/)
    await turn(staying, first!, 'and on')
  })

  test('however often the one that has the engine dies, the last one has it', async (t) => {
    const place = emptyHome(t)
    const clients = Array.from({ length: 3 }, () => place.start())
    await Promise.all(clients.map((client) => client.call('system.ping')))
    for (let left = 3; left > 1; left--) {
      const host = await until(async () => {
        const { code, json } = await corral(place.env, ['status', '--json'])
        const pid = code === 0 ? json<{ pid: number }>()[0]!.pid : 0
        return clients.find(({ child }) => child.pid === pid && child.signalCode === null)
      }, 'an engine')
      host.child.kill('SIGKILL')
      await host.exited
    }
    const last = clients.find(({ child }) => child.signalCode === null)!
    await turn(last, await demoSession(last), 'still served')
  })

  test('one that still waits for an engine leaves when it is told to', async (t) => {
    if (process.platform !== 'linux') return t.skip('reads /proc')
    const place = emptyHome(t)
    const home = place.env.CORRAL_HOME
    mkdirSync(home)
    const lock = takeLock(join(home, 'lock'), join(home, 'run.json'))
    t.after(lock.release)
    const client = place.start()
    await until(() => catchesHangups(client.child.pid!), 'its handlers')
    client.child.kill('SIGTERM')
    assert.equal(await client.exited, 0)
    assert.equal(client.stderr(), '')
  })

  test('--standalone is refused where another has the data, and the fault is on stderr', async (t) => {
    const place = emptyHome(t)
    const first = place.start(['--standalone'])
    await first.call('system.ping')
    const { code, stdout, stderr } = await corral(place.env, ['rpc', '--standalone'])
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, new RegExp(`pid ${first.child.pid}\\b`))
  })

  test('a request that comes before all is ready is answered', async (t) => {
    const place = emptyHome(t)
    const { code, json } = await corral(place.env, ['rpc'], {
      input: '{"jsonrpc":"2.0","id":1,"method":"system.ping"}',
      cwd: place.project,
    })
    assert.equal(code, 0)
    assert.deepEqual(
      json().map(({ id }) => id),
      [1],
    )
  })
})
