import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { DecideApproval } from '../../src/core/command.ts'
import type { Event } from '../../src/core/event.ts'
import { nameOf } from '../../src/core/glance.ts'
import { engineWith, say, saidIn, scripted, sessionOf } from '../support/acp.ts'
import { startEngine, type TestEngine } from '../support/engine.ts'

const ALLOW: DecideApproval['decision'] = { behavior: 'allow' }
const OPTIONS = [
  { optionId: 'yes', kind: 'allow_once', name: 'Yes' },
  { optionId: 'no', kind: 'reject_once', name: 'No' },
]

const write = (path: string): [string, object] => ['fs/write_text_file', { path, content: 'text' }]
const run = (command: string, more = {}): [string, object] => ['terminal/create', { command, ...more }]

function permission(toolCall: object, more = {}): [string, object] {
  return ['session/request_permission', { toolCall, options: OPTIONS, ...more }]
}

/** A turn in which every question gets this answer; with what was asked. */
async function answering(t: TestEngine, sessionId: string, wanted: unknown, decision = ALLOW) {
  const asked: (Event & { type: 'approval.requested' })[] = []
  const subscription = t.engine.events.subscribe({ sessionId, after: t.engine.events.head }, (events) => {
    for (const { event } of events) {
      if (event.type !== 'approval.requested') continue
      asked.push(event)
      if (event.open) void t.engine.approvals.decide({ approvalId: event.approval.id, decision, by: 'me' })
    }
  })
  const events = await t.turn(sessionId, JSON.stringify(wanted))
  subscription.close()
  return { said: saidIn(events), events, asked }
}

const notices = (events: Event[]): string[] =>
  events.flatMap((event) => (event.type === 'agent.notice' ? [event.code] : []))

test('what it lets Corral write waits for a human in `ask`, and passes in `code`', async (t) => {
  const engine = await engineWith(t)
  for (const mode of ['ask', 'code'] as const) {
    const sessionId = await sessionOf(engine, { mode })
    const path = join(engine.cwd, mode)
    const { asked, said } = await answering(engine, sessionId, write(path))
    assert.equal(said, '{}')
    assert.equal(readFileSync(path, 'utf8'), 'text')
    const [{ approval, open }] = asked as [(typeof asked)[0]]
    assert.deepEqual([asked.length, open], [1, mode === 'ask'])
    assert.deepEqual(
      [approval.tool, approval.edits, approval.input],
      ['Edit', true, { path, content: 'text' }],
    )
  }
})

test('what it lets Corral run waits for a human in `ask` and `code`, and a no is one', async (t) => {
  const engine = await engineWith(t)
  for (const mode of ['ask', 'code'] as const) {
    const sessionId = await sessionOf(engine, { mode })
    const file = join(engine.cwd, mode)
    const no = { behavior: 'deny', comment: 'not today' } as const
    const { asked, said } = await answering(engine, sessionId, run('touch', { args: [file] }), no)
    assert.equal(said, '{"refused":"not today"}')
    assert.deepEqual(asked[0]!.approval.input, { command: `touch ${file}`, cwd: engine.cwd })
    assert.ok(asked[0]!.open && !existsSync(file))
    const allowed = await answering(engine, sessionId, {
      deeds: [run('sh', { args: ['-c', `touch ${file}; echo $$`] })],
    })
    assert.match(allowed.said, /terminalId/)
    assert.equal((allowed.asked[0]!.approval.input as { command: string }).command, `touch ${file}; echo $$`)
  }
})

test('rules answer for what Corral does, also in `auto`', async (t) => {
  const engine = await engineWith(t)
  const rules = { allow: ['Bash(true *)'], deny: ['Edit(*/secret)'], acceptEdits: false, skipUntil: null }
  const asking = await sessionOf(engine, { mode: 'ask', rules })
  assert.match((await answering(engine, asking, run('true 1'))).said, /terminalId/)
  const free = await sessionOf(engine, { rules })
  assert.match(await say(engine, free, write(join(engine.cwd, 'secret'))), /rule Edit/)
  assert.ok(!existsSync(join(engine.cwd, 'secret')))
})

test('who has asked for this very thing, and was allowed, is not asked again; once', async (t) => {
  const engine = await engineWith(t)
  const sessionId = await sessionOf(engine, { mode: 'ask' })
  const [path, other] = [join(engine.cwd, 'a'), join(engine.cwd, 'b')]
  const edit = { toolCallId: 'c1', kind: 'edit', title: 'Edit', rawInput: { path } }
  const command = { toolCallId: 'c2', kind: 'execute', title: 'x', rawInput: { command: 'true 1' } }
  const told = await answering(engine, sessionId, {
    deeds: [permission(edit), write(path), write(path), write(other), permission(command), run('true 1')],
  })
  const open = told.asked.map((one) => [one.approval.tool, one.open])
  assert.deepEqual(open, [
    ['Edit', true],
    ['Edit', false],
    ['Edit', true],
    ['Edit', true],
    ['Bash', true],
    ['Bash', false],
  ])
})

