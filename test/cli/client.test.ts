import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { SessionView } from '../../src/dialects/native/wire.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { SOURCES } from '../support/program.ts'
import { until } from '../support/wait.ts'
import { corral as run, newSession, type Outcome, type RunOptions } from './support.ts'

let daemon: TestDaemon

before(async () => {
  daemon = await startDaemon()
})

after(() => daemon.stop())

function corral(args: string[], options?: RunOptions): Promise<Outcome> {
  return run(daemon.env, args, options)
}

async function ok(...args: string[]): Promise<Outcome> {
  const outcome = await corral(args)
  assert.equal(outcome.code, 0, outcome.stderr)
  return outcome
}

test('new with a message shows the answer', async () => {
  const { stdout, stderr } = await ok(
    'new',
    '--agent',
    'demo',
    '--cwd',
    daemon.project,
    '[[say',
    'hello',
    'there]]',
  )
  assert.match(stdout, /> \[\[say hello there\]\]\nhello there\n-- done/)
  assert.match(stderr, /^session [0-9a-f]{8}: demo, mode ask /m)
})

test('steer brings a message to the running turn, and says why when it cannot', async () => {
  const id = await newSession(daemon)
  const idle = await corral(['steer', id, 'hi'])
  assert.equal(idle.code, 1)
  assert.match(idle.stderr, /No turn is running/)
  assert.equal((await corral(['steer', id])).code, 2)
  await ok('send', '--no-wait', id, '[[hang]]')
  const { stdout } = await ok('steer', id, '[[say', 'steered]]')
  assert.match(stdout, /^sent into turn [0-9a-f]{8}\n$/)
  await ok('interrupt', id)
  const { stdout: later } = await ok('send', id, '[[say after]]')
  assert.match(later, /after/)
  assert.match((await ok('history', id)).stdout, /> \[\[say steered\]\]\nsteered\n/)
})

test('new takes mode, model, effort and title, and its directory from where it is called', async () => {
  const setup = ['--mode', 'plan', '--model', 'big', '--effort', 'low', '--title', 'My title']
  const options = ['--agent', 'demo', ...setup, '--json']
  const [session] = (await corral(['new', ...options], { cwd: daemon.project })).json<SessionView>()
  assert.deepEqual(
    [session?.mode, session?.model, session?.effort, session?.title, session?.cwd],
    ['plan', 'big', 'low', 'My title', daemon.project],
  )
  const [changed] = (
    await ok('session', 'set', session!.id, '--effort', 'default', '--json')
  ).json<SessionView>()
  assert.equal(changed?.effort, null)
})

test('with --json a sent message gives the events of its turn, one per line', async () => {
  const id = await newSession(daemon)
  const lines = (await ok('send', '--json', id, '[[say hello]]')).json()
  assert.equal(lines[0]?.['sessionId'], id)
  assert.equal(lines[1]?.['type'], 'turn.queued')
  assert.equal(lines.at(-1)?.['type'], 'turn.completed')
})

test('new --no-wait prints the id of the session', async () => {
  const { stdout } = await corral(['new', '--no-wait', '[[say hi]]'], { cwd: daemon.project })
  assert.match(stdout, /^[0-9a-f-]{36}\n$/)
  const json = await corral(['new', '--json', '--no-wait', '[[say hi]]'], { cwd: daemon.project })
  assert.equal(json.stderr, '')
  const [session, sent] = json.json()
  assert.equal(sent?.['sessionId'], session?.['id'])
})

test('common options may stand before the command', async () => {
  const id = await newSession(daemon)
  const { stdout } = await corral(['--home', daemon.corralHome, '--json', 'ls'])
  assert.ok(stdout.split('\n').some((line) => line.includes(`"id":"${id}"`)))
})

