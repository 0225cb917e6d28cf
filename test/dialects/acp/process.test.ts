import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test, type TestContext } from 'node:test'
import { corral } from '../../cli/support.ts'
import { COMPILED, startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { goOn, HELD } from '../../support/held.ts'
import { clientFor, demoSession } from '../native/support.ts'
import { until } from '../../support/wait.ts'
import { acpProcess, editorFor, newSession } from './support.ts'

const ASK = ['--agent', 'demo', '--mode', 'ask']

let daemon: TestDaemon

before(async () => {
  daemon = await startDaemon()
})

after(() => daemon.stop())

/** A home in which no daemon runs; one that a test has started there is ended after it. */
function emptyHome(t: TestContext) {
  const home = mkdtempSync(join(tmpdir(), 'corral-none-'))
  t.after(async () => {
    await corral(env, ['stop', '--now'])
    rmSync(home, { recursive: true, force: true })
  })
  const project = join(home, 'project')
  mkdirSync(project)
  const env = {
    PATH: process.env['PATH'],
    ...COMPILED,
    HOME: home,
    CORRAL_HOME: join(home, '.corral'),
    CORRAL_PORT: '0',
    CORRAL_CODECAST_PORT: '0',
    CORRAL_CLAWDE_PORT: '0',
    CORRAL_RELAY_PORT: '0',
    CORRAL_DEMO_STATE: join(home, 'demo'),
  }
  return { env, project }
}

function line(message: object): string {
  return `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`
}

function residentMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024
}

const HELLO = line({ id: 1, method: 'initialize', params: { protocolVersion: 1 } })

describe('the daemon', () => {
  test('is killed in the middle of a turn: the prompt is answered by the next one', async (t) => {
    const editor = await editorFor(t, daemon)
    const sessionId = await newSession(editor, daemon)
    const done = editor.prompt(sessionId, '[[drip 100 20]]')
    await editor.reads('w5')
    await daemon.kill9()
    await daemon.restart()
    assert.equal((await done).stopReason, 'end_turn')
    assert.equal(editor.text(), Array.from({ length: 100 }, (_, at) => `w${at + 1}`).join(' '))
    assert.equal((await editor.prompt(sessionId, 'again')).stopReason, 'end_turn')
  })

  test('is killed while a question is open: the answer still counts', async (t) => {
    const editor = await editorFor(t, daemon, { args: ASK })
    const sessionId = await newSession(editor, daemon)
    const done = editor.prompt(sessionId, '[[shell survive]]')
    const { choose } = await editor.permission()
    await daemon.kill9()
    choose('allow')
    await daemon.restart()
    assert.equal((await done).stopReason, 'end_turn')
    assert.match(editor.text(), /ran: survive/)
    assert.equal(editor.unseen(), 0)
  })

  test('is away when the prompt comes: it waits', async (t) => {
    const editor = await editorFor(t, daemon)
    const sessionId = await newSession(editor, daemon)
    await daemon.kill9()
    const done = editor.prompt(sessionId, 'anybody there?')
    await daemon.restart()
    assert.equal((await done).stopReason, 'end_turn')
    assert.equal(editor.text(), 'echo: anybody there?')
  })

  test('is not there: the editor gets an end and a reason, nothing on stdout', async (t) => {
    const { env } = emptyHome(t)
    const { code, stdout, stderr } = await corral(env, ['acp'])
    assert.deepEqual([code, stdout], [3, ''])
    assert.match(stderr, /no daemon is running .* start one with: corral start --detach/)
  })

  test('is started on demand, once, and outlives the editor', async (t) => {
    const place = emptyHome(t)
    const args = ['--start', '--agent', 'demo']
    const editors = await Promise.all([editorFor(t, place, { args }), editorFor(t, place, { args })])
    const ids = await Promise.all(editors.map((editor) => newSession(editor, place)))
    for (const { child, exited } of editors) {
      child.stdin!.end()
      assert.equal(await exited, 0)
    }
    const { stdout } = await corral(place.env, ['ls', '--quiet'])
    assert.deepEqual(stdout.trim().split('\n').sort(), ids.sort())
    assert.equal((await corral(place.env, ['stop', '--now'])).code, 0)
  })

  test('has a wrong mode on the command line refused', async (t) => {
    const { env } = emptyHome(t)
    assert.equal((await corral(env, ['acp', '--mode', 'yolo'])).code, 2)
  })
})