test('a yes to something else, or to reading, or a no, is no leave to write', async (t) => {
  const engine = await engineWith(t)
  const path = join(engine.cwd, 'a')
  const question = (kind: string, rawInput: object) =>
    permission({ toolCallId: kind, kind, title: 'x', rawInput })
  for (const asking of [question('read', { path }), question('edit', { path: join(engine.cwd, 'b') })]) {
    const sessionId = await sessionOf(engine, { mode: 'ask' })
    const { asked } = await answering(engine, sessionId, { deeds: [asking, write(path)] })
    assert.deepEqual(
      asked.map(({ open }) => open),
      [true, true],
    )
  }
  const sessionId = await sessionOf(engine, { mode: 'ask' })
  const no = { behavior: 'deny', comment: '' } as const
  const { said } = await answering(
    engine,
    sessionId,
    { deeds: [question('edit', { path }), write(path)] },
    no,
  )
  assert.match(said, /refused/)
  // The name of a question that was answered with yes is used for another, and its answer not waited for.
  const harmless = permission({ toolCallId: 'h', kind: 'read', title: 'x' }, { $id: 77 })
  const evil = { toolCallId: 'e', kind: 'edit', title: 'x', rawInput: { path: join(engine.cwd, 'evil') } }
  const reused = {
    id: 77,
    method: 'session/request_permission',
    params: { toolCall: evil, options: OPTIONS },
  }
  const pending = engine.turn(
    await sessionOf(engine, { mode: 'ask' }),
    JSON.stringify({ deeds: [harmless, { send: reused }, write(join(engine.cwd, 'evil'))] }),
  )
  for (let after = 0, number = 0; number < 3; number++) {
    const { seq, approval, open, sessionId: id } = await engine.event('approval.requested', { after })
    after = seq
    if (id !== engine.engine.sessions.list({ limit: 1 })[0]?.id) number--
    else assert.ok(open, `${number}`)
    if (approval.requestId === '77' && approval.callId?.startsWith('h-'))
      await engine.engine.approvals.decide({ approvalId: approval.id, decision: ALLOW, by: 'me' })
  }
  assert.ok(!existsSync(join(engine.cwd, 'evil')))
  await engine.engine.sessions.destroy(engine.engine.sessions.list({ limit: 1 })[0]!.id)
  await pending.catch(() => undefined)
})

test('a decision that comes after the daemon came back is carried out', async (t) => {
  const first = await startEngine({ drivers: [scripted()] })
  const sessionId = await sessionOf(first, { mode: 'ask' })
  const path = join(first.cwd, 'late')
  await first.engine.turns.send({ sessionId, input: [{ type: 'text', text: JSON.stringify(write(path)) }] })
  const { approval } = await first.event('approval.requested', { sessionId })
  await first.abandon()
  const second = await startEngine({ home: first.home, drivers: [scripted()] })
  t.after(() => second.stop())
  await second.engine.approvals.decide({ approvalId: approval.id, decision: ALLOW, by: 'me' })
  assert.match((await second.event('turn.completed', { sessionId })).text!, /{}$/)
  assert.equal(readFileSync(path, 'utf8'), 'text')
})

const move = (currentModeId: string) => ({ update: { sessionUpdate: 'current_mode_update', currentModeId } })

test('out of a plan it gets by an agreement only; else it is put back, and said so', async (t) => {
  const engine = await engineWith(t, [], {}, { modes: { auto: 'yolo' } })
  const path = join(engine.cwd, 'escaped')
  const sessionId = await sessionOf(engine, { mode: 'plan' })
  const left = await answering(engine, sessionId, { deeds: [move('acceptEdits'), 'x', write(path)] })
  assert.match(left.said, /now plan/)
  assert.match(left.said, /plan mode/)
  assert.deepEqual(notices(left.events), ['mode_left'])
  assert.equal(engine.engine.sessions.get(sessionId).mode, 'plan')
  assert.ok(!existsSync(path))
  const plan = permission({ toolCallId: 'p', kind: 'switch_mode', title: 'The plan' })
  const agreed = await answering(engine, sessionId, { deeds: [plan, move('yolo'), 'x', write(path)] })
  assert.match(agreed.said, /now acceptEdits/, 'and never as far as auto')
  assert.equal(engine.engine.sessions.get(sessionId).mode, 'code')
  await engine.engine.sessions.configure({ sessionId, mode: 'plan' })
  // The agent does what it is told side by side: in the next turn it is certainly in its new mode.
  await answering(engine, sessionId, { deeds: ['x'] })
  const later = await answering(engine, sessionId, { deeds: [move('acceptEdits'), 'x'] })
  assert.deepEqual(notices(later.events), ['mode_left'], 'an agreement is for its turn')
})

