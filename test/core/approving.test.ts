import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Approval, Decision } from '../../src/core/approval.ts'
import * as approving from '../../src/core/approving.ts'
import type { Surroundings } from '../../src/core/approving.ts'
import * as decide from '../../src/core/decide.ts'
import type { AgentOutput, EventBody, EventOf } from '../../src/core/event.ts'
import { FOR_EVER, NO_RULES, type Rules } from '../../src/core/rule.ts'
import { dueAt, openApprovals, statusOf, type Session } from '../../src/core/session.ts'
import { NO_USAGE } from '../../src/core/usage.ts'
import { after, aQuestion, AROUND, aSession, running } from '../support/session.ts'

const FROM_OUTSIDE = { external: true }
const ALLOW: Decision = { behavior: 'allow' }
const git = aQuestion('a', { input: { command: 'git status' } })
const exit = { code: 1, signal: null, stderr: '', expected: false }
const types = (bodies: EventBody[]): string[] => bodies.map((body) => body.type)
const rules = (patch: Partial<Rules>): Rules => ({ ...NO_RULES, ...patch })
const around = (patch: Partial<Surroundings>): Surroundings => ({ ...AROUND, ...patch })
const openIds = (state: Session): string[] => openApprovals(state).map(({ id }) => id)
const asks = (approval: Approval): AgentOutput => ({ type: 'approval.asked', approval })

/** The request, and who has answered it at once. */
function asked(
  state: Session,
  approval: Approval,
  surroundings: Surroundings = AROUND,
  how?: { external: boolean; timeoutMs?: number | null },
): { request: EventOf<'approval.requested'>; answer: string } {
  const [request, resolved] = approving.ask(state, approval, surroundings, how)
  assert.equal(request?.type, 'approval.requested')
  const answer =
    resolved?.type === 'approval.resolved' ? `${resolved.decision.behavior} by ${resolved.by}` : 'open'
  assert.equal(request.open, answer === 'open', 'the request itself says whether anybody is asked')
  return { request, answer }
}

function withQuestions(state: Session, ids: string[], patch: Partial<Approval> = {}): Session {
  const ask = (now: Session, id: string): Session =>
    after(now, approving.ask(now, aQuestion(id, patch), AROUND, FROM_OUTSIDE))
  return ids.reduce(ask, state)
}

test('status follows from facts: two open approvals, one answered, and it still waits', () => {
  let state = running()
  for (const id of ['a', 'b']) state = after(state, decide.absorb(state, asks(aQuestion(id)), AROUND))
  assert.equal(statusOf(state), 'waiting')
  state = after(state, approving.decideApproval(state, 's1.1', ALLOW, 'me', AROUND))
  assert.equal(statusOf(state), 'waiting')
  state = after(
    state,
    approving.decideApproval(state, 's1.2', { behavior: 'deny', comment: 'no' }, 'me', AROUND),
  )
  assert.equal(statusOf(state), 'running')
  assert.throws(() => approving.decideApproval(state, 's1.2', ALLOW, 'me', AROUND), {
    code: 'approval_resolved',
  })
})

test('the same request read twice is one approval', () => {
  const state = running()
  const once = after(state, decide.absorb(state, asks(aQuestion('a')), AROUND))
  assert.deepEqual(decide.absorb(once, asks(aQuestion('a')), AROUND), [])
})

test('a name that is used again is another question, once the first has its answer', () => {
  let state = running({ mode: 'auto' })
  state = after(state, decide.absorb(state, asks(aQuestion('x', { requestId: '7' })), AROUND))
  state = after(state, decide.absorb(state, asks(aQuestion('x', { requestId: '7' })), AROUND))
  assert.deepEqual(
    state.approvals.map(({ id }) => id),
    ['s1.1', 's1.2'],
  )
  const [other] = decide.absorb(running({ id: 's2' }), asks(aQuestion('x', { requestId: '7' })), AROUND)
  assert.equal(other?.type === 'approval.requested' && other.approval.id, 's2.1')
})