test('with --json wrong usage is reported as JSON too', async () => {
  for (const args of [['foo'], ['send'], ['ls', '--nope']]) {
    const { code, stderr } = await corral([...args, '--json'])
    assert.equal(code, 2)
    assert.ok((JSON.parse(stderr) as { error: { message: string } }).error.message)
  }
})

test('a message is read from stdin, whole', async () => {
  const id = await newSession(daemon)
  const { stdout } = await corral(['send', id, '-'], { input: 'first line\n[[say second]]\n' })
  assert.match(stdout, /> first line\n> \[\[say second\]\]\nsecond\n/)
})

test('send --no-wait returns at once, and says how many are before it', async () => {
  const id = await newSession(daemon)
  assert.equal((await ok('send', '--no-wait', id, '[[hang]]')).stdout, 'sent\n')
  assert.equal((await ok('send', '--no-wait', id, 'next')).stdout, 'queued, 1 before it\n')
  const { stdout } = await ok('interrupt', '--clear', id)
  assert.equal(stdout, 'stopping the turn\nremoved 1 from the queue\n')
})

test('send to a paused session says that it is paused', async () => {
  const id = await newSession(daemon)
  await ok('pause', id)
  assert.equal((await ok('send', '--no-wait', id, 'hi')).stdout, 'queued; the session is paused\n')
})

test('a mode or an effort that does not exist is a usage error', async () => {
  const id = await newSession(daemon)
  for (const args of [['session', 'set', id], ['new']]) {
    const { code, stderr } = await corral([...args, '--mode', 'nope'])
    assert.equal(code, 2)
    assert.match(stderr, /--mode must be one of auto, code, plan, ask, not nope/)
  }
  const { code, stderr } = await corral(['session', 'set', id, '--effort', 'more'])
  assert.equal(code, 2)
  assert.match(stderr, /--effort must be one of off, minimal, .*max, default, not more/)
})

test('a list that an agent has no part in says so', async () => {
  assert.match((await ok('ls', '--agent', 'nope')).stderr, /no session uses the agent nope/)
})

test('send ends with 1 when the turn fails', async () => {
  const id = await newSession(daemon)
  const { code, stdout } = await corral(['send', id, '[[fail 500]]'])
  assert.equal(code, 1)
  assert.match(stdout, /failed: /)
})

test('send without a message is a usage error', async () => {
  const { code, stderr } = await corral(['send', await newSession(daemon)])
  assert.equal(code, 2)
  assert.match(stderr, /no message given/)
})

test('a session is found by the beginning or the end of its id', async () => {
  const id = await newSession(daemon)
  assert.equal((await ok('pause', id.slice(-8))).stdout, `paused ${id.slice(-8)}\n`)
  assert.equal((await ok('resume', id.slice(0, 30))).stdout, `resumed ${id.slice(-8)}\n`)
})

test('a fragment that fits several sessions is refused, one that fits none too', async () => {
  const [one] = [await newSession(daemon), await newSession(daemon)]
  const several = await corral(['history', one.slice(0, 3)])
  assert.equal(several.code, 1)
  assert.match(several.stderr, /fits \d+ sessions; give more of the id or the title:\n {2}[0-9a-f]{8} /)
  const none = await corral(['history', 'zzz'])
  assert.match(none.stderr, /no session has zzz in its id or in its title/)
})

test('sessions are listed, for people, as ids and as JSON', async () => {
  const id = await newSession(daemon, '--title', 'Find me')
  assert.match(
    (await ok('ls')).stdout,
    new RegExp(`^idle +${id.slice(-8)}  demo +auto +.* ago +Find me`, 'm'),
  )
  assert.match((await ok('ls')).stdout, /^STATE +ID +AGENT +MODE +ACTIVE +TITLE\n/)
  assert.ok((await ok('ls', '-q')).stdout.split('\n').includes(id))
  assert.ok((await ok('ls', '--json')).json<SessionView>().some((session) => session.id === id))
  assert.equal((await ok('ls', '-q', '--limit', '1')).stdout.trim().split('\n').length, 1)
})