describe('the editor', () => {
  test('goes away in the middle of a turn: the process ends at once, the turn goes on', async (t) => {
    const editor = await editorFor(t, daemon)
    const sessionId = await newSession(editor, daemon)
    editor.prompt(sessionId, HELD).catch(() => {})
    const native = await clientFor(t, daemon)
    await until(
      async () => (await native.call('approval.list', { sessionId, open: true })).approvals[0],
      'a question',
    )
    editor.child.stdin!.end()
    assert.equal(await editor.exited, 0)
    assert.equal(editor.stderr(), '')
    await goOn(daemon, sessionId)
    await until(async () => {
      return (await native.call('turn.list', { sessionId })).turns[0]!.state === 'completed'
    }, 'the end of the turn')
  })

  test('goes away with a question open: it stays open for others', async (t) => {
    const editor = await editorFor(t, daemon, { args: ASK })
    const sessionId = await newSession(editor, daemon)
    editor.prompt(sessionId, '[[shell wait]]').catch(() => {})
    await editor.permission()
    editor.child.kill('SIGTERM')
    await editor.exited
    const native = await clientFor(t, daemon)
    const { approvals } = await native.call('approval.list', { sessionId })
    assert.equal(approvals.length, 1)
  })

  test('has its answer before anything else about the session', async (t) => {
    const native = await clientFor(t, daemon)
    const { id: sessionId } = await demoSession(native, daemon, 'ask')
    await native.call('session.send', { sessionId, content: '[[shell ls]]' })
    await until(async () => (await native.call('approval.list', { sessionId })).approvals[0], 'a question')
    const { child, stdout } = acpProcess(t, daemon)
    child.stdin.write(HELLO)
    await until(() => stdout().includes('"id":1'), 'hello')
    const cwd = daemon.project
    child.stdin.write(line({ id: 2, method: 'session/resume', params: { sessionId, cwd } }))
    await until(() => stdout().includes('session/request_permission'), 'the question')
    const [, answer] = stdout().split('\n')
    assert.equal((JSON.parse(answer!) as { id: number }).id, 2)
  })

  test('writes nonsense: it is told so, and the rest is served', async (t) => {
    const { child, stdout, exited } = acpProcess(t, daemon)
    const bad = [
      'no json',
      '{"half":',
      '[]',
      '42',
      'null',
      '{"jsonrpc":"1.0","id":5,"method":"initialize"}',
      '{"jsonrpc":"2.0","id":77,"result":{}}',
      '\u2028',
      '',
    ]
    child.stdin.write(bad.map((one) => `${one}\n`).join(''))
    child.stdin.write(HELLO)
    await until(() => stdout().includes('"id":1'), 'hello')
    child.stdin.write(line({ id: 2, method: 'no/such' }))
    child.stdin.write(line({ id: 3, method: 'session/prompt', params: { sessionId: 4 } }))
    child.stdin.write(line({ method: 'session/cancel', params: { sessionId: 'nobody' } }))
    child.stdin.write(line({ method: 'no/such' }))
    child.stdin.write(line({ id: 6, method: 'session/list', params: {} }))
    const answers = await until(() => {
      const all = stdout().split('\n').filter(Boolean)
      const parsed = all.map((one) => JSON.parse(one) as { id: number | null; error?: { code: number } })
      return parsed.some(({ id }) => id === 6) ? parsed : null
    }, 'the last answer')
    const codes = new Map(answers.map(({ id, error }) => [id, error?.code]))
    assert.deepEqual(
      [codes.get(1), codes.get(2), codes.get(3), codes.get(6)],
      [undefined, -32601, -32602, undefined],
    )
    const refused = answers.filter(({ id }) => id === null).map(({ error }) => error!.code)
    assert.deepEqual(refused, [-32700, -32700, -32600, -32600, -32600, -32600])
    child.stdin.end()
    assert.equal(await exited, 0)
  })

  test('writes a line without end: that is the end, with a reason', async (t) => {
    const { child, exited, stderr } = acpProcess(t, daemon)
    const chunk = Buffer.alloc(1024 ** 2, 'x')
    for (let count = 0; count < 70; count++) child.stdin.write(chunk)
    assert.equal(await exited, 1)
    assert.match(stderr(), /limit/)
  })

  test('does not read: what it has not read is not gathered, and comes later', async (t) => {
    if (process.platform !== 'linux') return t.skip('reads /proc')
    const native = await clientFor(t, daemon)
    const { child } = acpProcess(t, daemon)
    let tail = ''
    child.stdout.on('data', (data: Buffer) => (tail = (tail + data.toString()).slice(-2000)))
    const answered = (id: number) => until(() => tail.includes(`"id":${id}`), `answer ${id}`)
    const { id: sessionId } = await demoSession(native, daemon)
    child.stdin.write(HELLO)
    await answered(1)
    const cwd = daemon.project
    child.stdin.write(line({ id: 2, method: 'session/load', params: { sessionId, cwd, mcpServers: [] } }))
    await answered(2)
    const before = residentMb(child.pid!)
    child.stdout.pause()
    // Many messages: a single one is told as a whole, however large, to whoever comes too late for its pieces.
    const prompt = [{ type: 'text', text: '[[burst 100 10000]]'.repeat(60) }]
    child.stdin.write(line({ id: 3, method: 'session/prompt', params: { sessionId, prompt } }))
    await until(async () => {
      const { turns } = await native.call('turn.list', { sessionId, limit: 1 })
      return turns[0]?.state === 'completed'
    }, 'the end of the turn')
    const grown = residentMb(child.pid!) - before
    assert.ok(grown < 40, `${grown} MB more, with 60 MB to tell`)
    child.stdout.resume()
    await answered(3)
    assert.match(tail, /"stopReason":"end_turn"/)
  })

  for (const [place, notices] of [
    ['a place', { session: { notices: {} } }],
    ['no place', {}],
  ] as const) {
    test(`has ${place} for remarks of the agent`, async (t) => {
      const daemon = await startDaemon({ env: { CORRAL_DEMO_FAULT: 'garbage' } })
      t.after(() => daemon.stop())
      const editor = await editorFor(t, daemon, { capabilities: notices })
      const sessionId = await newSession(editor, daemon)
      await editor.prompt(sessionId, 'hello')
      const told = editor.updates.filter(({ sessionUpdate }) => sessionUpdate === 'notice')
      assert.equal(told.length > 0, place === 'a place')
      assert.equal(editor.text(), 'echo: hello')
    })
  }
})