test('a yes covers the question that follows from it, in the same turn, unless its name is used again', () => {
  const question = aQuestion('a', { requestId: '1' })
  const next = aQuestion('b', { requestId: '2', covers: '1' })
  let state = after(running(), decide.absorb(running(), asks(question), AROUND))
  assert.equal(asked(state, next).answer, 'open', 'nobody has said yes yet')
  state = after(state, approving.decideApproval(state, 's1.1', ALLOW, 'me', AROUND))
  assert.equal(asked(state, next).answer, 'allow by approval')
  assert.equal(asked({ ...state, mode: 'plan' }, next).answer, 'deny by mode:plan')
  assert.equal(asked({ ...state, rules: rules({ deny: ['Bash'] }) }, next).answer, 'deny by rule')
  const reused = after(state, decide.absorb(state, asks(question), AROUND))
  assert.equal(asked(reused, next).answer, 'open')
  const later = after(state, [
    { type: 'turn.completed', turnId: 't1', usage: NO_USAGE, text: null },
    { type: 'turn.started', turnId: 't2' },
  ])
  assert.equal(asked(later, next).answer, 'open')
})

test('more questions of an agent than anybody can read are refused', () => {
  let state = running()
  for (let count = 0; count < 100; count++)
    state = after(state, decide.absorb(state, asks(aQuestion(`${count}`)), AROUND))
  assert.equal(asked(state, aQuestion('more')).answer, 'deny by corral')
})

test('what is asked after an interrupt is refused, what was open before is cancelled', () => {
  const state = withQuestions(running(), ['a'])
  const events = decide.interrupt(state, false)
  assert.deepEqual(types(events), ['approval.resolved', 'turn.interrupting'])
  const stopping = after(state, events)
  assert.equal(asked(stopping, aQuestion('b')).answer, 'deny by interrupt')
  assert.equal(asked({ ...stopping, mode: 'auto' }, aQuestion('b')).answer, 'deny by interrupt')
  assert.deepEqual(decide.interrupt(stopping, false), [], 'a second interrupt changes nothing')
})

test('mode and rules answer at once: a denial wins, edits and patterns pass, a time ends, plan mode is read-only', () => {
  const answer = (
    patch: Partial<Rules>,
    approval: Approval,
    mode: Session['mode'] = 'ask',
    now = 0,
  ): string => asked(running({ mode, rules: rules(patch) }), approval, around({ now })).answer
  const command = (text: string): Approval => aQuestion('a', { input: { command: text } })
  const write = aQuestion('a', { tool: 'Write', edits: true })
  assert.equal(answer({}, git), 'open')
  assert.equal(answer({}, git, 'auto'), 'allow by mode:auto')
  assert.equal(answer({}, git, 'plan'), 'deny by mode:plan')
  assert.equal(answer({ allow: ['Bash(git *)'] }, git), 'allow by rule')
  assert.equal(answer({ allow: ['Bash(git *)'] }, command('rm git ')), 'open')
  assert.equal(answer({ allow: ['Bash'], deny: ['Bash(git push*)'] }, command('git push -f')), 'deny by rule')
  assert.equal(answer({ deny: ['Bash'] }, git, 'auto'), 'deny by rule')
  assert.equal(answer({ deny: ['Bash'], skipUntil: 100 }, git), 'deny by rule')
  assert.equal(answer({ acceptEdits: true }, write), 'allow by rule')
  assert.equal(answer({ acceptEdits: true }, git), 'open')
  assert.equal(answer({ skipUntil: 100 }, git, 'ask', 99), 'allow by rule')
  assert.equal(answer({ skipUntil: 100 }, git, 'ask', 100), 'open')
  assert.equal(answer({ allow: ['*'] }, git, 'plan'), 'deny by mode:plan')
  assert.equal(
    answer({ allow: ['mcp__*__read'] }, aQuestion('a', { tool: 'mcp__files__read' })),
    'allow by rule',
  )
})

test('a question is for the human, whatever mode and rules say; a plan passes in auto, or when all is skipped', () => {
  const state = running({ mode: 'auto', rules: rules({ allow: ['*'], deny: ['Bash'] }) })
  const skipping = { ...state, rules: { ...state.rules, skipUntil: FOR_EVER } }
  assert.equal(asked(skipping, aQuestion('a', { kind: 'question' })).answer, 'open')
  const plan = aQuestion('a', { kind: 'plan' })
  assert.equal(asked(state, plan).answer, 'allow by mode:auto')
  for (const mode of ['ask', 'code', 'plan'] as const) {
    assert.equal(asked({ ...state, mode }, plan).answer, 'open')
    assert.equal(asked({ ...skipping, mode }, plan).answer, 'allow by rule')
  }
})