test('the history shows the conversation', async () => {
  const id = await newSession(daemon)
  await ok('send', id, '[[shell ls -la]]')
  const { stdout } = await ok('history', id)
  assert.match(stdout, /> \[\[shell ls -la\]\]\n\* Shell command: ls -la\n {2}\(pretend\) ran: ls -la\n/)
  const kinds = (await ok('history', '--json', id)).json().map((item) => item['kind'])
  assert.equal(kinds[0], 'user')
  assert.equal(kinds.at(-1), 'end')
})

async function asking(message = '[[shell make a mess]]'): Promise<{ session: string; approval: string }> {
  const session = await newSession(daemon, '--mode', 'ask')
  await ok('send', '--no-wait', session, message)
  const asked = await until(async () => {
    const found = (await ok('approval', 'ls', '--json')).json<{ id: string; sessionId: string }>()
    return found.find((approval) => approval.sessionId === session)
  }, 'an approval')
  return { session, approval: asked.id }
}

test('an approval is listed with its input and allowed with another one', async () => {
  const { session, approval } = await asking()
  assert.match((await ok('approval', 'ls')).stdout, /may the agent use Shell\? .*\n {2}command: make a mess/)
  const { stdout } = await ok('approve', approval.slice(-8), '--input', '{"command":"tidy up"}')
  assert.match(stdout, /^allowed Shell/)
  await ok('send', session, '[[say after]]')
  assert.match((await ok('history', session)).stdout, /\(pretend\) ran: tidy up/)
})

test('an approval is denied with a comment, and only once', async () => {
  const { session, approval } = await asking()
  assert.match((await ok('deny', approval, 'please', 'do not')).stdout, /^denied Shell/)
  await ok('send', session, '[[say after]]')
  assert.match((await ok('history', session)).stdout, /denied \(cli\): please do not/)
  for (const id of [approval, approval.slice(-8)]) {
    const again = await corral(['approve', id])
    assert.equal(again.code, 1)
    assert.match(again.stderr, /was resolved before: deny/)
  }
})

test('a question needs its answer', async () => {
  const { session, approval } = await asking('[[ask Which colour?]]')
  assert.ok((await ok('approval', 'ls', '-q')).stdout.split('\n').includes(approval))
  const without = await corral(['approve', approval])
  assert.equal(without.code, 2)
  assert.match(without.stderr, /the agent asks a question; give --answer/)
  await ok('approve', '--answer', 'blue', approval)
  await ok('send', session, '[[say after]]')
  const { stdout } = await ok('history', session)
  assert.match(stdout, /tool said: blue/)
  assert.doesNotMatch(stdout, /\* Ask/)
})

test('input that is not JSON is a usage error', async () => {
  const { code, stderr } = await corral(['approve', 'x', '--input', '{'])
  assert.equal(code, 2)
  assert.match(stderr, /--input is not JSON/)
})

test('a session is changed, forked and removed', async () => {
  const id = await newSession(daemon)
  await ok('send', id, '[[say hello]]')
  const [changed] = (await ok('session', 'set', id, '--mode', 'code', '--json')).json<SessionView>()
  const [renamed] = (await ok('session', 'rename', id, 'A', 'new', 'one', '--json')).json<SessionView>()
  assert.deepEqual([changed?.mode, renamed?.title], ['code', 'A new one'])
  const [fork] = (await ok('fork', id, '--json')).json<SessionView>()
  assert.equal(fork?.parentId, id)
  assert.equal((await corral(['session', 'set', id])).code, 2)
  assert.equal((await ok('rm', id, fork!.id)).stdout.split('\n').length, 3)
  const gone = await corral(['history', id, '--json'])
  assert.equal(gone.code, 1)
  assert.equal((JSON.parse(gone.stderr) as { error: { code: string } }).error.code, 'session_not_found')
})

