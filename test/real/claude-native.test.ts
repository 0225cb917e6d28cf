import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Usage } from '../../src/core/usage.ts'
import { addUsage, NO_USAGE } from '../../src/core/usage.ts'
import * as codecast from '../dialects/codecast/client.ts'
import { claudeAbsent } from '../support/claude-env.ts'
import { call, claudeIn, nobodyIn, only, type Rig, type Sent, startRig, words } from './rig.ts'

let rig: Rig

/** A session in mode ask, and a turn of it that waits for an answer. */
async function waiting(script: string, mode: 'ask' | 'plan' = 'ask') {
  const cwd = rig.directory()
  const sessionId = await rig.session({ cwd, mode })
  const sent = await rig.send(sessionId, script)
  const { approval } = await sent.until('approval.requested')
  assert.equal((await rig.view(sessionId)).status, 'waiting')
  return { cwd, sessionId, sent, approval }
}

const toolResult = (sent: Sent) => only(sent.seen, 'tool.completed').at(-1)!

describe('the command line and the native protocol with the real claude', { skip: claudeAbsent }, () => {
  before(async () => {
    rig = await startRig()
  })
  after(() => rig.close())

  test('corral new starts claude, shows the answer and its price, and ends with 0', async () => {
    const cwd = rig.directory()
    const { code, stdout, stderr } = await rig.corral('new', '--cwd', cwd, '[[words 5]]')
    assert.equal(code, 0, stderr)
    assert.match(stdout, /w1 w2 w3 w4 w5\n/)
    assert.match(stdout, /-- done, .* \d+ in, \d+ out, \$\d/)
    assert.match(stderr, /: claude, mode ask /)
    assert.equal(stdout.match(/w1 w2 w3 w4 w5/g)!.length, 1, stdout)
  })

  test('corral approve lets the tool run', async () => {
    const { cwd, sent, approval } = await waiting('[[shell touch yes.txt]]')
    assert.ok(!existsSync(join(cwd, 'yes.txt')))
    const listed = await rig.corral('approvals')
    assert.match(listed.stdout, /may the agent use Bash\?/)
    assert.match(listed.stdout, /touch yes\.txt/)
    const { code, stdout } = await rig.corral('approve', approval.id.slice(-8))
    assert.deepEqual([code, stdout], [0, `allowed Bash (${approval.id.slice(-8)})\n`])
    await sent.end('turn.completed')
    assert.ok(existsSync(join(cwd, 'yes.txt')))
    const [resolved] = only(sent.seen, 'approval.resolved')
    assert.equal(resolved!.by, 'cli')
  })

  test('corral deny tells the model why', async () => {
    const { cwd, sent, approval } = await waiting('[[shell touch no.txt]]')
    const { code } = await rig.corral('deny', approval.id, 'not', 'on a Friday')
    assert.equal(code, 0)
    const { text } = await sent.end('turn.completed')
    assert.match(text!, /^tool said: .*not on a Friday/s)
    assert.ok(!existsSync(join(cwd, 'no.txt')))
    assert.equal(toolResult(sent).isError, true)
  })

  test('a yes for the session is a rule: it is not asked again until the rule is taken back', async () => {
    const { cwd, sessionId, sent, approval } = await waiting('[[shell touch *.x]]')
    await rig.client.call('approval.decide', { approvalId: approval.id, behavior: 'allow', forSession: true })
    await sent.end('turn.completed')
    const again = await rig.send(sessionId, '[[shell touch *.x]]')
    await again.end('turn.completed')
    assert.ok(only(again.seen, 'approval.requested').every(({ open }) => !open))
    const wider = await rig.send(sessionId, '[[shell touch a.txt; touch b.x]]')
    const asked = await wider.until('approval.requested')
    assert.ok(asked.open)
    await rig.client.call('approval.decide', { approvalId: asked.approval.id, behavior: 'deny' })
    await wider.end('turn.completed')
    assert.ok(!existsSync(join(cwd, 'a.txt')))
    await rig.client.call('session.configure', { sessionId, rules: { allow: [], deny: ['Bash'] } })
    const refused = await rig.send(sessionId, '[[shell touch *.x]]')
    await refused.end('turn.completed')
    assert.equal(only(refused.seen, 'approval.resolved')[0]?.decision.behavior, 'deny')
  })

  test('an approval is answered once; the second answer is told who was first', async () => {
    const { sent, approval } = await waiting('[[shell touch twice.txt]]')
    const [one, two] = await Promise.all([
      rig.corral('approve', approval.id),
      rig.corral('deny', approval.id),
    ])
    assert.equal(one.code! + two.code!, 1, 'one of the two')
    assert.match(one.stderr + two.stderr, /was resolved before: (allow|deny)/)
    await sent.end('turn.completed')
  })

  test('corral approve --input runs the tool with another input', async () => {
    const { cwd, sent, approval } = await waiting('[[shell touch asked.txt]]')
    const input = JSON.stringify({ command: 'touch edited.txt', description: 'edited' })
    const { code, stderr } = await rig.corral('approve', approval.id, '--input', input)
    assert.equal(code, 0, stderr)
    await sent.end('turn.completed')
    assert.deepEqual([existsSync(join(cwd, 'asked.txt')), existsSync(join(cwd, 'edited.txt'))], [false, true])
  })

  test('corral approve --session is not asked again for the same', async () => {
    const { cwd, sessionId, sent, approval } = await waiting('[[write one.txt 1]]')
    await rig.corral('approve', approval.id, '--session')
    await sent.end('turn.completed')
    const next = await rig.send(sessionId, '[[write two.txt 2]]')
    await next.end('turn.completed')
    assert.ok(only(next.seen, 'approval.requested').every(({ open }) => !open))
    assert.ok(existsSync(join(cwd, 'two.txt')))
  })

  test('a question is answered by the number of an answer, or in own words', async () => {
    const { sent, approval, sessionId } = await waiting('[[ask Shall we?]]')
    assert.equal(approval.kind, 'question')
    const listed = await rig.corral('approvals')
    assert.match(listed.stdout, /Shall we\?\n.*1\) Yes/s)
    await rig.corral('approve', approval.id, '--answer', '1')
    assert.match((await sent.end('turn.completed')).text!, /"Shall we\?"="Yes"/)
    const again = await rig.send(sessionId, '[[ask And now?]]')
    const asked = await again.until('approval.requested')
    await rig.corral('approve', asked.approval.id, '--answer', 'only if it rains')
    assert.match((await again.end('turn.completed')).text!, /only if it rains/)
  })

  test('a question is for a human in mode auto, too', async () => {
    const sessionId = await rig.session({ mode: 'auto' })
    const sent = await rig.send(sessionId, '[[ask Really?]]')
    const { approval } = await sent.until('approval.requested')
    await rig.client.call('approval.decide', {
      approvalId: approval.id,
      behavior: 'allow',
      answers: { 'Really?': 'No' },
    })
    assert.match((await sent.end('turn.completed')).text!, /"Really\?"="No"/)
  })

  test('an agreed plan ends plan mode: the session says so, and it writes', async () => {
    const { cwd, sessionId, sent, approval } = await waiting(
      call('ExitPlanMode', { plan: '1. write it' }),
      'plan',
    )
    assert.equal(approval.kind, 'plan')
    await rig.corral('approve', approval.id)
    await sent.end('turn.completed')
    const changed = only(sent.seen, 'session.changed').filter(({ mode }) => mode !== undefined)
    assert.deepEqual(
      changed.map(({ mode }) => mode),
      ['ask'],
    )
    assert.equal((await rig.view(sessionId)).mode, 'ask')
    const write = await rig.send(sessionId, '[[write planned.txt done]]')
    const asked = await write.until('approval.requested')
    await rig.corral('approve', asked.approval.id)
    await write.end('turn.completed')
    assert.equal(readFileSync(join(cwd, 'planned.txt'), 'utf8'), 'done')
  })

  test('a refused plan leaves plan mode as it is', async () => {
    const { sessionId, sent, approval } = await waiting(call('ExitPlanMode', { plan: '1. burn it' }), 'plan')
    await rig.corral('deny', approval.id, 'think again')
    assert.match((await sent.end('turn.completed')).text!, /think again/)
    assert.equal((await rig.view(sessionId)).mode, 'plan')
  })

  test('an image reaches the model', async () => {
    const sessionId = await rig.session()
    const { text } = await rig.turn(sessionId, [
      { type: 'text', text: '[[attachments]]' },
      { type: 'image', mediaType: 'image/png', data: PIXEL },
    ])
    assert.match(text!, /^attachments: 1 image\/png\/70/)
  })

  test('a fork remembers what was before it, and goes its own way', async () => {
    const sessionId = await rig.session()
    await rig.turn(sessionId, 'hello [[remember FIG]]')
    const forked = await rig.corral('fork', sessionId, '--json')
    const fork = forked.json<{ id: string; parentId: string }>()[0]!
    assert.equal(fork.parentId, sessionId)
    assert.equal((await rig.turn(fork.id, '[[recall]]')).text, 'recall: FIG')
    await rig.turn(fork.id, 'hello [[remember PLUM]]')
    assert.equal((await rig.turn(sessionId, '[[recall]]')).text, 'recall: FIG')
    const [one, two] = [await rig.view(sessionId), await rig.view(fork.id)]
    assert.notEqual(one.nativeId, two.nativeId)
    assert.ok(one.pid && two.pid && one.pid !== two.pid)
  })

  test('a fork of a session that has said nothing yet is a session of its own', async () => {
    const sessionId = await rig.session()
    const { id } = await rig.client.call('session.fork', { sessionId })
    assert.equal((await rig.turn(id, '[[recall]]')).text, 'recall: none')
  })

  test('a pause in the middle of a stream stops the process, and resume lets it finish, each word once', async () => {
    const cwd = rig.directory()
    const sessionId = await rig.session({ cwd })
    const sent = await rig.send(sessionId, '[[drip 40 20]]')
    await sent.until('message.delta', ({ text }) => text.includes('w5'))
    assert.equal((await rig.corral('pause', sessionId)).code, 0)
    assert.equal(claudeIn(cwd).state, 'T')
    assert.equal((await rig.view(sessionId)).status, 'paused')
    const queued = await rig.client.call('session.send', { sessionId, content: '[[say after]]' })
    assert.equal(queued.position, 1)
    assert.equal((await rig.corral('resume', sessionId)).code, 0)
    const { text } = await sent.end('turn.completed')
    assert.equal(text, words(40))
    const follower = rig.follow(sessionId, queued.seq)
    const next = await follower.until('turn.completed', ({ turnId }) => turnId === queued.turnId)
    follower.close()
    assert.equal(next.text, 'after')
  })

  test('an interrupt ends a paused turn, too', async () => {
    const cwd = rig.directory()
    const sessionId = await rig.session({ cwd })
    const sent = await rig.send(sessionId, '[[drip 2000 20]]')
    await sent.until('message.delta')
    await rig.client.call('session.pause', { sessionId })
    await rig.corral('interrupt', sessionId)
    await sent.end('turn.interrupted')
    assert.equal((await rig.view(sessionId)).status, 'idle')
    assert.equal((await rig.turn(sessionId, '[[say awake]]')).text, 'awake')
  })

  test('usage and price of the turns add up to those of the session', async () => {
    const sessionId = await rig.session()
    for (const script of ['[[words 30]]', '[[shell echo hi]]', '[[words 10]]'])
      await rig.turn(sessionId, script)
    const { turns } = await rig.client.call('turn.list', { sessionId })
    const sum = turns.reduce<Usage>((all, turn) => addUsage(all, turn.usage!), NO_USAGE)
    const { usage, turnCount } = await rig.view(sessionId)
    assert.equal(turnCount, 3)
    assert.ok(Math.abs(usage.costUsd! - sum.costUsd!) < 1e-9)
    assert.deepEqual({ ...usage, costUsd: 0 }, { ...sum, costUsd: 0 })
    for (const turn of turns) assert.ok(turn.usage!.costUsd! > 0 && turn.usage!.outputTokens > 0)
    assert.deepEqual(
      turns.map((turn) => turn.usage!.modelCalls),
      [1, 2, 1],
    )
  })

  test('thinking is shown as thinking, before the answer', async () => {
    const sessionId = await rig.session()
    const sent = await rig.send(sessionId, '[[think deep thought]] [[say 42]]')
    const { text } = await sent.end('turn.completed')
    assert.equal(text, '42')
    const said = only(sent.seen, 'message.completed').map(({ kind, text }) => [kind, text])
    assert.deepEqual(said, [
      ['thinking', 'deep thought'],
      ['text', '42'],
    ])
    const items = (await rig.corral('history', sessionId, '--json')).json<{ kind: string }>()
    assert.deepEqual(
      items.map(({ kind }) => kind),
      ['user', 'thinking', 'assistant', 'end'],
    )
  })

  test('what a sub-agent does is told apart from the agent itself, in both protocols', async () => {
    const cwd = rig.directory()
    const sessionId = await codecast.create(rig.daemon.codecast, cwd, { cli_type: 'claude' })
    const prompt = '[[shell touch sub.txt]]'
    const task = call('Task', { description: 'a part', prompt, subagent_type: 'general-purpose' })
    const after = (await rig.client.call('daemon.status')).log.head
    const stream = await codecast.send(rig.daemon.codecast, sessionId, task)
    const told = await stream.rest()
    const follower = rig.follow(sessionId, after)
    const ended = await follower.until('turn.completed')
    follower.close()
    assert.ok(existsSync(join(cwd, 'sub.txt')))
    const [top, inner] = only(follower.seen, 'tool.started')
    assert.deepEqual([top!.parent, inner!.parent], [null, top!.callId])
    const said = only(follower.seen, 'message.completed').filter(({ parent }) => parent === null)
    assert.deepEqual(
      said.map(({ text }) => text.trim()),
      [ended.text!.trim()],
    )
    assert.equal(codecast.textOf(told), said[0]!.text)
    assert.equal(told.at(-1)!.type, '[DONE]')
  })

  test('every event of a turn comes once and in order, status changes included', async () => {
    const { sent, approval } = await waiting('[[shell touch order.txt]]')
    await rig.client.call('approval.decide', { approvalId: approval.id, behavior: 'allow' })
    await sent.end('turn.completed')
    const seqs = sent.seen.map(({ seq }) => seq)
    assert.deepEqual(
      seqs,
      [...new Set(seqs)].sort((a, b) => a - b),
    )
    const steps = sent.seen.map(({ type }) => type).filter((type) => !/delta|other|notice|status/.test(type))
    assert.deepEqual(steps, [
      'turn.queued',
      'turn.started',
      'agent.started',
      'turn.accepted',
      'agent.init',
      'agent.commands',
      'tool.started',
      'approval.requested',
      'approval.resolved',
      'approval.delivered',
      'tool.completed',
      'message.completed',
      'turn.completed',
    ])
    const follower = rig.follow(sent.seen[0]!.sessionId)
    await follower.until('session.status', ({ status }) => status === 'idle')
    follower.close()
    const statuses = only(follower.seen, 'session.status').map(({ status }) => status)
    assert.deepEqual(statuses, ['running', 'waiting', 'running', 'idle'])
  })

  test('corral send --json prints the turn event by event, to its end', async () => {
    const sessionId = await rig.session()
    const { code, stdout } = await rig.corral('send', sessionId, '--json', '[[drip 5 5]]')
    assert.equal(code, 0)
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type?: string; text?: string })
    assert.equal(lines.at(-1)!.type, 'turn.completed')
    assert.equal(lines.find(({ type }) => type === 'message.completed')!.text, words(5))
  })

  test('corral rm ends the process', async () => {
    const cwd = rig.directory()
    const sessionId = await rig.session({ cwd })
    await rig.turn(sessionId, 'hello')
    assert.equal((await rig.corral('rm', sessionId)).code, 0)
    await nobodyIn(cwd)
  })
})

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