test('a plan that the agent has entered by itself passes where all passes, and nowhere else', () => {
  const plan = aQuestion('a', { kind: 'plan' })
  const entered = (modeBeforePlan: Session['modeBeforePlan']) => running({ mode: 'plan', modeBeforePlan })
  assert.equal(asked(entered('auto'), plan).answer, 'allow by mode:auto')
  assert.equal(asked(entered('auto'), git).answer, 'deny by mode:plan', 'until then it is read-only')
  for (const mode of ['code', 'ask', null] as const) assert.equal(asked(entered(mode), plan).answer, 'open')
})

test('where nobody can answer, a question is answered at once, and nothing else is', () => {
  const state = running({ mode: 'ask', settings: { questions: false } })
  const question = aQuestion('a', { kind: 'question' })
  assert.equal(asked(state, question).answer, 'deny by corral')
  assert.equal(asked({ ...state, mode: 'auto' }, question).answer, 'deny by corral')
  const [, resolved] = approving.ask(state, question, AROUND)
  assert.ok(resolved?.type === 'approval.resolved' && resolved.decision.behavior === 'deny')
  assert.match(
    resolved.decision.comment,
    /Nobody can answer .* Decide by yourself, or ask in your final message/,
  )
  assert.equal(
    asked(state, question, AROUND, FROM_OUTSIDE).answer,
    'open',
    'who asks from outside is not the agent',
  )
  for (const kind of ['tool', 'plan'] as const)
    assert.equal(asked(state, aQuestion('a', { kind })).answer, 'open')
})

test('in code mode an edit passes where the agent asks about it all the same', () => {
  const state = running({ mode: 'code' })
  assert.equal(asked(state, aQuestion('a', { tool: 'edit', edits: true })).answer, 'allow by mode:code')
  assert.equal(asked(state, aQuestion('a', { tool: 'bash' })).answer, 'open')
})

test('a denial wins over whatever allows, be it the session or the project that denies', () => {
  const answer = (session: Partial<Rules>, ...projects: Partial<Rules>[]): string =>
    asked(running({ rules: rules(session) }), git, around({ directoryRules: projects.map(rules) })).answer
  assert.equal(answer({}, { allow: ['Bash'] }), 'allow by rule')
  assert.equal(answer({}, { skipUntil: 1 }), 'allow by rule')
  assert.equal(answer({ deny: ['Bash'] }, { allow: ['Bash'] }), 'deny by rule')
  assert.equal(answer({ allow: ['Bash'] }, { deny: ['Bash(git *)'] }), 'deny by rule')
  assert.equal(answer({}, { allow: ['*'] }, { deny: ['Bash'] }), 'deny by rule')
  assert.equal(answer({ skipUntil: 1 }, { deny: ['Bash'] }), 'deny by rule')
})

test('how long it waits: the question says, or the session, or the configuration, or nobody', () => {
  const timeoutAt = (perQuestion?: number | null, perSession?: number, otherwise: number | null = null) => {
    const state = running({ settings: perSession === undefined ? {} : { approvalTimeoutMs: perSession } })
    const how = { external: true, ...(perQuestion !== undefined && { timeoutMs: perQuestion }) }
    return asked(state, git, around({ now: 1000, approvalTimeoutMs: otherwise }), how).request.timeoutAt
  }
  assert.equal(timeoutAt(), null)
  assert.equal(timeoutAt(undefined, undefined, 5), 1005)
  assert.equal(timeoutAt(undefined, 7, 5), 1007)
  assert.equal(timeoutAt(9, 7, 5), 1009)
  assert.equal(timeoutAt(null, 7, 5), null, 'a question may wait for ever')
  assert.equal(timeoutAt(0, 7, 5), 1000, 'or not at all')
  const settled = asked(running({ mode: 'auto' }), git, around({ approvalTimeoutMs: 5 })).request
  assert.equal(settled.timeoutAt, null, 'what is answered does not fall due')
})