test('what waits is listed and can be taken out', async () => {
  const id = await newSession(daemon)
  await ok('send', '--no-wait', id, '[[hang]]')
  await ok('send', '--no-wait', id, 'waiting words')
  const { stdout } = await ok('queue', 'ls', id)
  const [, turn] = /^1 +([0-9a-f]{8}) +waiting words$/m.exec(stdout) ?? []
  await ok('queue', 'rm', id, turn!)
  assert.deepEqual((await ok('queue', 'ls', id, '--json')).json(), [])
  await ok('rm', id)
})

test('compact has the conversation summed up, and says how much that has left', async () => {
  const id = await newSession(daemon)
  await ok('send', id, '[[words 40]]')
  const { stdout } = await ok('compact', id)
  assert.match(stdout, /-- The conversation was summed up \(\d+ tokens, now 3\)\n-- done/)
  assert.equal((await ok('compact', '--no-wait', id)).stdout, 'sent\n')
})

test('agents tell what is left of their accounts', async () => {
  await ok('send', await newSession(daemon), '[[limits 63 21]]')
  const told = /^demo: plan demo: 5 h window 63 % used, resets \d\d:\d\d; 7 d window 21 % used, resets /m
  assert.match((await ok('agent', 'ls')).stdout, told)
})

test('status and agents tell what the daemon has', async () => {
  assert.match((await ok('status')).stdout, new RegExp(`pid ${daemon.pid}, up`))
  const [status] = (await ok('status', '--json')).json()
  assert.equal(status?.['pid'], daemon.pid)
  assert.match((await ok('agent', 'ls')).stdout, /yes +demo/)
  assert.equal((await ok('agent', 'ls', '-q')).stdout, 'demo\n')
  const [demo] = (await ok('agent', 'show', 'demo', '--json')).json()
  assert.ok(Array.isArray(demo!['models']))
  const names = (await ok('agent', 'ls', '--json')).json().map((agent) => agent['name'])
  assert.ok(names.includes('demo'))
})

test('nothing is coloured when stdout is not a terminal', async () => {
  // oxlint-disable-next-line no-control-regex
  assert.doesNotMatch((await ok('status')).stdout, /\u001b/)
})

/** Prints the file names of the modules that a command loads. */
const TRACE = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module'
  registerHooks({ load(url, context, next) { process.stderr.write('loaded ' + url + '\\n'); return next(url, context) } })
`)}`
const TRACING = { execArgv: ['--import', TRACE], program: SOURCES }

test('a client command loads neither the daemon nor the schemas', async () => {
  const { stderr } = await corral(['ls'], TRACING)
  assert.match(stderr, /loaded .*client\.ts/)
  assert.doesNotMatch(stderr, /src\/daemon\.ts|\/zod\/|\/yaml\/|engine\.ts/)
  // What draws conversations is for those that show one.
  assert.doesNotMatch(stderr, /cli\/attach\/|\/(marked|remend|highlight\.js)\//)
})

test('start loads no client code', async () => {
  const { stderr } = await corral(['start'], TRACING)
  assert.match(stderr, /loaded .*src\/daemon\.ts/)
  assert.doesNotMatch(stderr, /native\/(client|link)\.ts|cli\/(live|detach)\.ts/)
})

test('attach without a terminal shows what happens and sends the lines of its stdin', async () => {
  const id = await newSession(daemon, '--title', 'red \u001b[31mtitle')
  const attached = corral(['attach', '--history', '600', id], { input: '[[say from a pipe]]\n' })
  await until(async () => {
    const items = (await ok('history', '--json', id)).json()
    return items.some((item) => item['kind'] === 'end')
  }, 'the turn is over')
  await ok('rm', id)
  const { stdout, stderr, code } = await attached
  assert.equal(code, 0)
  assert.match(stderr, /red title: idle/)
  assert.match(stdout, /> \[\[say from a pipe\]\]\nfrom a pipe\n-- done/)
  assert.match(stdout, /the session was removed/)
})