test('what it calls its conversation is the name of the session, until somebody gives it another', async (t) => {
  const engine = await engineWith(t, [])
  const sessionId = await sessionOf(engine)
  const titled = (title: unknown) => ({ update: { sessionUpdate: 'session_info_update', title } })
  const name = (): string | null => nameOf(engine.engine.sessions.get(sessionId))
  const hostile = '\u001b]0;gone\u0007Faster \u202elogin\nand more'
  const { events } = await answering(engine, sessionId, {
    deeds: [titled('First'), titled(hostile), titled(hostile), titled(null), titled('  '), 'x'],
  })
  assert.equal(name(), 'Faster ⟨U+202E⟩login')
  assert.equal(events.filter(({ type }) => type === 'session.changed').length, 2, 'the same again is no news')
  await engine.engine.sessions.configure({ sessionId, title: 'Mine' })
  assert.equal(name(), 'Mine')
})

test('in `ask` it does not lift itself to a mode that asks less', async (t) => {
  const engine = await engineWith(t, [], {}, { modes: { auto: 'yolo' } })
  for (const modeId of ['acceptEdits', 'yolo', 'unheard-of']) {
    const sessionId = await sessionOf(engine, { mode: 'ask' })
    const { said, events } = await answering(engine, sessionId, {
      deeds: [move(modeId), ['x/y', {}], ['x/y', {}]],
    })
    assert.match(said, /now default/, modeId)
    assert.deepEqual(notices(events), ['mode_left'])
    assert.equal(engine.engine.sessions.get(sessionId).mode, 'ask')
  }
})

test('a prompt that is answered twice ends one turn', async (t) => {
  const engine = await engineWith(t)
  const sessionId = await sessionOf(engine)
  const end = { send: { id: '$prompt', result: { stopReason: 'end_turn' } } }
  const texts = [{ deeds: ['one', end, end] }, { deeds: ['two', ['x/y', {}], 'three'] }]
  const [, second] = await Promise.all(
    texts.map((text) => engine.turn(sessionId, JSON.stringify(text)).then(saidIn)),
  )
  assert.match(second!, /^two \| .* \| three$|^two.*three$/)
})

test('questions of any name, in any session, have an id of their own and get their answer', async (t) => {
  const engine = await engineWith(t)
  const question = (toolCallId: string) => permission({ toolCallId, kind: 'execute', title: 'x' }, { $id: 7 })
  const ids = new Set<string>()
  for (let sessions = 0; sessions < 2; sessions++) {
    const sessionId = await sessionOf(engine, { mode: 'ask' })
    const { asked, said } = await answering(engine, sessionId, { deeds: [question('a'), question('b')] })
    assert.equal(said.match(/"selected"/g)?.length, 2)
    for (const { approval } of asked) ids.add(approval.id)
    for (const { approval } of asked) assert.equal(engine.engine.approvals.get(approval.id).decidedBy, 'me')
  }
  assert.equal(ids.size, 4)
})

test('a question that cannot be understood is refused', async (t) => {
  const engine = await engineWith(t)
  const sessionId = await sessionOf(engine)
  assert.match(await say(engine, sessionId, permission({ title: 'x' })), /toolCallId is missing/)
  const long = { toolCallId: 'l', kind: 'execute', title: 'x', rawInput: { command: 'x'.repeat(1e6) } }
  assert.match(await say(engine, sessionId, permission(long)), /too long/)
})

test('where there is more than one yes, a human may name it; where there is none, it is said', async (t) => {
  const engine = await engineWith(t)
  const sessionId = await sessionOf(engine, { mode: 'ask' })
  const two = [...OPTIONS, { optionId: 'other', kind: 'allow_once', name: 'Another way' }]
  const question = (options: object[]) =>
    permission({ toolCallId: 'q', kind: 'other', title: 'x' }, { options })
  const first = await answering(engine, sessionId, question(two))
  assert.match(first.said, /"optionId":"yes"/)
  assert.deepEqual(notices(first.events), ['several_yes'])
  const named = { behavior: 'allow', answers: { option: 'Another way' } } as const
  assert.match((await answering(engine, sessionId, question(two), named)).said, /"optionId":"other"/)
  const none = await answering(engine, sessionId, question([{ optionId: 'go', kind: 'proceed', name: 'Go' }]))
  assert.deepEqual(notices(none.events), ['no_yes'])
})

test('a command in another environment is another command: no rule for the bare one lets it pass', async (t) => {
  const engine = await engineWith(t)
  const rules = { allow: ['Bash(true)'], deny: [], acceptEdits: false, skipUntil: null }
  const sessionId = await sessionOf(engine, { mode: 'ask', rules })
  const bare = await answering(engine, sessionId, run('true'))
  assert.deepEqual(
    bare.asked.map(({ open }) => open),
    [false],
  )
  const env = [{ name: 'PATH', value: '/tmp/else where' }]
  const other = await answering(engine, sessionId, run('true', { env }))
  assert.deepEqual(
    other.asked.map(({ open, approval }) => [open, (approval.input as { command: string }).command]),
    [[true, "PATH='/tmp/else where' true"]],
  )
})