test('allowing for the session makes a rule, which answers what else is open and matches', () => {
  let state = withQuestions(running(), ['a', 'b'], { input: { command: 'ls' } })
  state = withQuestions(state, ['c'], { input: { command: 'rm x' } })
  const events = approving.decideApproval(state, 'a', { ...ALLOW, forSession: true }, 'me', AROUND)
  assert.deepEqual(types(events), ['approval.resolved', 'session.changed', 'approval.resolved'])
  state = after(state, events)
  assert.deepEqual(state.rules.allow, ['Bash(ls)'])
  assert.deepEqual(openIds(state), ['c'])
  state = after(
    state,
    decide.configure(state, { sessionId: 's1', rules: { skipUntil: 5 } }, around({ now: 1 })),
  )
  assert.deepEqual(openIds(state), [])
})

test('allowing for the project makes its rule along with the decision, answers what else is open, and makes no rule twice', () => {
  const state = withQuestions(running(), ['a', 'b'], { input: { command: 'ls' } })
  const allow = (around: Surroundings) =>
    approving.decideApproval(state, 'a', { ...ALLOW, forDirectory: true }, 'me', around)
  const events = allow(AROUND)
  assert.deepEqual(types(events), ['approval.resolved', 'directory.changed', 'approval.resolved'])
  const rules = { ...NO_RULES, allow: ['Bash(ls)'] }
  const rule = { type: 'directory.changed', path: '/project', rules }
  assert.deepEqual(events[1], rule)
  assert.deepEqual(allow({ ...AROUND, directory: { path: '/project', rules } })[1], rule)
  assert.deepEqual(NO_RULES.allow, [], 'the rules that were given stay as they were')
})

test("a human's own words answer a question or a plan, never a tool", () => {
  const words: Decision = { behavior: 'respond', text: 'the other one' }
  const state = withQuestions(aSession(), ['tool'])
  const refused = { code: 'invalid', data: { field: 'behavior' } }
  assert.throws(() => approving.decideApproval(state, 'tool', words, 'me', AROUND), refused)
  for (const kind of ['question', 'plan'] as const) {
    const events = approving.decideApproval(withQuestions(state, ['q'], { kind }), 'q', words, 'me', AROUND)
    assert.deepEqual(events, [
      { type: 'approval.resolved', approvalId: 'q', decision: words, by: 'me', asked: true },
    ])
  }
})

test('a change of mode or rules settles what is open and leaves the rest to the human', () => {
  const state = withQuestions(withQuestions(aSession(), ['tool']), ['question'], { kind: 'question' })
  const by = (
    command: Omit<Parameters<typeof decide.configure>[1], 'sessionId'>,
    surroundings = AROUND,
  ): string[] =>
    decide
      .configure(state, { sessionId: 's1', ...command }, surroundings)
      .flatMap((event) => (event.type === 'approval.resolved' ? [`${event.approvalId} by ${event.by}`] : []))
  assert.deepEqual(by({ mode: 'auto' }), ['tool by mode:auto'])
  assert.deepEqual(by({ mode: 'code' }), [])
  assert.deepEqual(by({ rules: { deny: ['Bash'] } }), ['tool by rule'])
  assert.deepEqual(by({ rules: { allow: ['Write'] } }), [])
  assert.deepEqual(by({ title: 'x' }), [])
})

