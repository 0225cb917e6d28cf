import assert from 'node:assert/strict'
import { after, before, test, type TestContext } from 'node:test'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { corral, hasScript, inTerminal as inAnyTerminal, newSession, type Terminal } from './support.ts'

const options = hasScript ? {} : { skip: 'needs script(1) of util-linux' }

let daemon: TestDaemon

/* A terminal that cannot be drawn on: what is said runs on as text, and a line is a message. screen.test.ts has the others. */

function inTerminal(t: TestContext, env: NodeJS.ProcessEnv, args: string[]): Terminal {
  return inAnyTerminal(t, env, args, 'dumb')
}

before(async () => {
  daemon = await startDaemon()
})

after(() => daemon.stop())

test('attach sends typed lines and shows the answers', options, async (t) => {
  const id = await newSession(daemon)
  const terminal = inTerminal(t, daemon.env, ['attach', id])
  await terminal.expect('Ctrl-C leaves')
  await terminal.expect('> ') // before that, the terminal itself echoes
  terminal.type('[[say good morning]]\r')
  await terminal.expect('good morning]]')
  assert.doesNotMatch(await terminal.expect('-- done'), /\[\[say/)
  terminal.type('[[words 3]]\r')
  await terminal.expect('w1 w2 w3')
  await terminal.expect('-- done')
  terminal.type('\u0003')
  await terminal.expect(`stop its turn with: corral interrupt ${id.slice(-8)}`)
  assert.equal(await terminal.exited, 0)
})

test('attach asks for approvals in place: yes, no with a comment, always', options, async (t) => {
  const id = await newSession(daemon, '--mode', 'ask')
  const terminal = inTerminal(t, daemon.env, ['attach', id])
  await terminal.expect('Ctrl-C leaves')
  terminal.type('[[shell echo one]]\r')
  await terminal.expect('may the agent use Shell?')
  await terminal.expect('command: echo one')
  await terminal.expect('allow? [y/n/a/p] ')
  terminal.type('what\r')
  await terminal.expect('refuse it, and tell the agent why')
  terminal.type('y\r')
  await terminal.expect('(pretend) ran: echo one')
  await terminal.expect('-- done')

  terminal.type('[[shell echo two]]\r')
  await terminal.expect('allow? [y/n/a/p] ')
  terminal.type('n not this time\r')
  await terminal.expect('denied (cli): not this time')
  await terminal.expect('-- done')

  terminal.type('[[shell echo three]]\r')
  await terminal.expect('allow? [y/n/a/p] ')
  terminal.type('a\r')
  await terminal.expect('(pretend) ran: echo three')
  await terminal.expect('-- done')
  const approvals = (await corral(daemon.env, ['history', id, '--json'])).json()
  const decisions = approvals.filter((item) => item['kind'] === 'decision').map((item) => item['decision'])
  assert.deepEqual(decisions, [
    { behavior: 'allow' },
    { behavior: 'deny', comment: 'not this time' },
    { behavior: 'allow', forSession: true },
  ])
})

test('attach asks the questions of an agent', options, async (t) => {
  const id = await newSession(daemon)
  const terminal = inTerminal(t, daemon.env, ['attach', id])
  await terminal.expect('Ctrl-C leaves')
  terminal.type('[[ask Which colour?]]\r')
  await terminal.expect('the agent asks:')
  await terminal.expect('Which colour?')
  await terminal.expect('answer: ')
  terminal.type('green\r')
  await terminal.expect('green')
  await terminal.expect('-- done')
})

test('an approval that somebody else answers leaves the prompt', options, async (t) => {
  const id = await newSession(daemon, '--mode', 'ask')
  const terminal = inTerminal(t, daemon.env, ['attach', id])
  await terminal.expect('Ctrl-C leaves')
  terminal.type('[[shell echo one]]\r')
  await terminal.expect('allow? [y/n/a/p] ')
  const open = (await corral(daemon.env, ['approvals', '--json'])).json<{ id: string; sessionId: string }>()
  await corral(daemon.env, ['deny', open.find(({ sessionId }) => sessionId === id)!.id, 'elsewhere'])
  await terminal.expect('denied (cli): elsewhere')
  await terminal.expect('-- done')
  terminal.type('[[say still here]]\r')
  await terminal.expect('still here]]')
  await terminal.expect('-- done')
})

test(
  'attach in the middle of a turn shows it from its beginning, also across a killed daemon',
  options,
  async (t) => {
    const id = await newSession(daemon)
    const sender = inTerminal(t, daemon.env, ['send', id, '[[drip 100000 25]]'])
    await sender.expect('w5')
    const terminal = inTerminal(t, daemon.env, ['attach', id])
    await terminal.expect('w1 w2 w3')
    await daemon.kill9()
    await terminal.expect('-- the daemon is not reachable; waiting')
    await daemon.restart()
    await terminal.expect('-- the daemon is back')
    await terminal.expect(' w')
    assert.equal((await corral(daemon.env, ['interrupt', id])).code, 0)
    for (const one of [terminal, sender]) await one.expect('-- interrupted')
    assert.notEqual(await sender.exited, 0)
  },
)

test('an answer at the end of a turn is waited for', options, async (t) => {
  const args = ['new', '--agent', 'demo', '--cwd', daemon.project, '--mode', 'ask', '[[shell x]]']
  const terminal = inTerminal(t, daemon.env, args)
  await terminal.expect('allow? [y/n/a/p] ')
  terminal.type('n\r')
  assert.doesNotMatch(await terminal.expect('-- done'), /! /)
  assert.equal(await terminal.exited, 0)
  assert.doesNotMatch(terminal.rest(), /! /)
})

test('who leaves send before the turn is over gets 130', options, async (t) => {
  const terminal = inTerminal(t, daemon.env, ['send', await newSession(daemon), '[[drip 100000 25]]'])
  await terminal.expect('w1 w2')
  terminal.type('\u0003')
  await terminal.expect('you left, and the session goes on')
  assert.equal(await terminal.exited, 130)
})

test('/interrupt stops the running turn', options, async (t) => {
  const id = await newSession(daemon)
  const terminal = inTerminal(t, daemon.env, ['attach', id])
  await terminal.expect('Ctrl-C leaves')
  terminal.type('[[hang]]\r')
  await terminal.expect('[[hang]]')
  await terminal.expect('> ')
  terminal.type('/interrupt\r')
  await terminal.expect('-- interrupted')
  terminal.type('/detach\r')
  assert.equal(await terminal.exited, 0)
})