test('what falls due: questions whose time is up, then nothing; a time of skipping ends once', () => {
  const ask = (now: Session, id: string, timeoutMs: number | null): Session =>
    after(now, approving.ask(now, aQuestion(id, { kind: 'question' }), AROUND, { external: true, timeoutMs }))
  let state = ask(ask(ask(aSession(), 'soon', 10), 'later', 20), 'never', null)
  state = { ...state, rules: rules({ skipUntil: 15, allow: ['Bash'] }) }
  assert.equal(dueAt(state), 10)
  assert.deepEqual(approving.expire(state, 9), [])
  const decision = { behavior: 'deny', comment: 'Nobody answered in time.' }
  assert.deepEqual(approving.expire(state, 10), [
    { type: 'approval.resolved', approvalId: 'soon', decision, by: 'timeout', asked: true },
  ])
  assert.deepEqual(types(approving.expire(state, 15)), ['approval.resolved', 'session.changed'])
  const late = approving.expire(state, 20)
  assert.deepEqual(types(late), ['approval.resolved', 'approval.resolved', 'session.changed'])
  assert.deepEqual(late[2], {
    type: 'session.changed',
    rules: rules({ allow: ['Bash'] }),
    reason: 'expired',
  })
  state = after(state, late)
  assert.deepEqual(openIds(state), ['never'])
  assert.equal(dueAt(state), null)
  assert.deepEqual(approving.expire(state, 1_000_000), [])
})

test('what lasts for ever, what is answered, and what is gone never falls due', () => {
  const asked = after(running(), approving.ask(running(), git, around({ approvalTimeoutMs: 5 })))
  assert.equal(dueAt(asked), 5)
  const answered = after(asked, approving.decideApproval(asked, 'a', ALLOW, 'me', AROUND))
  assert.equal(dueAt(answered), null, 'also while the answer is on its way to the agent')
  assert.deepEqual(approving.expire(answered, 5), [])
  assert.equal(dueAt(aSession({ rules: rules({ skipUntil: FOR_EVER }) })), null)
  assert.equal(dueAt(aSession({ rules: rules({ skipUntil: 5 }), destroyed: true })), null)
})

test('whoever asked can withdraw what is open, and nothing else', () => {
  const state = withQuestions(aSession(), ['a', 'b'])
  const events = approving.withdraw(state, 'a', 'gave up', 'me')
  const decision = { behavior: 'cancelled', reason: 'gave up' }
  assert.deepEqual(events, [{ type: 'approval.resolved', approvalId: 'a', decision, by: 'me', asked: true }])
  const later = after(state, events)
  assert.equal(statusOf(later), 'waiting', 'the other one is still open')
  assert.deepEqual(approving.withdraw(later, 'a', 'gave up', 'me'), [])
  const answered = after(running(), approving.ask(running(), aQuestion('x'), AROUND))
  const decided = after(answered, approving.decideApproval(answered, 'x', ALLOW, 'me', AROUND))
  assert.deepEqual(approving.withdraw(decided, 'x', 'gave up', 'me'), [], 'what was decided stays')
})

test('the end of a turn takes along what was asked during it, and an interrupt everything', () => {
  const before = withQuestions(aSession(), ['outside'])
  const started = after(before, [
    ...decide.send(before, 't1', { sessionId: 's1', input: [] }, 10),
    { type: 'turn.accepted', turnId: 't1' },
  ])
  const during = withQuestions(started, ['inside'])
  const state = after(during, approving.ask(during, aQuestion('own'), AROUND))
  const end: AgentOutput = {
    type: 'turn.ended',
    outcome: 'completed',
    usage: NO_USAGE,
    error: null,
    text: null,
  }
  const left = (events: EventBody[]): string[] => {
    const closed = events.flatMap((e) => (e.type === 'approval.resolved' ? [e.approvalId] : []))
    const open = openIds(after(state, events))
    assert.deepEqual(
      [...open, ...closed].toSorted(),
      ['inside', 'outside', 'own'],
      'none is lost without a word',
    )
    return open
  }
  assert.deepEqual(left(decide.absorb(state, end, AROUND)), ['outside'])
  assert.deepEqual(left(decide.exited(state, 'r1', exit, 'Agent')), ['outside'])
  assert.deepEqual(left(decide.interrupt(state, false)), [])
  assert.deepEqual(left(decide.destroy(state)), [])
})

test('an agent that exits between turns leaves what was asked from outside alone', () => {
  const idle = after(aSession(), [
    { type: 'agent.started', run: { id: 'r1', pid: 1, startTime: '1', bootId: 'b' }, resumed: false },
  ])
  const state = withQuestions(idle, ['outside'])
  const events = decide.exited(state, 'r1', { ...exit, expected: true }, 'Agent')
  assert.deepEqual(types(events), ['agent.exited'])
  assert.equal(statusOf(after(state, events)), 'waiting')
})
